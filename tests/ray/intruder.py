"""Another user of the machine: a process that becomes `nobody`, then tries every door.

    python tests/ray/intruder.py < targets.json     →  what it got, as one JSON object

It must be started as root and needs only the standard library. gRPC is written by hand, so that
a call with or without a token is exactly that.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import socket
import stat
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

NOBODY = 65534
CALL_S = 2.0
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RESET, SETTINGS, GOAWAY = 0, 1, 3, 4, 7
END_STREAM, END_HEADERS, ACK = 1, 4, 1
REQUESTS = ("GET /", "GET /metrics", "GET /api/jobs/", "POST /get_runtime_envs_info")


def become_nobody() -> None:
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


# -- paths ------------------------------------------------------------------------------------


def opened(paths: list[str]) -> Iterator[str]:
    """Everything of ours that can be read, written, entered or connected to."""
    for path in paths:
        for name, attempt in (("reads", _read), ("writes", _write), ("connects", _connect)):
            with contextlib.suppress(OSError):
                if attempt(path):
                    yield f"{name} {path}"


def _read(path: str) -> bool:
    mode = Path(path).stat().st_mode
    if stat.S_ISDIR(mode):
        return bool(list(Path(path).iterdir()))
    if stat.S_ISREG(mode):
        with Path(path).open("rb") as file:
            file.read(1)
        return True
    return False


def _write(path: str) -> bool:
    mode = Path(path).stat().st_mode
    if stat.S_ISDIR(mode):
        planted = Path(path, "planted-by-nobody")
        planted.write_text("")
        planted.unlink()
        return True
    if stat.S_ISREG(mode):
        os.close(os.open(path, os.O_WRONLY | os.O_APPEND))
        return True
    return False


def _connect(path: str) -> bool:
    if len(path) > 100:
        return False
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
    return True


# -- ports ------------------------------------------------------------------------------------


def http(host: str, port: int, request: str) -> str:
    """The first line of the response to an HTTP/1.1 request."""
    text = f"{request} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    with socket.create_connection((host, port), CALL_S) as connection:
        connection.sendall(text.encode())
        with contextlib.suppress(OSError):
            return connection.recv(4096).split(b"\r\n", 1)[0].decode("latin-1")
    return ""


def grpc(host: str, port: int, method: str, token: str) -> tuple[bytes, bytes]:
    """Headers and message of the response to a call with an empty request."""
    fields = {":method": "POST", ":scheme": "http", ":path": method, ":authority": "x"}
    fields |= {"content-type": "application/grpc", "te": "trailers", "node_id": "ff" * 28}
    fields |= {"authorization": f"Bearer {token}"} if token else {}
    head = b"".join(_field(name, value) for name, value in fields.items())
    call = _frame(SETTINGS, 0, 0, b"") + _frame(HEADERS, END_HEADERS, 1, head)
    call += _frame(DATA, END_STREAM, 1, struct.pack(">BI", 0, 0))
    headers = message = b""
    with socket.create_connection((host, port), CALL_S) as connection, contextlib.suppress(OSError):
        connection.sendall(PREFACE + call)
        for kind, flags, body in _frames(connection):
            if kind == SETTINGS and not flags & ACK:
                connection.sendall(_frame(SETTINGS, ACK, 0, b""))
            headers += body if kind == HEADERS else b""
            message += body if kind == DATA else b""
            if kind in (RESET, GOAWAY) or (kind in (DATA, HEADERS) and flags & END_STREAM):
                break
    return headers, message


def _field(name: str, value: str) -> bytes:
    """A literal header field without indexing (RFC 7541, 6.2.2), lengths below 127."""
    return b"\0" + b"".join(bytes([len(text)]) + text.encode() for text in (name, value))


def _frame(kind: int, flags: int, stream: int, body: bytes) -> bytes:
    return struct.pack(">I", len(body))[1:] + struct.pack(">BBI", kind, flags, stream) + body


def _frames(there: socket.socket) -> Iterator[tuple[int, int, bytes]]:
    with there.makefile("rb") as file:
        while len(head := file.read(9)) == 9:
            yield head[3], head[4], file.read(int.from_bytes(head[:3], "big"))


def answered(ports: list[tuple[str, int]], methods: list[str], token: str) -> Iterator[str]:
    """Every request and call that a port answered successfully."""
    for host, port in ports:
        for request in REQUESTS:
            if " 2" in (line := http(host, port, request)):
                yield f"{request} at {port}: {line}"
        for method in methods:
            headers, message = grpc(host, port, method, token)
            if message or b"grpc-status\x010" in headers:
                yield f"{method} at {port}"


def main() -> None:
    targets = json.load(sys.stdin)
    codecs.lookup("idna")  # for sockets; user nobody may be unable to read the interpreter's files
    codecs.lookup("latin-1")
    become_nobody()
    report = {
        "user": os.geteuid(),
        "opened": list(opened(targets["paths"])),
        "answered": list(answered(targets["ports"], targets["methods"], targets["token"])),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
