"""F19: without the token, from elsewhere, or by a method other than GET, nothing is served."""

from __future__ import annotations

import re
import socket
from html.parser import HTMLParser

import psutil
import pytest

from tests.inspect.runs import contents
from tests.inspect.serve.conftest import Server

pytestmark = pytest.mark.xdist_group("report")
ADDRESSES = (
    "/", "/updates", "/compare?runs={id},{id}", "/compare/updates?runs={id},{id}", "/run/{id}",
    "/run/{id}/updates", "/run/{id}/tasks", "/run/{id}/ledger", "/run/{id}/record",
    "/run/{id}/progress", "/run/{id}/verdict", "/run/{id}/pages", "/run/{id}/page/0",
    "/run/{id}/totals", "/run/{id}/timeline", "/run/{id}/events", "/run/{id}/request",
    "/static/kit.js", "/static/report.css", "/nowhere",
)  # fmt: skip
NAMES = re.compile("naps|hopeless|weave|many")
TRAVERSALS = (
    "/static/../../../../etc/passwd", "/static/..%2f..%2f..%2fetc/passwd",
    "/static/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/run/../../etc/passwd",
    "/run/..%2fnotes", "/run/notes/tasks", "/run/naps", "/run/%00", "/run/naps%00/tasks",
    "/../notes/secret.txt", "/notes/secret.txt", "/run/{id}/../../notes/secret.txt",
    "/run/{id}/page/-1", "/run/{id}/page/99999999999999999999", "/static/", "/static",
    "/static/run.html", "/static/templates/report.html", "/run/{id}/",
    "http://127.0.0.1/notes/secret.txt", "/compare?runs=../notes,{id}", "/%2e%2e%2f",
    "/run/" + "a" * 9000,
)  # fmt: skip


@pytest.fixture
def run(server: Server) -> str:
    return server.id_of("naps")


@pytest.mark.parametrize("address", ADDRESSES)
def test_address_without_the_token_gives_nothing(server: Server, run: str, address: str) -> None:
    path = address.format(id=run)
    wrong = server.token[:-1] + ("a" if server.token[-1] != "a" else "b")
    more = "&" if "?" in path else "?"
    tries = [
        server.ask(path),
        server.ask(f"{path}{more}token={wrong}"),
        server.ask(f"{path}{more}token="),
        server.ask(path, Cookie=f"weft-{server.port}={wrong}"),
        server.ask(path, Cookie=f"weft-1={server.token}"),
        server.ask(path, Authorization=f"Bearer {wrong}"),
    ]
    assert [answer.status for answer in tries] == [401] * len(tries)
    assert not any(NAMES.search(answer.body) for answer in tries)
    assert not any("set-cookie" in answer.headers for answer in tries)


def test_wrong_token_beside_a_good_cookie_is_refused(server: Server) -> None:
    assert server.get("/?token=wrong").status == 401
    assert server.get("/?token=%ff%00%c3").status == 401


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:{port}.evil.example", "",
     "localhost", "127.0.0.1:1", "[::1]:{port}", "0.0.0.0:{port}", "127.0.0.1:{port}@evil"],
)  # fmt: skip
def test_foreign_host_gives_nothing(server: Server, run: str, address: str, host: str) -> None:
    path, name = address.format(id=run), host.format(port=server.port)
    for answer in (server.get(path, Host=name), server.ask(f"/?token={server.token}", Host=name)):
        assert answer.status in (400, 403)
        assert not NAMES.search(answer.body)
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1", "http://127.0.0.1:1",
     "https://127.0.0.1:{port}", "http://127.0.0.1:{port}.evil.example", "file://"],
)  # fmt: skip
def test_foreign_origin_gives_nothing(server: Server, run: str, origin: str) -> None:
    for path in ("/", f"/run/{run}/tasks", "/updates"):
        answer = server.get(path, Origin=origin.format(port=server.port))
        assert answer.status == 403
        assert not NAMES.search(answer.body)
        assert "access-control-allow-origin" not in answer.headers


