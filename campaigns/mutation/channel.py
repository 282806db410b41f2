"""The client end of the socket to a process that runs tests: send requests, receive answers."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

KILLED, TIMED_OUT, SURVIVED, UNREACHED = "killed", "timed-out", "survived", "unreached"
TIMES, MORE_S = 6, 8.0
"""Time limit of a test: a multiple of its measured time, plus some seconds."""
START_S = 300.0


class NotStartedError(Exception):
    """The tests did not begin: the file cannot be imported, or its code cannot be exchanged."""


class Channel:
    """Sends and receives lines of JSON over a socket, with a time limit for each answer."""

    def __init__(self, end: socket.socket) -> None:
        self._end, self._rest = end, b""

    def send(self, **words: object) -> None:
        """Send one line."""
        self._end.settimeout(None)
        self._end.sendall(json.dumps(words).encode() + b"\n")

    def receive(self, within_s: float) -> dict[str, Any] | None:
        """Return the next line; None at the end of the stream. Raises TimeoutError."""
        deadline_s = time.monotonic() + within_s
        while b"\n" not in self._rest:
            self._end.settimeout(max(0.001, deadline_s - time.monotonic()))
            try:
                more = self._end.recv(1 << 16)
            except ConnectionResetError:
                return None
            if not more:
                return None
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer


@dataclass(slots=True)
class Progress:
    """The state of one request according to the answers so far."""

    pid: int = 0
    running: str = ""
    is_ready: bool = False
    is_late: bool = False
    has_ended: bool = False

    def follow(self, channel: Channel, seconds: Mapping[str, float]) -> tuple[str, str]:
        """Wait for the outcome; return it with the test that decided it. Raises NotStartedError."""
        within_s = START_S
        while True:
            try:
                answer = channel.receive(within_s) or {"status": 1}
            except TimeoutError:
                self.is_late = True
                return TIMED_OUT, self.running
            if "begins" in answer:
                within_s = MORE_S + TIMES * seconds[answer["begins"]]
            if outcome := self._take(answer):
                return outcome

    def _take(self, answer: dict[str, Any]) -> tuple[str, str] | None:
        """Process one answer; return the outcome if it has one."""
        self.pid = answer.get("pid", self.pid)
        self.running = answer.get("begins", self.running)
        self.is_ready = self.is_ready or "ready" in answer
        if "status" in answer:
            self.has_ended = True
            if not self.is_ready:
                raise NotStartedError
            return KILLED, f"{self.running} (its process ended)"
        if "failed" in answer:
            return KILLED, answer["failed"]
        return (SURVIVED, "") if "survived" in answer else None
