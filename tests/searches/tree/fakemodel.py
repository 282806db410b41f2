"""A fake model server with scripted answers: real HTTP on loopback, both forms of the API."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = (1000, 200)
"""The input and output tokens of every answer."""


@dataclass(frozen=True)
class Reply:
    """The reply to one request."""

    text: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    """Sent in place of an answer."""
    ending: str = ""
    """Why the model stopped early; empty if it finished."""
    cut: bool = False
    """Whether the connection is closed in the middle."""
    hang: bool = False
    """Whether nothing more is sent until the server is closed."""


@dataclass
class FakeModel:
    """Sends `replies` in order, then the `answer` to each prompt; records the requests."""

    replies: list[Reply] = field(default_factory=list)
    answer: Callable[[str], str] = lambda _: "hello"
    key: str = "sk-secret-key-of-the-test"
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""
    closing: threading.Event = field(default_factory=threading.Event)

    def next_reply(self, body: dict[str, Any]) -> Reply:
        self.requests.append(body)
        if self.replies:
            return self.replies.pop(0)
        return Reply(self.answer(body["messages"][-1]["content"]))


class Handler(BaseHTTPRequestHandler):
    model: FakeModel
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers["x-api-key"] or (self.headers["Authorization"] or "")[7:]
        if key != self.model.key:
            message = {"error": {"message": f"bad key {key}", "type": "auth"}}
            self.send(401, json.dumps(message).encode())
            return
        reply = self.model.next_reply(body)
        if reply.hang:
            self.model.closing.wait(60)
        elif reply.status != 200 or reply.raw is not None:
            message = {"error": {"message": reply.text, "type": "fake"}}
            data = json.dumps(message).encode() if reply.raw is None else reply.raw
            self.send(reply.status, data, reply)
        else:
            anthropic = self.path.endswith("/v1/messages")
            write = anthropic_answer if anthropic else openai_answer
            self.send(200, write(reply, bool(body.get("stream"))), reply, body.get("stream"))

    def send(
        self, status: int, data: bytes, reply: Reply | None = None, stream: object = False
    ) -> None:
        reply = reply or Reply()
        self.send_response(status)
        kind = "text/event-stream" if stream else "application/json"
        sizes = {} if stream else {"Content-Length": str(len(data))}
        close = {"Connection": "close"}
        for name, value in {"Content-Type": kind, **sizes, **close, **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if reply.cut else data)
        self.close_connection = True


def openai_answer(reply: Reply, stream: bool) -> bytes:
    ending = reply.ending or "stop"
    usage = {"prompt_tokens": USAGE[0], "completion_tokens": USAGE[1]}
    if not stream:
        choice = {"message": {"content": reply.text}, "finish_reason": ending}
        return json.dumps({"choices": [choice], "usage": usage}).encode()
    deltas = [{"choices": [{"delta": {"content": part}}]} for part in pieces(reply.text)]
    end = {"choices": [{"delta": {}, "finish_reason": ending}]}
    events = [*deltas, end, {"choices": [], "usage": usage}]
    return sse([json.dumps(event) for event in events] + ["[DONE]"])


def anthropic_answer(reply: Reply, stream: bool) -> bytes:
    ending = reply.ending or "end_turn"
    usage = {"input_tokens": USAGE[0] - 100, "cache_read_input_tokens": 100, "output_tokens": 1}
    if not stream:
        content = [{"type": "text", "text": reply.text}]
        full = usage | {"output_tokens": USAGE[1]}
        return json.dumps({"content": content, "stop_reason": ending, "usage": full}).encode()
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {"usage": usage}}]
    events += [
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": part}}
        for part in pieces(reply.text)
    ]
    ending_delta = {"stop_reason": ending}
    events.append(
        {"type": "message_delta", "delta": ending_delta, "usage": {"output_tokens": USAGE[1]}}
    )
    return sse([json.dumps(event) for event in [*events, {"type": "message_stop"}]])


def pieces(text: str) -> list[str]:
    return [text[start : start + 7] for start in range(0, len(text), 7)]


def sse(events: list[str]) -> bytes:
    return b": a comment\r\n\r\n" + "".join(f"data: {event}\r\n\r\n" for event in events).encode()


@contextlib.contextmanager
def served(model: FakeModel) -> Iterator[FakeModel]:
    """Serve a model on a free port of this machine."""
    handler = type("Bound", (Handler,), {"model": model})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    model.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield model
    finally:
        model.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
