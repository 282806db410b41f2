"""F14, F19: any request gets a known status; without the token nothing leaks."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.inspect.runs import NO_HEADS
from weft.inspect.serve.app import new_app
from weft.inspect.serve.guard import Gate
from weft.inspect.serve.rundirectory import RunDirectory
from weft.inspect.serve.views import Views

pytestmark = pytest.mark.xdist_group("report")
GATE = Gate(4242, "the-token")
OURS = {"host": "127.0.0.1:4242", "cookie": "weft-4242=the-token"}
WORDS = ("run", "static", "compare", "updates", "tasks", "ledger", "page", "..", ".", "%2e%2e",
         "%00", "kit.js", "etc", "passwd", "0", "-1", "totals", "record", "{id}", "")  # fmt: skip
parts = st.one_of(st.sampled_from(WORDS), st.text(max_size=8))
paths = st.lists(parts, max_size=6).map(lambda names: "/" + "/".join(names))
texts = st.text(max_size=30)


def ask(app: Any, path: str, query: str = "", headers: dict[str, str] = OURS) -> tuple[int, bytes]:
    """Send one request directly to the application."""
    scope = {
        "type": "http", "method": "GET", "path": path,
        "query_string": query.encode("latin-1", "replace"),
        "raw_path": quote(path).encode(), "root_path": "", "scheme": "http", "http_version": "1.1",
        "headers": [(k.encode(), v.encode("utf-8", "replace")) for k, v in headers.items()],
        "server": ("127.0.0.1", 4242), "client": ("127.0.0.1", 1),
    }  # fmt: skip
    messages: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)

    with ThreadPoolExecutor(1) as thread:  # the browser of other tests runs a loop in this one
        thread.submit(lambda: asyncio.run(app(scope, receive, send))).result()
    body = b"".join(m.get("body", b"") for m in messages if m["type"] == "http.response.body")
    return messages[0]["status"], body


@pytest.fixture(scope="module")
def app(shelf_folder: Path) -> Any:
    return new_app(RunDirectory(shelf_folder), Views(NO_HEADS), GATE, lambda: True)


@pytest.fixture(scope="module")
def run(shelf_folder: Path) -> str:
    return next(run.id for run in RunDirectory(shelf_folder).runs() if run.name == "naps")


@given(path=paths, query=texts)
@settings(max_examples=150)
def test_any_path_gets_a_known_answer(app: Any, run: str, path: str, query: str) -> None:
    status, body = ask(app, path.replace("{id}", run), query)
    assert status in (200, 401, 404)
    assert b"secret" not in body


@given(path=paths, query=texts, name=st.sampled_from(["host", "cookie", "origin"]), value=texts)
@settings(max_examples=150)
def test_any_headers_without_the_token_get_nothing(
    app: Any, run: str, path: str, query: str, name: str, value: str
) -> None:
    headers = {"host": OURS["host"], name: value}
    status, body = ask(app, path.replace("{id}", run), query, headers)
    assert status in (401, 403, 404)
    assert b"weave" not in body


@given(
    name=st.sampled_from(["tasks", "ledger", "record"]),
    query=st.dictionaries(
        st.sampled_from(["first", "sort", "down", "off", "find", "key", "x"]),
        st.one_of(
            texts, st.integers().map(str), st.sampled_from([":0:1", "/:3:7", "took", "failed"])
        ),
    ),
)
@settings(max_examples=120)
def test_any_question_about_a_run_is_answered(
    app: Any, run: str, name: str, query: dict[str, str]
) -> None:
    status, body = ask(app, f"/run/{run}/{name}", urlencode(query))
    data = json.loads(body)
    assert status == 200
    assert data is None or isinstance(data, int) or "trouble" not in data
