"""`weft serve` as a command: what it prints, what it refuses, how it ends."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.inspect.serve.conftest import COMMAND, Server, start, stop
from tests.support.forked import ForkServer
from tests.support.waiting import HANG_S


def refused(*words: str, cwd: Path) -> tuple[int, str]:
    """Exit code and error line of a command that does not start."""
    result = subprocess.run(
        [*COMMAND, "serve", *words], cwd=cwd, capture_output=True, text=True, timeout=HANG_S
    )
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1, result.stderr
    return result.returncode, result.stderr


def test_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    code, message = refused(cwd=tmp_path)
    assert (code, "runs is not a folder" in message) == (3, True)


def test_port_that_is_taken_or_senseless_is_refused(tmp_path: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        code, message = refused(".", "--port", str(listener.getsockname()[1]), cwd=tmp_path)
    assert (code, "choose another --port" in message) == (75, True)
    assert refused(".", "--port", "70000", cwd=tmp_path)[0] == 2


def test_address_is_the_only_data_that_is_printed(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "serve", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    line = process.stdout.readline()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}\n", line)
    assert "this machine only" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=HANG_S)
    assert (process.returncode, out, err) == (0, "", "")


def test_commands_of_the_page_run(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "serve.md").read_text("utf-8")
    lines = re.findall(r"^weft (serve.*?)\s*(?:#|$)", page, re.MULTILINE)
    assert len(lines) == 3
    for name in ("runs", "RUNS"):
        (tmp_path / name).mkdir()
    for line in lines:
        words = line.replace("8800", "0").split()
        process = subprocess.Popen([*COMMAND, *words, "-q"], cwd=tmp_path, stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=HANG_S)
        assert process.returncode == 0


def test_token_is_new_at_each_start(forks: ForkServer, tmp_path: Path) -> None:
    servers = [start(forks, tmp_path) for _ in range(2)]
    assert servers[0].token != servers[1].token
    first, second = servers
    stranger = Server(second.process, first.url, second.port, tmp_path)
    assert stranger.get("/").status == 401, "the token of one server opens no other"
    assert [stop(server) for server in servers] == [0, 0]


@pytest.mark.parametrize("stopping", [signal.SIGINT, signal.SIGTERM])
def test_server_with_listeners_ends_at_once(
    forks: ForkServer, tmp_path: Path, stopping: signal.Signals
) -> None:
    server = start(forks, tmp_path)
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as wire:
        heads = f"Host: 127.0.0.1:{server.port}\r\nCookie: {server.cookie}"
        wire.sendall(f"GET /updates HTTP/1.1\r\n{heads}\r\n\r\n".encode())
        assert b"200 OK" in wire.recv(4096)
        server.process.send_signal(stopping)
        assert server.process.wait() in (0, -signal.SIGTERM)
    server.process.close()
