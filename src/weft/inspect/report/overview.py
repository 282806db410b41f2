"""What a reader needs to know about a run first, and the badge that says how far to trust it.

    run.toml, genesis, status ─► overview      verify ─► badge

`judge` reads the whole ledger; `summarise` reads only what is cheap, for a page that is refreshed
often, and its badge states that nothing was verified.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from weft.errors import Damaged, LedgerDamaged, RunRolledBack
from weft.inspect.access import is_locked, last_record, open_manifest, run_named, state_of
from weft.inspect.report.hook import lines_for
from weft.inspect.report.text import clip, counted, value_text
from weft.inspect.report.view import RunView
from weft.inspect.report.wording import LINE_BYTES, MAX_LINES, answer_lines, title_of, unknown_lines
from weft.inspect.report.work import Work, measure
from weft.inspect.status import MAX_WORKERS, Status, status
from weft.inspect.verify import Verdict, verify
from weft.model.values import JsonValue, canonical, from_wire
from weft.runs.progress import best_text
from weft.storage.folder import RunFile, RunFolder
from weft.storage.heads import HeadsList
from weft.storage.ledgerfile import parse_at, whole_lines

ANSWER_BYTES = 4000
CONFIG_BYTES = 2000
BAR = ("completed", "failed", "running", "dropped", "cancelled", "queued")
"""The states in the order in which the bar shows them, from the left."""
FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class Badge:
    """The verdict of `verify` on a run, or that it is not verified."""

    kind: str
    """Sets the colour: `good`, `live`, `paused`, `bad` or, for a run not verified, `done`."""
    word: str
    reason: str
    notes: tuple[str, ...] = ()
    record: int | None = None
    """Number of the first wrong record, if `verify` names one."""


@dataclass(frozen=True, slots=True)
class Genesis:
    """The request that the run answers; texts are JSON."""

    version: str = ""
    seed: str = ""
    args: str = ""
    asked: str = ""
    """The arguments in words."""
    config: str = ""
    settings: str = ""
    """The config in words."""
    inputs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Overview:
    """What a reader needs to know about a run first."""

    name: str
    run_id: str
    search: str
    title: str
    """The search's name in words."""
    state: str
    """`finished`, `running` or `interrupted`."""
    genesis: Genesis
    answered: str
    """`answered`, `unknown`, or empty while there is no answer."""
    unknown: str
    """Why the answer is UNKNOWN, in a few words; otherwise empty."""
    answer: str
    """As JSON."""
    lines: tuple[str, ...]
    """The answer in words, or why there is none."""
    course: tuple[str, ...]
    """Further lines about the answer, from the search's product."""
    head: str
    size: int
    counts: tuple[tuple[str, int], ...]
    planned: int
    finished: int
    lanes: int
    lanes_answered: int
    workers: int | None
    rate_per_s: float | None
    eta_s: float | None
    best: str
    """The best value so far, if the search's plan defines one."""
    so_far: str
    """Progress as the run's own display shows it; empty if unknown."""
    timing_dependent: bool


def judge(run: Path, heads: HeadsList) -> tuple[Verdict | None, Badge]:
    """Verify a run; damage is not raised but stated in the badge."""
    at_work = is_locked(RunFolder(run))  # first, as in `state_of`: it may end in the meantime
    try:
        verdict = verify(run, heads)
    except Damaged as error:
        record = error.seq if isinstance(error, LedgerDamaged) else None
        return None, Badge("bad", "damaged", str(error), record=record)
    except RunRolledBack as error:
        return None, Badge("bad", "rolled back", str(error))
    facts = [counted(verdict.size, "record")]
    if verdict.objects:
        facts.append(counted(verdict.objects, "object"))
    facts.append(verdict.outside.replace("agrees with", "in line with"))
    if verdict.signature:
        facts.append(verdict.signature)
    if verdict.status == "finished":
        reason = f"ledger, manifest and objects agree: {', '.join(facts)}"
        last = last_record(RunFolder(run).ledger)
        unknown = _unknown_word(last.body if last else None)
        kind, word = ("paused", unknown) if unknown else ("good", FINISHED)
        return verdict, Badge(kind, f"{word}, verified", reason, verdict.notes)
    if at_work:
        reason = f"what is written so far agrees: {', '.join(facts)}"
        return verdict, Badge("live", "running", reason, verdict.notes)
    if verdict.past_checkpoint:
        facts.append(f"{verdict.past_checkpoint:,} past the checkpoint")
    reason = f"no completed task is lost, what is written agrees: {', '.join(facts)}"
    return verdict, Badge("paused", "interrupted", reason, verdict.notes)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The result of one cheap read of a run; nothing is verified."""

    overview: Overview
    badge: Badge
    work: Work | None
    troubles: tuple[str, ...]


def summarise(run: Path) -> RunSummary:
    """Read a run without verifying it; raises only if there is no run."""
    folder, troubles = RunFolder(run), list[str]()
    with run_named(run):
        run_file = folder.read_run_file()
        progress = try_status(run, troubles)
        overview = overview_of(folder, run_file, None, progress)
        work = _work(folder, troubles)
    return RunSummary(overview, _unchecked(overview), work, tuple(dict.fromkeys(troubles)))


def _work(folder: RunFolder, troubles: list[str]) -> Work | None:
    if not folder.manifest.is_file():
        return None
    try:
        with open_manifest(folder) as manifest:
            return measure(manifest)
    except Damaged as error:
        troubles.append(error.message)
        return None


def _unchecked(overview: Overview) -> Badge:
    if overview.state == "running":
        return Badge("live", "running", "its ledger is verified when it stops")
    if overview.state == "interrupted":
        return Badge("paused", "interrupted", "not verified yet")
    if overview.answered == "unknown":
        return Badge("paused", overview.unknown, "not verified yet")
    return Badge("done", FINISHED, "not verified yet")


def _unknown_word(body: Mapping[str, JsonValue] | None) -> str:
    """Return the recorded reason why the answer is UNKNOWN, in a few words; otherwise empty."""
    if body is None or body.get("status") != "unknown":
        return ""
    return clip(str(body.get("reason") or "no answer").replace("-", " "), 60)


def try_status(run: Path, troubles: list[str]) -> Status | None:
    """Return the status of a run; if damaged, None, with the reason added to `troubles`."""
    try:
        return status(run)
    except Damaged as error:
        troubles.append(error.message)
        return None


# -- the overview ----------------------------------------------------------------------------


def overview_of(
    folder: RunFolder, run_file: RunFile, verdict: Verdict | None, progress: Status | None
) -> Overview:
    """Assemble the overview; without a verdict, the head is the checkpoint's."""
    counts = progress.counts if progress else {}
    is_answered, answer = _answer(progress)
    genesis = genesis_body(folder)
    lines, course = _answer_lines(folder, run_file, progress)
    return Overview(
        name=folder.path.resolve().name,
        run_id=run_file.run_id,
        search=run_file.search,
        title=title_of(run_file.search, _args(genesis)),
        state=state_of(folder),
        genesis=_genesis(genesis),
        answered=is_answered,
        unknown=_unknown_word(progress.answer if progress else None),
        answer=answer,
        lines=lines,
        course=course,
        head=verdict.root if verdict else progress.head if progress else "",
        size=verdict.size if verdict else progress.size if progress else 0,
        counts=tuple((state, counts.get(state, 0)) for state in BAR),
        planned=progress.planned if progress else 0,
        finished=progress.finished if progress else 0,
        lanes=progress.lanes if progress else 0,
        lanes_answered=progress.lanes_answered if progress else 0,
        workers=_worker_count(run_file.execution.get("slots"), progress),
        rate_per_s=progress.rate_per_s if progress else None,
        eta_s=progress.eta_s if progress else None,
        best=_best(progress),
        so_far=progress.progress.words() if progress and progress.progress else "",
        timing_dependent=verdict.timing_dependent if verdict else _timing_dependent(progress),
    )


