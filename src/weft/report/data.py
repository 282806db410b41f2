"""Everything a report tells, gathered from a run into frozen dataclasses.

    verify ─► badge      status, manifest ─► overview, totals, tasks, work, events
    ledger ─► records

A part that is damaged or missing leaves its place empty and a sentence in `troubles`: a damaged
run still gets a report, and the badge says so.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from weft.errors import Damaged, LedgerDamaged, RunRolledBack
from weft.model.values import canonical
from weft.readers.access import is_locked, open_manifest, parse_at, run_named, whole_lines
from weft.readers.status import STATES, Status, status
from weft.readers.verify import Verdict, verify
from weft.report.events import EventList, read_events
from weft.report.ledgerview import LedgerView, read_ledger
from weft.report.places import Places
from weft.report.tasks import Chooser, TaskList
from weft.report.text import clip, counted, value_text
from weft.report.totals import Totals, read_totals
from weft.report.work import Work, read_work
from weft.storage.folder import SEALED_VIEWS, RunFile, RunFolder
from weft.storage.heads import HeadsList

ANSWER_BYTES = 4000
CONFIG_BYTES = 2000


@dataclass(frozen=True, slots=True)
class Badge:
    """What verify says of the run."""

    kind: str
    """`good`, `live`, `paused` or `bad`: how it is coloured."""
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


@dataclass(frozen=True, slots=True)
class Told:
    """What the manifest tells beyond counts; empty without one."""

    tasks: TaskList
    totals: Totals | None = None
    work: Work | None = None
    events: EventList = field(default_factory=EventList)


@dataclass(frozen=True, slots=True)
class Report:
    """One run, ready to be shown."""

    overview: Overview
    badge: Badge
    told: Told
    ledger: LedgerView
    troubles: tuple[str, ...]


def gather(run: Path, heads: HeadsList) -> Report:
    """Read a run in whatever state it is; raises only where there is no run at all."""
    folder = RunFolder(run)
    with run_named(run):
        run_file = folder.read_run_file()
        verdict, badge = _judge(run, heads)
        troubles: list[str] = []
        now = _status(run, troubles)
        told = _told(folder, troubles)
        troubles += [loss.line() for loss in now.losses] if now else []
        ledger = read_ledger(folder.ledger, {task.key for task in told.tasks.rows}, badge.record)
        told = replace(told, tasks=_numbered(told.tasks, ledger))
        if SEALED_VIEWS in run_file.tags:
            told, ledger = _sealed(told), _without_bodies(ledger)
            troubles.append("the contents of tasks are not shown: the run asks for totals only")
        overview = _overview(folder, run_file, verdict, now)
    return Report(overview, badge, told, ledger, tuple(dict.fromkeys(troubles)))


# -- the badge -------------------------------------------------------------------------------


def _judge(run: Path, heads: HeadsList) -> tuple[Verdict | None, Badge]:
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
    if is_locked(RunFolder(run)):
        reason = f"what is written so far agrees: {', '.join(facts)}"
        return verdict, Badge("live", "running", reason, verdict.notes)
    if verdict.past_checkpoint:
        facts.append(f"{verdict.past_checkpoint:,} past the checkpoint")
    reason = f"nothing completed is lost, what is written agrees: {', '.join(facts)}"
    return verdict, Badge("paused", "interrupted", reason, verdict.notes)


def _status(run: Path, troubles: list[str]) -> Status | None:
    try:
        return status(run)
    except Damaged as error:
        troubles.append(error.message)
        return None


# -- the manifest ----------------------------------------------------------------------------


def _told(folder: RunFolder, troubles: list[str]) -> Told:
    if not folder.manifest.is_file():
        troubles.append("the manifest is missing: tasks, times and events are not known")
        return Told(TaskList())
    try:
        with open_manifest(folder) as manifest:
            places = Places.read(manifest)
            tasks = Chooser(manifest, places, folder.logs).read()
            return Told(
                tasks,
                read_totals(manifest),
                read_work(manifest),
                read_events(folder.path, manifest, places, tasks.total),
            )
    except Damaged as error:
        troubles.append(error.message)
        return Told(TaskList())


def _numbered(tasks: TaskList, ledger: LedgerView) -> TaskList:
    """Give every task its record's number."""
    numbers = ledger.numbers
    rows = [
        replace(t, record=numbers[t.key], why=f"recorded as record {numbers[t.key]:,}")
        if t.key in numbers
        else t
        for t in tasks.rows
    ]
    return replace(tasks, rows=tuple(rows))


def _sealed(told: Told) -> Told:
    """Leave out what tasks took, gave and wrote."""
    rows = [
        replace(task, args="", value=None, notes="", tries=(), failure="", log_tail="")
        for task in told.tasks.rows
    ]
    return replace(told, tasks=replace(told.tasks, rows=tuple(rows)))


def _without_bodies(ledger: LedgerView) -> LedgerView:
    """Leave the bodies of records out, apart from the genesis."""
    kept = [record if record.seq == 0 else replace(record, body="") for record in ledger.records]
    return replace(ledger, records=tuple(kept))


# -- the overview ----------------------------------------------------------------------------


def _overview(
    folder: RunFolder, run_file: RunFile, verdict: Verdict | None, now: Status | None
) -> Overview:
    sealed, locked = folder.is_sealed(), is_locked(folder)
    counts = now.counts if now else {}
    answered, answer = _answer(now)
    workers = run_file.execution.get("slots")
    return Overview(
        name=folder.path.resolve().name,
        run_id=run_file.run_id,
        search=run_file.search,
        state="finished" if sealed else "running" if locked else "interrupted",
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
        timing_dependent=verdict.timing_dependent if verdict else False,
    )


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
    """Read record 0, from the manifest when the ledger's is unreadable."""
    body = _genesis_body(folder)
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


def _genesis_body(folder: RunFolder) -> dict[str, Any] | None:
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
