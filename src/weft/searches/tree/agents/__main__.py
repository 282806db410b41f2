"""`python -m weft.searches.tree.agents STAGE --config agent.toml`: one stage, done by a model.

Stages are `propose`, `implement` and `review`. Exit codes are those of a stage's command: 0 done,
or failed with a reason and a cost in the result file · 75 the endpoint does not answer, worth
another attempt · 126 the key, model, address or agent.toml is wrong, which stops the run until it
is fixed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from weft.searches.tree.agents import edits, prompts
from weft.searches.tree.agents.endpoint import (
    Endpoint,
    EndpointMisconfigured,
    EndpointUnavailable,
    RequestRefused,
)
from weft.searches.tree.agents.settings import AgentSettings, SettingsInvalid, read_settings, usd_of
from weft.searches.tree.agents.wire import COMPLETE, REFUSED, TRUNCATED, ChatTurn, Usage

TEMPORARY, BROKEN = 75, 126
MARGIN_S = 5.0
"""Time reserved for the work after the last answer."""
ENVIRONMENT: Mapping[str, str] = os.environ  # noqa: TID251 - set by the slot


class StageFailed(Exception):  # noqa: N818 - an outcome of a stage
    """The model's answers are unusable; the message is the reason."""


def main(words: Sequence[str] | None = None) -> int:
    """Execute one stage; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m weft.searches.tree.agents")
    parser.add_argument("stage", choices=sorted(STAGES))
    parser.add_argument("--config", required=True, type=Path, help="The agent.toml.")
    arguments = parser.parse_args(words)
    try:
        settings = read_settings(arguments.config)
        agent = Agent(settings, _endpoint(settings))
        _write_result({**_attempted(STAGES[arguments.stage], agent), "cost": agent.cost()})
    except (SettingsInvalid, EndpointMisconfigured) as error:
        return _end(BROKEN, f"{error}")
    except EndpointUnavailable as error:
        return _end(TEMPORARY, f"{error}")
    return 0


def _attempted(stage: Callable[[Agent], dict[str, Any]], agent: Agent) -> dict[str, Any]:
    """Return the stage's result; an unusable answer is a failure that still has a cost."""
    try:
        return stage(agent)
    except (StageFailed, RequestRefused, prompts.AnswerInvalid, edits.EditsInvalid) as error:
        print(f"agent: {error}", file=sys.stderr)
        return {"failed": str(error)[:500]}


def _end(code: int, reason: str) -> int:
    print(f"agent: {reason}", file=sys.stderr)
    return code


def _endpoint(settings: AgentSettings) -> Endpoint:
    key = ENVIRONMENT.get(settings.key_from, "") if settings.key_from else ""
    if settings.key_from and not key:
        raise EndpointMisconfigured(
            f"the variable {settings.key_from} is not set: name it in env_from of the stage"
        )
    deadline = ENVIRONMENT.get("WEFT_DEADLINE")
    left_s = float(deadline) - time.time() if deadline else float("inf")  # noqa: TID251 - theirs
    place = f"{ENVIRONMENT.get('WEFT_EVAL_ID')} {ENVIRONMENT.get('WEFT_ATTEMPT')} {os.getpid()}"
    return Endpoint(
        api=settings.api, url=settings.url, model=settings.model, key=key, stream=settings.stream,
        max_output_tokens=settings.max_output_tokens, idle_timeout_s=settings.idle_timeout_s,
        retries=settings.retries, headers=settings.headers, body=settings.body,
        deadline_s=time.monotonic() + left_s - MARGIN_S,
        jitter=hashlib.sha256(place.encode()).digest()[0] / 255,
        say=lambda line: print(f"agent: {line}", file=sys.stderr, flush=True),
    )  # fmt: skip


class Agent:
    """A model in conversation about one stage."""

    def __init__(self, settings: AgentSettings, endpoint: Endpoint) -> None:
        self.settings, self._endpoint = settings, endpoint
        self._turns = _transcript()

    def ask(self, prompt: str, short: str) -> str:
        """Return the answer to a prompt; the transcript records `short` in its place."""
        self._turns.append(ChatTurn("user", prompt))
        answer = self._endpoint.ask(self.settings.prompts["system"], self._turns)
        text = self._endpoint.redacted(answer.text)
        self._turns.append(ChatTurn("assistant", text))
        print(text, file=sys.stderr)  # on stdout it could be mistaken for a result
        _remember(ChatTurn("user", short), ChatTurn("assistant", text))
        if answer.ending == TRUNCATED:
            most = self.settings.max_output_tokens
            raise StageFailed(f"the answer was cut off at max_output_tokens = {most}")
        if answer.ending == REFUSED or not text.strip():
            raise StageFailed("the model refused to answer" if text.strip() else "an empty answer")
        if answer.ending != COMPLETE:
            raise StageFailed(f"the answer {answer.ending}")
        return text

    def cost(self) -> dict[str, Any] | None:
        """Return the cost of all requests at agent.toml's prices; None without any usage."""
        spent, settings = self._endpoint.spent, self.settings
        if self._endpoint.unmetered:
            print("agent: the server reports no usage: the cost is not known", file=sys.stderr)
        if spent == Usage():
            return None
        counts = (spent.input_tokens, spent.output_tokens)
        usd = f"{usd_of(settings, *counts).normalize():f}"
        return {"usd": usd, "input_tokens": counts[0], "output_tokens": counts[1]}