def _answer_lines(
    folder: RunFolder, run_file: RunFile, progress: Status | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the answer and further lines, from the search's product or else the value in words."""
    body = progress.answer if progress else None
    if body is None:
        return (), ()
    lines = lines_for(RunView(folder.path, run_file.search))[:MAX_LINES]
    if lines:
        first, *rest = (clip(line, LINE_BYTES) for line in lines)
        return (first,), tuple(rest)
    if body.get("status") == "unknown":
        reason = str(body.get("reason", ""))
        return tuple(unknown_lines(reason, from_wire(body.get("detail")))), ()
    return tuple(answer_lines(from_wire(body.get("value")))), ()


def _worker_count(slots: object, progress: Status | None) -> int | None:
    """Return the number of slots; for a finished run, at most the workers that ran a task."""
    if type(slots) is not int or slots < 1:
        return None
    used = len(progress.workers) if progress and progress.answer is not None else 0
    return min(slots, used) if 0 < used < MAX_WORKERS else slots


def _best(progress: Status | None) -> str:
    best = progress.progress.best if progress and progress.progress else None
    return "" if best is None else best_text(best)


def _timing_dependent(progress: Status | None) -> bool:
    return bool(progress and progress.answer and progress.answer.get("timing_dependent"))


def _answer(progress: Status | None) -> tuple[str, str]:
    body = progress.answer if progress else None
    if body is None:
        return "", ""
    if body.get("status") == "unknown":
        detail = body.get("detail")
        text = detail if isinstance(detail, str) else _json_text(detail)
        reason = str(body.get("reason", ""))
        return "unknown", clip(f"{reason}: {text}" if detail else reason, ANSWER_BYTES)
    return "answered", clip(_json_text(body.get("value")), ANSWER_BYTES)


def _args(genesis: Mapping[str, JsonValue] | None) -> JsonValue:
    config = genesis.get("config") if genesis else None
    return config.get("args") if isinstance(config, dict) else None


def _genesis(body: Mapping[str, JsonValue] | None) -> Genesis:
    if body is None:
        return Genesis()
    config = body.get("config")
    config = config if isinstance(config, dict) else {}
    rest = {name: value for name, value in config.items() if name != "args"}
    inputs = body.get("inputs")
    pairs = sorted(inputs.items()) if isinstance(inputs, dict) else []
    return Genesis(
        version=_json_text(body.get("version")),
        seed=_json_text(body.get("seed")),
        args=clip(_json_text(config.get("args")), CONFIG_BYTES),
        asked=_asked(config.get("args")),
        config=clip(_json_text(rest), CONFIG_BYTES),
        settings=_asked(rest),
        inputs=tuple((clip(name, 200), clip(str(digest), 80)) for name, digest in pairs[:100]),
    )


def _asked(args: JsonValue) -> str:
    return "; ".join(answer_lines(from_wire(args))) if args else ""


def genesis_body(folder: RunFolder) -> dict[str, JsonValue] | None:
    """Return the body of record 0, or the manifest's copy of it; None if neither can be read."""
    try:
        line = next(whole_lines(folder.ledger), None)
        if line is not None:
            return parse_at(line, 0).body
        with open_manifest(folder) as manifest:
            body = json.loads(manifest.genesis)
            return body if isinstance(body, dict) else None
    except Damaged:
        return None


def _json_text(wire: JsonValue) -> str:
    return value_text(canonical(wire))
