"""Query a model over HTTP: time limits, retries with back-off, complete answers and streams.

Responses 408, 409, 425, 429 and 5xx, refused or broken connections and malformed answers are
retried, no sooner than Retry-After allows. No redirect is followed, so the key only goes where the
config says. Reported tokens count even if the request fails later.
"""

from __future__ import annotations

import email.utils
import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.message import Message
from http.client import HTTPResponse
from typing import Any

from weft.searches.tree.agents.wire import WIRES, Body, ChatTurn, Garbled, ModelAnswer, Usage, Wire

MAX_BODY_BYTES = 16 * 2**20
MAX_ERROR_BYTES = 64 * 2**10
CHUNK_BYTES = 64 * 2**10
RETRIED = (408, 409, 425, 429, 500, 502, 503, 504, 529)
SETUP = (401, 402, 403, 404, 405, 407)
"""A wrong key, model or address, with which every request fails."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0
Sleep = Callable[[float], None]


class EndpointUnavailable(Exception):  # noqa: N818 - named by situation
    """The endpoint did not answer within the retries or the time limit: worth another try later."""


class EndpointMisconfigured(Exception):  # noqa: N818 - named by situation
    """Key, model or address are wrong: no request will succeed until that is fixed."""


class RequestRefused(Exception):  # noqa: N818 - named by situation
    """The endpoint refused this particular request, for example because it is too long."""


class _Failed(Exception):  # noqa: N818 - internal
    """A failed try that may be repeated, after the `after_s` seconds that the server asks for."""

    def __init__(self, reason: str, after_s: float = 0.0) -> None:
        super().__init__(reason)
        self.after_s = after_s


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow no redirect: the key is for one address."""


