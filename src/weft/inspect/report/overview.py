"""What a person wants to know of a run first, and the badge that says how far to believe it.

    run.toml, genesis, status ─► overview      verify ─► badge

`judge` reads the whole ledger; `glance` reads only what costs little, for a page that looks again
and again, and says what was not checked.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.errors import Damaged, LedgerDamaged, RunRolledBack
from weft.inspect.access import is_locked, open_manifest, run_named, state_of
from weft.inspect.report.text import clip, counted, value_text
from weft.inspect.report.work import Work, measure
from weft.inspect.status import STATES, Status, status
from weft.inspect.verify import Verdict, verify
from weft.model.values import canonical
from weft.storage.folder import RunFile, RunFolder
from weft.storage.heads import HeadsList
from weft.storage.ledgerfile import parse_at, whole_lines

ANSWER_BYTES = 4000
CONFIG_BYTES = 2000


@dataclass(frozen=True, slots=True)
class Badge:
    """What verify says of the run."""

    kind: str
    """`good`, `live`, `paused`, `bad` or, not checked, `done`: how it is coloured."""
    word: str
    reason: str
    notes: tuple[str, ...] = ()
    record: int | None = None
    """The first wrong record, where verify names one."""


@dataclass(frozen=True, slots=True)
class Genesis:
    """What was asked for; texts are JSON."""

    version: str = ""
    seed: str = ""
    args: str = ""
    config: str = ""
    inputs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Overview:
    """What a person wants to know first."""

    name: str
    run_id: str
    search: str
    state: str
    """`finished`, `running` or `interrupted`."""
    genesis: Genesis
    answered: str
    """`answered`, `unknown`, or empty while there is no answer."""
    answer: str
    head: str
    size: int
    counts: tuple[tuple[str, int], ...]
    planned: int
    finished: int
    lanes: int
    lanes_answered: int
    workers: int | None
    eta_s: float | None
    timing_dependent: bool


def judge(run: Path, heads: HeadsList) -> tuple[Verdict | None, Badge]:
    """Verify a run; what is wrong with it becomes its badge."""
    at_work = is_locked(RunFolder(run))  # before, as in `state_of`: it may end meanwhile
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
        return verdict, Badge("good", "finished, verified", reason, verdict.notes)
    if at_work:
        reason = f"what is written so far agrees: {', '.join(facts)}"
        return verdict, Badge("live", "running", reason, verdict.notes)
    if verdict.past_checkpoint:
        facts.append(f"{verdict.past_checkpoint:,} past the checkpoint")
    reason = f"nothing completed is lost, what is written agrees: {', '.join(facts)}"
    return verdict, Badge("paused", "interrupted", reason, verdict.notes)


@dataclass(frozen=True, slots=True)
class Glance:
    """A run as one cheap look finds it; nothing of it is verified."""

    overview: Overview
    badge: Badge
    work: Work | None
    troubles: tuple[str, ...]


def glance(run: Path) -> Glance:
    """Look at a run without verifying it; raises only where there is no run at all."""
    folder, troubles = RunFolder(run), list[str]()
    with run_named(run):
        run_file = folder.read_run_file()
        now = try_status(run, troubles)
        overview = overview_of(folder, run_file, None, now)
        work = _work(folder, troubles)
    return Glance(overview, _unchecked(overview), work, tuple(dict.fromkeys(troubles)))


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
    return Badge("done", "finished", "not verified yet")


def try_status(run: Path, troubles: list[str]) -> Status | None:
    """Return where the run stands, or None and the reason among the troubles."""
    try:
        return status(run)
    except Damaged as error:
        troubles.append(error.message)
        return None


# -- the overview ----------------------------------------------------------------------------


def overview_of(
    folder: RunFolder, run_file: RunFile, verdict: Verdict | None, now: Status | None
) -> Overview:
    """Put together what is known; without a verdict the head is the checkpoint's."""
    counts = now.counts if now else {}
    answered, answer = _answer(now)
    workers = run_file.execution.get("slots")
    return Overview(
        name=folder.path.resolve().name,
        run_id=run_file.run_id,
        search=run_file.search,
        state=state_of(folder),
        genesis=_genesis(folder),
        answered=answered,
        answer=answer,
        head=verdict.root if verdict else now.head if now else "",
        size=verdict.size if verdict else now.size if now else 0,
        counts=tuple((state, counts.get(state, 0)) for state in STATES),
        planned=now.planned if now else 0,
        finished=now.finished if now else 0,
        lanes=now.lanes if now else 0,
        lanes_answered=now.lanes_answered if now else 0,
        workers=workers if type(workers) is int and workers > 0 else None,
        eta_s=now.eta_s if now else None,
        timing_dependent=verdict.timing_dependent if verdict else _timing_dependent(now),
    )


def _timing_dependent(now: Status | None) -> bool:
    return bool(now and now.answer and now.answer.get("timing_dependent"))


def _answer(now: Status | None) -> tuple[str, str]:
    body = now.answer if now else None
    if body is None:
        return "", ""
    if body.get("status") == "unknown":
        detail = body.get("detail")
        said = detail if isinstance(detail, str) else _shown(detail)
        reason = str(body.get("reason", ""))
        return "unknown", clip(f"{reason}: {said}" if detail else reason, ANSWER_BYTES)
    return "answered", clip(_shown(body.get("value")), ANSWER_BYTES)


def _genesis(folder: RunFolder) -> Genesis:
    body = genesis_body(folder)
    if body is None:
        return Genesis()
    config = body.get("config")
    config = config if isinstance(config, dict) else {}
    rest = {name: value for name, value in config.items() if name != "args"}
    inputs = body.get("inputs")
    pairs = sorted(inputs.items()) if isinstance(inputs, dict) else []
    return Genesis(
        version=_shown(body.get("version")),
        seed=_shown(body.get("seed")),
        args=clip(_shown(config.get("args")), CONFIG_BYTES),
        config=clip(_shown(rest), CONFIG_BYTES),
        inputs=tuple((clip(name, 200), clip(str(digest), 80)) for name, digest in pairs[:100]),
    )


def genesis_body(folder: RunFolder) -> dict[str, Any] | None:
    """Return the body of record 0, or the manifest's copy of it; None when neither can be read."""
    try:
        line = next(whole_lines(folder.ledger), None)
        if line is not None:
            return parse_at(line, 0).body
        with open_manifest(folder) as manifest:
            body = json.loads(manifest.genesis)
            return body if isinstance(body, dict) else None
    except Damaged:
        return None


def _shown(wire: Any) -> str:
    return value_text(canonical(wire))