# -- stages -------------------------------------------------------------------------------------


def _propose(agent: Agent) -> dict[str, Any]:
    settings, node = agent.settings, ENVIRONMENT.get("WEFT_NODE_ID", "the node")
    values = {
        "context": _read("CONTEXT_TEXT"), "files": _files(settings), "count": str(settings.ideas),
    }  # fmt: skip
    text = agent.ask(
        prompts.fill(settings.prompts["propose"], values), f"Propose ideas for {node}."
    )
    for name, idea in list(prompts.ideas_in(text).items())[: settings.ideas]:
        (_place("IDEAS_DIR") / name).write_text(idea, "utf-8")
    return {}


def _implement(agent: Agent) -> dict[str, Any]:
    settings, idea, feedback = agent.settings, _read("IDEA_FILE"), _read("FEEDBACK_FILE")
    words = f"A reviewer rejected an earlier attempt: {feedback}" if feedback else ""
    values = {"idea": idea, "feedback": words, "files": _files(settings)}
    prompt, short = prompts.fill(settings.prompts["implement"], values), f"{idea}\n{words}".strip()
    for remaining in range(settings.repairs, -1, -1):
        answer = agent.ask(prompt, short)
        try:
            names = edits.apply(edits.parse(answer), Path.cwd())
        except edits.EditsInvalid as error:
            if not remaining:
                raise
            prompt = short = prompts.fill(settings.prompts["repair"], {"reason": str(error)})
        else:
            return {"notes": f"changed {', '.join(names)}"[:500]}
    raise AssertionError("the last repair returns or raises")


def _review(agent: Agent) -> dict[str, Any]:
    values = {"idea": _read("IDEA_FILE"), "diff": _clipped(_read("DIFF_FILE"), agent.settings)}
    text = agent.ask(prompts.fill(agent.settings.prompts["review"], values), "Review the change.")
    verdict = prompts.verdict_in(text)
    return {"approved": verdict.approved, "feedback": verdict.feedback}


STAGES = {"propose": _propose, "implement": _implement, "review": _review}


# -- files of the stage -------------------------------------------------------------------------


def _place(name: str) -> Path:
    return Path(ENVIRONMENT[f"WEFT_{name}"])


def _read(name: str) -> str:
    path = Path(ENVIRONMENT.get(f"WEFT_{name}") or os.devnull)
    return path.read_text("utf-8", "replace") if path.is_file() else ""


def _write_result(result: Mapping[str, Any]) -> None:
    body = {name: value for name, value in result.items() if value is not None}
    cost = body.pop("cost", None)
    text = json.dumps(body)
    if cost is not None:  # dollars are written exactly, not as a float
        tokens = json.dumps({name: cost[name] for name in ("input_tokens", "output_tokens")})[1:]
        text = f'{text[:-1]}{", " if body else ""}"cost": {{"usd": {cost["usd"]}, {tokens}}}'
    _place("RESULT_FILE").write_text(text, "utf-8")


def _transcript() -> list[ChatTurn]:
    """Return the conversation so far, if the run keeps one; it starts with a user turn."""
    lines = _read("TRANSCRIPT_FILE").splitlines()
    turns = [ChatTurn(table["role"], table["text"]) for table in map(json.loads, lines)]
    while turns and turns[0].role != "user":
        turns.pop(0)
    return turns


def _remember(*turns: ChatTurn) -> None:
    if "WEFT_TURNS_FILE" in ENVIRONMENT:
        with _place("TURNS_FILE").open("a", encoding="utf-8") as file:
            for turn in turns:
                file.write(json.dumps({"role": turn.role, "text": turn.text}) + "\n")


def _clipped(text: str, settings: AgentSettings) -> str:
    most = settings.max_context_chars
    return text if len(text) <= most else f"{text[:most]}\n[{len(text) - most} characters left out]"


def _files(settings: AgentSettings) -> str:
    """Return the files shown to the model; those that are not text or do not fit are only named."""
    parts: list[str] = []
    hidden: list[str] = []
    room = settings.max_context_chars
    for path in sorted(p for p in Path().rglob("*") if p.is_file() and not p.is_symlink()):
        name = path.as_posix()
        if not any(path.match(pattern) for pattern in settings.files):
            continue
        text = _text_of(path, room)
        if text is None:
            hidden.append(name)
            continue
        room -= len(text)
        parts.append(f"FILE: {name}\n```\n{text.rstrip()}\n```")
    more = f"\n\nNot shown: {', '.join(hidden[:200])}" if hidden else ""
    return "\n\n".join(parts) + more


def _text_of(path: Path, room: int) -> str | None:
    """Return the file's text; None if it is too large or is not text."""
    if path.stat().st_size > room:
        return None
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


if __name__ == "__main__":
    sys.exit(main())
