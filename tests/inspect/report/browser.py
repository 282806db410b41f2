"""A real browser, driven over a pipe: what the page logs, what it shows, how it is laid out.

    chromium-headless-shell --remote-debugging-pipe
        fd 3: our commands, fd 4: its answers and events

Messages are JSON followed by a NUL (Chrome DevTools Protocol).
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
# The browser expects its pipes at 3 and 4; moved away first, so that neither overwrites another.
PLACE_PIPES = (
    "import fcntl, os, sys\n"
    "ends = [fcntl.fcntl(int(n), fcntl.F_DUPFD, 20) for n in sys.argv[1:3]]\n"
    "os.dup2(ends[0], 3), os.dup2(ends[1], 4)\n"
    "os.execv(sys.argv[3], sys.argv[3:])\n"
)


@dataclass
class Browser:
    """One browser process, in which pages are opened one after another."""

    write: int
    read: int
    events: list[dict[str, Any]] = field(default_factory=list)
    _buffer: bytes = b""
    _last: int = 0

    def call(self, method: str, session: str | None = None, **params: Any) -> Any:
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method: str) -> None:
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self._next())

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            chunk = os.read(self.read, 1 << 16)
            assert chunk, "the browser is gone"
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    @contextmanager
    def open(
        self, path: Path, *, width: int = 1400, height: int = 1000, script: bool = True
    ) -> Iterator[Tab]:
        self.events.clear()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        tab = Tab(self, attached["sessionId"])
        for domain in ("Page", "Runtime", "Log"):
            tab.call(f"{domain}.enable")
        phone = width < 600
        tab.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=phone,
        )
        tab.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.events.clear()
        answer = tab.call("Page.navigate", url=path.resolve().as_uri())
        assert "errorText" not in answer, answer
        self.wait_for("Page.loadEventFired")
        yield tab
        self.call("Target.closeTarget", targetId=target)


@dataclass
class Tab:
    """An open page."""

    browser: Browser
    session: str

    def call(self, method: str, **params: Any) -> Any:
        return self.browser.call(method, self.session, **params)

    def js(self, expression: str) -> Any:
        """The value of an expression inside the page."""
        reply = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in reply, reply
        return reply["result"].get("value")

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def complaints(self) -> list[str]:
        """Everything the page logged: exceptions, console calls, policy violations."""
        self.js("0")
        kinds = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [json.dumps(e) for e in self.browser.events if e.get("method") in kinds]

    def fetched(self) -> list[str]:
        """Everything the page fetched from a network or disk, except itself."""
        return self.js("performance.getEntriesByType('resource').map(r => r.name)")

    def overflows(self) -> bool:
        """Whether the page is wider than its window."""
        return self.js("document.documentElement.scrollWidth > innerWidth")

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))


@contextmanager
def started(program: str, home: Path) -> Iterator[Browser]:
    """A browser with a fresh profile."""
    (ours_read, its_write), (its_read, ours_write) = os.pipe(), os.pipe()
    words = [program, *FLAGS, f"--user-data-dir={home}", "about:blank"]
    process = subprocess.Popen(
        [sys.executable, "-c", PLACE_PIPES, str(its_read), str(its_write), *words],
        pass_fds=(its_read, its_write),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HOME": str(home)},
    )
    os.close(its_read)
    os.close(its_write)
    try:
        browser = Browser(ours_write, ours_read)
        yield browser
        browser.call("Browser.close")
    finally:
        os.close(ours_write)
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(ours_read)
