"""Decides which requests are answered: only GET, from our pages on this machine, with the token.

A page on any other site can send requests to a loopback port, and by DNS rebinding can even
read the responses. So every request must name us in `Host`, must not come from another origin, and
must carry the token, which is random for each start. Every response forbids foreign scripts,
framing by other sites, caching and referrers.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "weft-{port}"
MAX_PATH_CHARS = 4096
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)
FRAME_POLICY = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src data:; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'self'; sandbox allow-same-origin"
)
"""For a search's pages: styles are allowed, scripts are not."""
ALWAYS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@dataclass(frozen=True, slots=True)
class Gate:
    """What a request must have: one of our names in `Host`, and the token."""

    port: int
    token: str

    @property
    def hosts(self) -> tuple[str, ...]:
        """The permitted values of `Host`."""
        return tuple(f"{name}:{self.port}" for name in ("127.0.0.1", "localhost"))

    @property
    def cookie(self) -> str:
        """Name of the cookie, per port: browsers share cookies between the ports of a host."""
        return COOKIE.format(port=self.port)

    def refuse(self, request: Request) -> Response | None:
        """Return the response to a request that goes no further, or None."""
        if request.method != "GET":
            return PlainTextResponse("GET only\n", 405, {"allow": "GET"})
        headers = request.headers
        if not _is_one_of(headers.getlist("host"), self.hosts, needed=True):
            return PlainTextResponse("this is not the host you asked for\n", 403)
        origins = tuple(f"http://{host}" for host in self.hosts)
        if not _is_one_of(headers.getlist("origin"), origins) or _is_foreign(headers):
            return PlainTextResponse("not from another site\n", 403)
        path, query = request.scope["path"], request.scope["query_string"]
        if len(path) > MAX_PATH_CHARS or not query.isascii():
            return PlainTextResponse("no such page\n", 404)
        return self._ask_token(request)

    def _ask_token(self, request: Request) -> Response | None:
        values = request.query_params.getlist("token")
        if values:
            return self._let_in(request) if self._fits(values[-1]) else _no_token()
        return None if self._fits(request.cookies.get(self.cookie, "")) else _no_token()

    def _let_in(self, request: Request) -> Response:
        """Redirect to the URL without the token, and set the token as a cookie."""
        pairs = [(k, v) for k, v in request.query_params.multi_items() if k != "token"]
        query = f"?{urlencode(pairs)}" if pairs else ""
        path = "/" + quote(request.scope["path"].lstrip("/"))  # `//host` would lead elsewhere
        response = RedirectResponse(f"{path}{query}", 303)
        response.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", path="/")
        return response

    def _fits(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode())


def _is_one_of(values: list[str], allowed: Iterable[str], *, needed: bool = False) -> bool:
    if not values:
        return not needed
    return len(values) == 1 and values[0].lower() in allowed


def _is_foreign(headers: Headers) -> bool:
    """Whether a browser reports that another site requests anything but a top-level page."""
    if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
        return False
    return headers.get("sec-fetch-dest") != "document"


def _no_token() -> Response:
    return PlainTextResponse("open the address that weft serve printed\n", 401)


class Guard:
    """ASGI middleware: asks the gate first, and adds the policies to every response."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self.app = app
        self.gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            answer = self.gate.refuse(Request(scope)) or self.app
            await answer(scope, receive, _with_policies(send))
        else:
            await send({"type": "websocket.close", "code": 1008})


def _with_policies(send: Send) -> Send:
    async def send_guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in ALWAYS.items():
                headers[name] = value
            headers.setdefault("content-security-policy", PAGE_POLICY)
        await send(message)

    return send_guarded
