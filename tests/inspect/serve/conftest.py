"""A real server over real runs, and a browser: tests send the requests of users and attackers."""

from __future__ import annotations

import http.client
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

import weft
from tests.support.forked import BegunCommand, ForkServer
from tests.support.pages import tuning, weave
from weft.inspect.serve.rundirectory import RunDirectory

expect.set_options(timeout=60_000)  # for a busy machine; required speeds are measured
COMMAND = (sys.executable, "-m", "weft.main")


@dataclass
class Answer:
    """A response of the server."""

    status: int
    headers: dict[str, str]
    body: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Server:
    """A `weft serve` process."""

    process: BegunCommand
    url: str
    port: int
    root: Path

    @property
    def token(self) -> str:
        return self.url.partition("token=")[2]

    @property
    def cookie(self) -> str:
        return f"weft-{self.port}={self.token}"

    def ask(self, path: str, method: str = "GET", **headers: str) -> Answer:
        """Send one request unchanged: no client normalises the path."""
        all_headers = {"Host": f"127.0.0.1:{self.port}", **headers}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in all_headers.items():
            if value:
                connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        answer = connection.getresponse()
        endless = "text/event-stream" in (answer.getheader("content-type") or "")
        body = b"" if endless else answer.read()
        connection.close()
        headers_got = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, headers_got, body.decode("utf-8", "replace"))

    def get(self, path: str, **headers: str) -> Answer:
        """Send a request with the token."""
        return self.ask(path, **{"Cookie": self.cookie, **headers})

    def id_of(self, name: str) -> str:
        return next(run.id for run in RunDirectory(self.root).runs() if run.name == name)


@pytest.fixture(scope="session")
def shelf_folder(tmp_path_factory: pytest.TempPathFactory, many_run: Path) -> Path:
    """A folder of runs: finished, failed, hostile, large, nested, and a folder that is no run."""
    base = tmp_path_factory.mktemp("directory")
    weft.run(weave.naps(), out=base / "naps", workers=2)
    weft.run(weave.naps(5), out=base / "more" / "naps5", workers=2)
    weft.run(weave.hopeless(), out=base / "hopeless", workers=2)
    weft.run(tuning.tune(), out=base / "tune", workers=1, tags=("nightly",))
    weft.run(weave.hostile(), out=base / "<img src=x onerror=alert(1)>", workers=1)
    many_run.rename(base / "many")
    many_run.symlink_to(base / "many")  # reports of it are still written through its original path
    (base / "notes").mkdir()
    (base / "notes" / "secret.txt").write_text("a secret that is no run")
    return base


def start(forks: ForkServer, root: Path, *words: str) -> Server:
    """Start `weft serve` from a fork; test_command.py covers a cold start."""
    process = forks.begin_aside(("serve", str(root), "--json", *words), root, os.environ)
    announced = json.loads(process.read_line())
    return Server(process, announced["url"], announced["port"], root)


def stop(server: Server) -> int:
    """Stop a server as Ctrl-C would."""
    server.process.send_signal(signal.SIGINT)
    server.process.close()
    assert server.process.returncode is not None
    return server.process.returncode


@pytest.fixture(scope="session")
def server(shelf_folder: Path, forks: ForkServer) -> Iterator[Server]:
    started = start(forks, shelf_folder)
    yield started
    assert stop(started) == 0, "Ctrl-C is how it ends"


@pytest.fixture
def serving(forks: ForkServer) -> Iterator[Callable[[Path], Server]]:
    """Starts private servers."""
    started: list[Server] = []

    def begin(root: Path) -> Server:
        started.append(start(forks, root))
        return started[-1]

    yield begin
    for server in started:
        stop(server)


# -- the browser ----------------------------------------------------------------------------------


@dataclass
class Onlooker:
    """Opens pages and records everything they log."""

    browser: Browser
    contexts: list[BrowserContext] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def open(self, server: Server, path: str = "/", *, width: int = 1400, dark: bool = False):
        """A page opened by following the printed address."""
        context = self.browser.new_context(
            viewport={"width": width, "height": 1000}, color_scheme="dark" if dark else "light"
        )
        self.contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(server.url)
        if path != "/":
            page.goto(f"http://127.0.0.1:{server.port}{path}")
        return page


@pytest.fixture
def onlooker(chromium: Browser) -> Iterator[Onlooker]:
    """Opens pages, none of which may have logged anything by the end of the test."""
    onlooker = Onlooker(chromium)
    yield onlooker
    for context in onlooker.contexts:
        context.close()
    assert onlooker.complaints == []


def has_overflow(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > innerWidth"))
