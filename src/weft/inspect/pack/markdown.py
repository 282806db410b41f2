"""A status pack as Markdown."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from weft.inspect.pack.facts import StatusPack, Telemetry
from weft.inspect.report.text import counted, duration, moment, percent, visible

WORDS = {True: "holds", False: "BROKEN", None: "not checked"}
REQUEST_ROWS = (
    "search", "version", "seed", "budget", "retries", "timeout_s", "strict", "libraries",
)  # fmt: skip


def to_markdown(pack: StatusPack) -> str:
    """Render the pack; every value is escaped or shown as code, so that none can become markup."""
    o = pack.overview
    parts = [
        f"# Run {_plain(o.name)}: {pack.badge.word}",
        f"{_code(o.search)} in {_code(pack.path)}, run id {_code(o.run_id)}.",
        "## Result",
        *_result(pack),
        "## What was asked",
        *_request(pack),
        "## Commands",
        *_commands(pack),
        "## Invariants",
        _table(
            ("invariant", "", "how it was checked"),
            [(i.name, WORDS[i.holds], _plain(i.how)) for i in pack.invariants],
        ),
        "## Failures",
        *_failures(pack.telemetry),
        "## How it went",
        *_telemetry(pack),
        "## Open ends",
        _bullets(pack.open_ends) or "None.",
    ]
    return "\n\n".join(parts) + "\n"


def _result(pack: StatusPack) -> Iterator[str]:
    o = pack.overview
    word = {"answered": "Answer", "unknown": "UNKNOWN"}.get(o.answered, "No answer yet")
    yield f"{word}: {_code(o.answer)}" if o.answered else f"{word}."
    counts = [f"{count:,} {state}" for state, count in o.counts if count]
    lanes = f"; {o.lanes_answered:,} of {o.lanes:,} lanes answered" if o.lanes else ""
    yield f"Tasks: {', '.join(counts) or 'none'}{lanes}."
    if pack.summary:
        yield _bullets(pack.summary)
    yield f"Head: {_code(f'{o.size} {o.head}')}" if o.head else "No head yet."


def _request(pack: StatusPack) -> Iterator[str]:
    if pack.request is None:
        yield "The genesis cannot be read."
        return
    request = pack.request.to_dict()
    rows = [
        (name, _code(json.dumps(request[name])))
        for name in REQUEST_ROWS
        if request[name] not in (None, {})
    ]
    rows += [(f"input {_plain(n)}", _code(d)) for n, d in sorted(pack.request.inputs.items())]
    yield _table(("decides the outcome", ""), rows)
    yield "Arguments:"
    yield _block(pack.request.args_text() or "(they hold objects)", "json")
    ways = [(_plain(n), _code(str(value))) for n, value in sorted(pack.execution.items())]
    yield _table(("how it was executed, may change", ""), ways)
    sources = [(_plain(n), _code(digest)) for n, digest in sorted(pack.sources.items())]
    if sources:
        yield _table(("source package", "SHA-256"), sources)


def _commands(pack: StatusPack) -> Iterator[str]:
    for name, words in pack.commands:
        yield f"{name}:"
        yield _block(shlex.join(words), "sh")
    o = pack.overview
    if o.state == "finished":
        yield f"A repeated run must end with head {_code(f'{o.size} {o.head}')}."


def _failures(telemetry: Telemetry | None) -> Iterator[str]:
    if telemetry is None or not telemetry.failures:
        yield "No task failed." if telemetry else "Not known."
        return
    for item in telemetry.failures:
        yield f"### {item.count:,} × {_plain(item.failure)} in {_plain(item.function)}"
        rows = [(_code(e.key[:12]), _code(e.place), _code(e.args), _code(e.message))
                for e in item.examples]  # fmt: skip
        if rows:
            yield _table(("key", "lane:round:index", "arguments", "message"), rows)


def _telemetry(pack: StatusPack) -> Iterator[str]:
    telemetry = pack.telemetry
    if telemetry is None:
        yield "Not known."
        return
    work, workers = telemetry.work, pack.overview.workers
    busy = work.busy_s / (work.wall_s * workers) if work.wall_s and workers else None
    yield _table(
        ("", ""),
        [
            ("began", moment(work.started_at) or "–"),
            ("wall time, without pauses", duration(work.wall_s)),
            ("pauses", duration(work.paused_s)),
            ("task time", duration(work.busy_s)),
            ("speed-up", "–" if work.speed_up is None else f"{work.speed_up:.2f} ×"),
            ("busy", f"{percent(busy)} of {counted(workers, 'worker')}" if workers else "–"),
            ("external commands", f"{telemetry.commands:,}"),
        ],
    )
    rows = [
        (_code(s.name), f"{s.tasks:,}", f"{s.failed:,}", duration(s.busy_s), duration(s.longest_s))
        for s in telemetry.functions
    ]
    if rows:
        yield _table(("function", "tasks", "failed", "task time", "longest"), rows)
    events = [f"{loss.reason}: {loss.count:,} attempts queued again" for loss in telemetry.losses]
    events += [f"event {kind}: {count:,}" for kind, count in telemetry.events]
    if events:
        yield _bullets(events)


# -- Markdown --------------------------------------------------------------------------------


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(_cell(text) for text in line)} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {_plain(line)}" for line in lines)


def _plain(text: str) -> str:
    """Make a text visible and escape what Markdown or HTML would interpret as markup."""
    printable = visible(text)
    return "".join(f"\\{c}" if c in "\\`*_[]<>#" else c for c in printable)


def _code(text: str) -> str:
    """Format a text as code; the fence is longer than any run of backticks in it."""
    printable = visible(text)
    if not printable:
        return ""
    fence = "`" * (_longest_ticks(printable) + 1)
    pad = " " if printable[0] == "`" or printable[-1] == "`" else ""
    return f"{fence}{pad}{printable}{pad}{fence}"


def _block(text: str, language: str) -> str:
    fence = "`" * max(3, _longest_ticks(text) + 1)
    return f"{fence}{language}\n{visible(text, lines=True)}\n{fence}"


def _longest_ticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
