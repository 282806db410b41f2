"""Assembles the live page: a loopback port, a random token, the server.

Listens on 127.0.0.1 only. What it serves is read-only; `weft.inspect.serve.guard` decides which
requests are answered.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from weft.errors import FileInvalid, StorageFailed, UsageError
from weft.inspect.serve.app import new_app
from weft.inspect.serve.guard import Gate
from weft.inspect.serve.rundirectory import RunDirectory
from weft.inspect.serve.views import Views
from weft.runs.run import real_place
from weft.storage.folder import RunFolder

LOOPBACK = "127.0.0.1"
BACKLOG = 128
MAX_PORT = 65_535


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where the page is served; the URL contains the token."""

    port: int
    token: str
    root: Path

    @property
    def url(self) -> str:
        """The URL to open."""
        return f"http://{LOOPBACK}:{self.port}/?token={self.token}"


class _Server(uvicorn.Server):
    """A server that reports when it is ready for requests and signals."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening, then call `on_start`; signals are handled from here on."""
        await super().startup(sockets=sockets)
        self._on_start()


def serve(root: Path, port: int, announce: Callable[[ServerAddress], None]) -> None:
    """Serve the runs below a folder until Ctrl-C; `announce` is called once the server listens.

    Raises FileInvalid if there is no such folder, StorageFailed if the port is taken.
    """
    if not root.is_dir():
        raise FileInvalid(f"{root} is not a folder", hint="give the folder that contains your runs")
    if RunFolder(root).is_run():
        RunFolder(root).require_run()
    listening = _listen(port)
    address = ServerAddress(listening.getsockname()[1], secrets.token_urlsafe(32), root)
    views = Views(real_place().heads)
    gate = Gate(address.port, address.token)
    app = new_app(RunDirectory(root), views, gate, lambda: server.should_exit)
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="off",
        timeout_graceful_shutdown=2,
    )
    server = _Server(config, lambda: announce(address))
    with listening:
        server.run(sockets=[listening])


def _listen(port: int) -> socket.socket:
    if not 0 <= port <= MAX_PORT:
        raise UsageError(f"--port must be 0 to {MAX_PORT}, not {port}")
    listening = socket.socket()
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((LOOPBACK, port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        reason = error.strerror or error
        raise StorageFailed(f"port {port}: {reason}", hint="choose another --port") from None
    return listening
