"""The formats of requests and answers: the OpenAI-compatible one and Anthropic's.

    system, turns ─► request body            answer, complete or as events ─► ModelAnswer

Both come complete or as a stream of server-sent events. Knows no sockets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any, Protocol

Body = dict[str, Any]
COMPLETE, TRUNCATED, REFUSED = "complete", "truncated", "refused"
ENDINGS = {
    "stop": COMPLETE, "end_turn": COMPLETE, "stop_sequence": COMPLETE,
    "length": TRUNCATED, "max_tokens": TRUNCATED, "model_context_window_exceeded": TRUNCATED,
    "content_filter": REFUSED, "refusal": REFUSED,
}  # fmt: skip
"""Meanings of the reasons for which a model stopped."""


class Garbled(Exception):  # noqa: N818 - an outcome of a request
    """An invalid answer: truncated, malformed, or an error in the middle of a stream."""

    def __init__(self, reason: str, usage: Usage | None = None) -> None:
        super().__init__(reason)
        self.usage = usage
        """Tokens that it cost nevertheless, as far as the server reported them."""


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """One turn of a conversation."""

    role: str
    """`user` or `assistant`."""
    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more requests, as the server counted them."""

    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens
        )


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A model's answer."""

    text: str
    ending: str
    usage: Usage | None
    """None if the server reported none."""


class Wire(Protocol):
    """One format of requests and answers."""

    path: str
    """Path below the base URL."""

    def headers(self, key: str) -> Mapping[str, str]:
        """Return the headers that authorise a request; without a key there may be none."""

    def body(
        self, model: str, system: str, turns: Sequence[ChatTurn], most: int, stream: bool
    ) -> Body:
        """Return a request for at most `most` tokens."""

    def whole(self, answer: Body) -> ModelAnswer:
        """Parse a complete answer; raises Garbled."""

    def streamed(self, events: Iterable[Body]) -> ModelAnswer:
        """Parse an answer that arrives as events; raises Garbled."""


class OpenAIWire:
    """Chat completions, as offered by OpenAI and most other servers."""

    path = "/chat/completions"

    def headers(self, key: str) -> Mapping[str, str]:
        """See Wire."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def body(
        self, model: str, system: str, turns: Sequence[ChatTurn], most: int, stream: bool
    ) -> Body:
        """See Wire."""
        messages = [{"role": "system", "content": system}]
        messages += [{"role": turn.role, "content": turn.text} for turn in turns]
        body: Body = {"model": model, "messages": messages, "max_tokens": most}
        return (
            {**body, "stream": True, "stream_options": {"include_usage": True}} if stream else body
        )

    def whole(self, answer: Body) -> ModelAnswer:
        """See Wire."""
        choice = _first(answer.get("choices"))
        text = _table(choice.get("message")).get("content")
        return ModelAnswer(_text(text), _ending(choice.get("finish_reason")), _openai_usage(answer))

    def streamed(self, events: Iterable[Body]) -> ModelAnswer:
        """See Wire."""
        parts: list[str] = []
        ending, usage = "", None
        for event in events:
            if "error" in event:
                raise Garbled(f"the stream reports an error: {_message(event)}")
            usage = _openai_usage(event) or usage
            choices = event.get("choices") or []
            if choices:
                choice = _first(choices)
                parts.append(_table(choice.get("delta")).get("content") or "")
                ending = choice.get("finish_reason") or ending
        return ModelAnswer("".join(parts), _ending(ending), usage)


class AnthropicWire:
    """Anthropic's messages."""

    path = "/v1/messages"

    def headers(self, key: str) -> Mapping[str, str]:
        """See Wire."""
        version = {"anthropic-version": "2023-06-01"}
        return {"x-api-key": key, **version} if key else version

    def body(
        self, model: str, system: str, turns: Sequence[ChatTurn], most: int, stream: bool
    ) -> Body:
        """See Wire."""
        messages = [{"role": turn.role, "content": turn.text} for turn in turns]
        body: Body = {"model": model, "system": system, "messages": messages, "max_tokens": most}
        return {**body, "stream": True} if stream else body

    def whole(self, answer: Body) -> ModelAnswer:
        """See Wire."""
        blocks = answer.get("content")
        if not isinstance(blocks, list):
            raise Garbled("the answer has no content")
        texts = [_text(b.get("text")) for b in map(_table, blocks) if b.get("type") == "text"]
        usage = _anthropic_usage(answer.get("usage"))
        return ModelAnswer("".join(texts), _ending(answer.get("stop_reason")), usage)

    def streamed(self, events: Iterable[Body]) -> ModelAnswer:
        """See Wire."""
        message = _StreamedMessage()
        try:
            for event in events:
                message.take(event)
            return ModelAnswer("".join(message.parts), _ending(message.ending), message.usage())
        except (Garbled, OSError, HTTPException) as error:
            raise Garbled(str(error) or type(error).__name__, message.usage()) from None


@dataclass(slots=True)
class _StreamedMessage:
    """A message assembled from the events received so far."""

    parts: list[str] = field(default_factory=list)
    ending: str = ""
    start: Usage | None = None
    output_tokens: int = 0

    def take(self, event: Body) -> None:
        kind = event.get("type")
        if kind == "error":
            raise Garbled(f"the stream reports an error: {_message(event)}")
        if kind == "message_start":
            self.start = _anthropic_usage(_table(event.get("message")).get("usage"))
        elif kind == "content_block_delta":
            self.parts.append(_table(event.get("delta")).get("text") or "")
        elif kind == "message_delta":
            self.ending = _table(event.get("delta")).get("stop_reason") or self.ending
            count = _count(_table(event.get("usage") or {}), "output_tokens")
            self.output_tokens = count or self.output_tokens

    def usage(self) -> Usage | None:
        if self.start is None:
            return None
        return Usage(self.start.input_tokens, self.output_tokens or self.start.output_tokens)


WIRES: Mapping[str, type[Wire]] = {"openai": OpenAIWire, "anthropic": AnthropicWire}


# -- reading ------------------------------------------------------------------------------------


def _table(value: object) -> Body:
    if not isinstance(value, dict):
        raise Garbled("the answer lacks a part that it must have")
    return value


def _first(choices: object) -> Body:
    if not isinstance(choices, list) or not choices:
        raise Garbled("the answer has no choices")
    return _table(choices[0])


def _text(value: object) -> str:
    if value is not None and not isinstance(value, str):
        raise Garbled("the answer's text is not text")
    return value or ""


def _ending(reason: object) -> str:
    """Return the meaning of a stop reason; an answer without one was truncated in transit."""
    if not reason:
        raise Garbled("the answer has no end: the connection may have been cut")
    return ENDINGS.get(str(reason), f"ended by {str(reason)[:60]}")


def _count(usage: Body, *names: str) -> int:
    counts = [usage.get(name) for name in names]
    return sum(n for n in counts if isinstance(n, int) and not isinstance(n, bool) and n > 0)


def _openai_usage(answer: Body) -> Usage | None:
    usage = answer.get("usage")
    if not isinstance(usage, dict):
        return None
    return Usage(_count(usage, "prompt_tokens"), _count(usage, "completion_tokens"))


def _anthropic_usage(usage: object) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    cached = ("cache_creation_input_tokens", "cache_read_input_tokens")
    return Usage(_count(usage, "input_tokens", *cached), _count(usage, "output_tokens"))


def _message(event: Body) -> str:
    error = event.get("error")
    text = error.get("message") if isinstance(error, dict) else error
    return " ".join(str(text).split())[:200]