@dataclass(slots=True)
class Endpoint:
    """One model at one address."""

    api: str
    url: str
    """Base URL, without the path of the API, such as `https://api.example.com/v1`."""
    model: str
    key: str = field(default="", repr=False)
    stream: bool = True
    max_output_tokens: int = 8192
    idle_timeout_s: float = 120.0
    """Seconds without a byte after which a try fails."""
    retries: int = 5
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    """Additional fields of every request, such as temperature; None removes a field."""
    deadline_s: float = float("inf")
    """Deadline for an answer, on the monotonic clock."""
    jitter: float = 0.0
    """From 0 to 1: spreads out the retries of concurrent agents."""
    sleep: Sleep = time.sleep
    say: Callable[[str], None] = print
    spent: Usage = field(default_factory=Usage)
    """Tokens of all requests so far."""
    unmetered: int = 0
    """Answers whose usage the server did not report."""

    def ask(self, system: str, turns: Sequence[ChatTurn]) -> ModelAnswer:
        """Return the model's answer.

        Raises EndpointUnavailable, EndpointMisconfigured or RequestRefused.
        """
        wire = WIRES[self.api]()
        body = wire.body(self.model, system, turns, self.max_output_tokens, self.stream)
        body = {k: v for k, v in {**body, **self.body}.items() if v is not None}
        pause_s = FIRST_PAUSE_S
        for remaining in range(self.retries, -1, -1):
            try:
                return self._try(wire, body)
            except _Failed as failure:
                wait_s = max(pause_s * (0.5 + self.jitter / 2), failure.after_s)
                self._check_time(failure, wait_s, remaining)
                self.say(f"{failure}; again in {wait_s:.1f} s, {remaining} left")
                self.sleep(wait_s)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
        raise AssertionError("the last try returns or raises")

    def _check_time(self, failure: _Failed, wait_s: float, remaining: int) -> None:
        if not remaining:
            raise EndpointUnavailable(f"{failure}; {self.retries + 1} tries failed") from None
        if time.monotonic() + wait_s >= self.deadline_s:
            raise EndpointUnavailable(
                f"{failure}; no time is left to wait {wait_s:.0f} s"
            ) from None

    def _try(self, wire: Wire, body: Body) -> ModelAnswer:
        try:
            with self._open(wire, body) as response:
                answer = self._read(wire, response)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refusal(error) from None
        except (Garbled, http.client.HTTPException) as error:
            self.spent += getattr(error, "usage", None) or Usage()
            raise _Failed(f"malformed answer: {error or type(error).__name__}") from None
        except TimeoutError:
            raise _Failed(f"no answer from {self.url} in time") from None
        except OSError as error:
            reason = getattr(error, "reason", None) or error
            raise _Failed(f"no connection to {self.url}: {reason}") from None
        self.spent += answer.usage or Usage()
        self.unmetered += answer.usage is None
        return answer

    def _open(self, wire: Wire, body: Body) -> HTTPResponse:
        headers = {"Content-Type": "application/json", "User-Agent": "weft-agent"}
        headers |= {"Accept": "text/event-stream" if body.get("stream") else "application/json"}
        request = urllib.request.Request(  # noqa: S310 - settings allow http and https only
            self.url.rstrip("/") + wire.path,
            json.dumps(body).encode(),
            {**headers, **wire.headers(self.key), **self.headers},
        )
        seconds = min(self.idle_timeout_s, self.deadline_s - time.monotonic())
        if seconds <= 0:
            raise EndpointUnavailable("no time is left")
        opened: HTTPResponse = urllib.request.build_opener(_NoRedirect).open(
            request, timeout=seconds
        )
        return opened

    # -- answers ------------------------------------------------------------------------------

    def _read(self, wire: Wire, response: HTTPResponse) -> ModelAnswer:
        if "event-stream" in response.headers.get("Content-Type", ""):
            return wire.streamed(_events(self._chunks(response)))
        data = b"".join(self._chunks(response))
        try:
            answer = json.loads(data)
        except ValueError:
            raise Garbled(f"{len(data)} bytes that are not JSON") from None
        if not isinstance(answer, dict):
            raise Garbled("JSON that is not an object")
        return wire.whole(answer)

    def _chunks(self, response: HTTPResponse) -> Iterator[bytes]:
        """Read a body in chunks, within the deadline and the size limit."""
        size = 0
        while chunk := response.read1(CHUNK_BYTES):
            size += len(chunk)
            if size > MAX_BODY_BYTES:
                raise Garbled(f"an answer of more than {MAX_BODY_BYTES:,} bytes")
            if time.monotonic() >= self.deadline_s:
                raise EndpointUnavailable("the answer came too slowly: no time is left")
            yield chunk
        if response.length:
            raise Garbled(f"{response.length} bytes of the answer are missing")

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        """Return the exception that an HTTP error stands for."""
        reason = f"HTTP {error.code} from {self.url}: {self._words(error)}"
        if error.code == 429 and "insufficient_quota" in reason:
            return EndpointMisconfigured(reason)
        if error.code in RETRIED or error.code >= 500:
            return _Failed(reason, retry_after(error.headers))
        setup = error.code in SETUP or 300 <= error.code < 400
        return (EndpointMisconfigured if setup else RequestRefused)(reason)

    def _words(self, error: urllib.error.HTTPError) -> str:
        try:
            text = error.read(MAX_ERROR_BYTES).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException):
            return str(error.reason)
        try:
            table = json.loads(text)["error"]
            words = f"{table['message']} {table.get('type') or ''} {table.get('code') or ''}"
        except (ValueError, KeyError, TypeError, AttributeError):
            words = text or str(error.reason)
        return self.redacted(" ".join(words.split())[:300])

    def redacted(self, text: str) -> str:
        """Return a text without the key, which a server may echo."""
        return text.replace(self.key, "[key]") if self.key else text


def retry_after(headers: Message) -> float:
    """Return the seconds that a server asks to wait; 0 if it does not say."""
    milliseconds, text = headers["retry-after-ms"], headers["retry-after"] or ""
    try:
        return max(0.0, float(milliseconds) / 1000 if milliseconds else float(text))
    except ValueError:
        pass
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return 0.0
    return max(0.0, moment.timestamp() - time.time())  # noqa: TID251 - a date of the server


def _events(chunks: Iterator[bytes]) -> Iterator[Body]:
    """Yield the JSON of server-sent events; raises Garbled."""
    data: list[str] = []
    for line in _lines(chunks):
        if line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))
        elif not line and data:
            text, data = "\n".join(data), []
            if text == "[DONE]":
                return
            yield _event(text)
    if data and "\n".join(data) != "[DONE]":
        yield _event("\n".join(data))


def _event(text: str) -> Body:
    try:
        event = json.loads(text)
    except ValueError:
        raise Garbled(f"an event that is not JSON: {text[:80]!r}") from None
    if not isinstance(event, dict):
        raise Garbled("an event that is not an object")
    return event


def _lines(chunks: Iterator[bytes]) -> Iterator[str]:
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.rstrip(b"\r").decode("utf-8", "replace")
    if rest:
        yield rest.rstrip(b"\r").decode("utf-8", "replace")