def test_own_origin_and_names_are_let_in(server: Server) -> None:
    for host in (f"127.0.0.1:{server.port}", f"localhost:{server.port}"):
        assert server.get("/", Host=host).status == 200
        assert server.get("/", Host=host, Origin=f"http://{host}").status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_request_of_another_site_gives_nothing(server: Server, site: str) -> None:
    for dest in ("empty", "image", "script", "iframe", ""):
        answer = server.get("/", Sec_Fetch_Site=site, Sec_Fetch_Dest=dest)
        assert answer.status == 403
    assert server.get("/", Sec_Fetch_Site=site, Sec_Fetch_Dest="document").status == 200


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "BREW"]
)
def test_other_methods_than_get_are_refused(server: Server, run: str, method: str) -> None:
    for path in ("/", f"/run/{run}", f"/run/{run}/tasks", f"/?token={server.token}", "/nowhere"):
        answer = server.ask(path, method, Cookie=server.cookie)
        assert answer.status == 405, (method, path)
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("path", TRAVERSALS)
def test_traversal_finds_nothing(server: Server, run: str, path: str) -> None:
    answer = server.get(path.format(id=run))
    assert answer.status in (400, 404)
    assert "secret" not in answer.body
    assert "root:" not in answer.body


def test_link_out_of_the_folder_is_not_followed(server: Server) -> None:
    (server.root / "out").symlink_to(server.root / "naps")
    try:
        assert '">out<' not in server.get("/").body
    finally:
        (server.root / "out").unlink()


def test_token_moves_from_the_address_into_a_cookie(server: Server) -> None:
    answer = server.ask(f"/run/x?a=1&token={server.token}&b=%2F")
    assert (answer.status, answer.headers["location"]) == (303, "/run/x?a=1&b=%2F")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert server.ask(f"//evil.example/?token={server.token}").headers["location"][:2] != "//"


class _Inline(HTMLParser):
    """Collects everything in a page that a strict policy would have to allow."""

    def __init__(self) -> None:
        super().__init__()
        self.violations: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        if tag == "script" and not (names.get("src") or "").startswith("/static/"):
            self.violations.append("script")
        self.violations += [n for n in names if n.startswith("on") or n == "style"]
        self.violations += [tag] if tag == "style" else []


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_answer_has_the_strict_policy(server: Server, run: str, address: str) -> None:
    answer = server.get(address.format(id=run))
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy
    assert "unsafe-eval" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    if "text/html" in answer.headers.get("content-type", ""):
        page = _Inline()
        page.feed(answer.body)
        assert page.violations == []


def test_framed_page_may_run_nothing(server: Server) -> None:
    from weft.inspect.serve.guard import FRAME_POLICY

    assert "script-src" not in FRAME_POLICY
    assert "default-src 'none'" in FRAME_POLICY
    assert "sandbox allow-same-origin" in FRAME_POLICY
    assert "allow-scripts" not in FRAME_POLICY


def test_server_listens_on_loopback_only(server: Server) -> None:
    listening = [
        c.laddr
        for c in psutil.Process(server.process.pid).net_connections()
        if c.status == "LISTEN"
    ]
    assert [(place.ip, place.port) for place in listening] == [("127.0.0.1", server.port)]


def test_websocket_is_not_accepted(server: Server, run: str) -> None:
    answer = server.get(
        f"/run/{run}/updates", Upgrade="websocket", Connection="Upgrade",
        Sec_WebSocket_Version="13", Sec_WebSocket_Key="AAAAAAAAAAAAAAAAAAAAAA==",
    )  # fmt: skip
    assert answer.status != 101


def test_garbage_on_the_wire_leaves_the_server_alive(server: Server) -> None:
    for garbage in (b"\x00" * 2000, b"GET\r\n\r\n", b"GET /?\x80 HTTP/1.1\r\n\r\n", b"A" * 70_000):
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as wire:
            wire.sendall(garbage)
    assert server.get("/").status == 200


def test_asking_for_everything_changes_no_file(server: Server, run: str) -> None:
    before = contents(server.root / "naps")
    for address in ADDRESSES:
        server.get(address.format(id=run))
    assert contents(server.root / "naps") == before
