"""Asking a model over real HTTP: answers, streams, refusals, retries, and what each costs."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from email.utils import formatdate

import pytest

from tests.searches.tree.fakemodel import USAGE, FakeModel, Reply, served
from weft.searches.tree.agents.endpoint import (
    Endpoint,
    EndpointMisconfigured,
    EndpointUnavailable,
    RequestRefused,
)
from weft.searches.tree.agents.wire import COMPLETE, REFUSED, TRUNCATED, ChatTurn, Usage

PROMPT = [ChatTurn("user", "hi")]
LONG = "Grüße, 你好: " + "word " * 50


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with served(FakeModel()) as running:
        yield running


class Asker:
    """An endpoint of a fake model that records its waits instead of waiting."""

    def __init__(self, model: FakeModel, api: str = "openai", **fields: object) -> None:
        self.waits: list[float] = []
        self.said: list[str] = []
        self.endpoint = Endpoint(
            api, model.url, "m", key=model.key, sleep=self.waits.append, say=self.said.append
        )
        self.endpoint = replace(self.endpoint, **fields)  # type: ignore[arg-type]

    def ask(self) -> str:
        return self.endpoint.ask("be brief", PROMPT).text


@pytest.mark.parametrize("api", ["openai", "anthropic"])
@pytest.mark.parametrize("stream", [True, False])
def test_answer_and_usage_arrive_whole_and_streamed(
    model: FakeModel, api: str, stream: bool
) -> None:
    model.replies = [Reply(LONG)]
    asker = Asker(model, api, stream=stream, body={"temperature": 0.5, "max_tokens": 7})
    answer = asker.endpoint.ask("be brief", PROMPT)
    assert (answer.text, answer.ending, answer.usage) == (LONG, COMPLETE, Usage(*USAGE))
    assert asker.endpoint.spent == Usage(*USAGE)
    assert model.requests[0]["temperature"] == 0.5
    assert model.requests[0]["max_tokens"] == 7
    assert model.requests[0]["messages"][-1] == {"role": "user", "content": "hi"}


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_cut_streams_errors_and_garbage_are_tried_again_and_paid_once_more(
    model: FakeModel, api: str
) -> None:
    model.replies = [
        Reply("overloaded", status=529),
        Reply("oops", status=500),
        Reply(LONG, cut=True),
        Reply(raw=b"<html>"),
        Reply(raw=b'{"choices": [], "content": 5}'),
        Reply(LONG),
    ]
    asker = Asker(model, api)
    assert asker.ask() == LONG
    assert len(asker.waits) == 5
    assert asker.waits == sorted(asker.waits), "the pauses grow"
    cut = Usage(USAGE[0], 1) if api == "anthropic" else Usage()
    assert asker.endpoint.spent == Usage(*USAGE) + cut, "what a cut stream reported is counted"


def test_retry_after_is_waited_for(model: FakeModel) -> None:
    date = formatdate(time.time() + 3600, usegmt=True)
    model.replies = [
        Reply("slow down", 429, {"Retry-After": "17"}),
        Reply("slow down", 429, {"retry-after-ms": "23500"}),
        Reply("slow down", 503, {"Retry-After": date}),
        Reply("ok"),
    ]
    asker = Asker(model)
    assert asker.ask() == "ok"
    assert asker.waits[:2] == [17.0, 23.5]
    assert 3000 < asker.waits[2] <= 3600
    assert "HTTP 429" in asker.said[0]


def test_wait_that_would_pass_the_deadline_ends_at_once(model: FakeModel) -> None:
    model.replies = [Reply("slow down", 429, {"Retry-After": "100"})]
    asker = Asker(model, deadline_s=time.monotonic() + 50)
    with pytest.raises(EndpointUnavailable, match="no time is left to wait 100 s"):
        asker.ask()
    assert asker.waits == []


def test_endless_failure_is_unavailable_and_names_the_tries(model: FakeModel) -> None:
    model.replies = [Reply("down", 503)] * 3
    with pytest.raises(EndpointUnavailable, match=r"HTTP 503 .* 3 tries failed"):
        Asker(model, retries=2).ask()


def test_silent_server_is_given_up_after_the_idle_time(model: FakeModel) -> None:
    model.replies = [Reply(hang=True)]
    with pytest.raises(EndpointUnavailable, match=r"no answer from .* in time"):
        Asker(model, retries=0, idle_timeout_s=0.2).ask()


def test_refused_connection_is_unavailable() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with pytest.raises(EndpointUnavailable, match="no connection"):
        Asker(FakeModel(url=f"http://127.0.0.1:{port}"), retries=0).ask()


def test_wrong_key_and_address_are_setup_and_the_key_is_not_repeated(model: FakeModel) -> None:
    with pytest.raises(EndpointMisconfigured, match=r"HTTP 401 .*bad key \[key\]") as caught:
        Asker(model, key="another-secret").ask()
    assert "another-secret" not in str(caught.value)
    model.replies = [
        Reply("no such model", 404),
        Reply("moved", 302, {"Location": "http://example.com/"}),
        Reply("no money insufficient_quota", 429),
    ]
    for _ in range(3):
        with pytest.raises(EndpointMisconfigured):
            Asker(model).ask()
    model.replies = [Reply("context too long", 400)]
    with pytest.raises(RequestRefused, match="context too long"):
        Asker(model).ask()


@pytest.mark.parametrize(
    ("api", "ending", "meaning"),
    [("openai", "length", TRUNCATED), ("anthropic", "max_tokens", TRUNCATED),
     ("openai", "content_filter", REFUSED), ("anthropic", "refusal", REFUSED)],
)  # fmt: skip
def test_truncated_and_refused_answers_say_so(
    model: FakeModel, api: str, ending: str, meaning: str
) -> None:
    model.replies = [Reply("half", ending=ending)]
    assert Asker(model, api).endpoint.ask("", PROMPT).ending == meaning
