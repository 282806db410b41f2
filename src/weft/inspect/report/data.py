"""Everything a report shows, gathered from a run into frozen dataclasses.

    verify ─► badge      status, manifest ─► overview, totals, tasks, work, events
    ledger ─► records

A part that is damaged or missing stays empty and adds a sentence to `troubles`: a damaged run
still gets a report, and the badge states the damage.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from weft.errors import Damaged
from weft.inspect.access import open_manifest, run_named
from weft.inspect.report.curve import empty_curve, read_curve
from weft.inspect.report.events import EventList, read_events
from weft.inspect.report.ledgerview import LedgerView, read_ledger
from weft.inspect.report.overview import (
    Badge,
    Overview,
    genesis_body,
    judge,
    overview_of,
    try_status,
)
from weft.inspect.report.places import Places
from weft.inspect.report.tasks import TaskList, TaskReader, sealed
from weft.inspect.report.totals import Totals, read_totals
from weft.inspect.report.valuetable import ValueTable, argument_names, read_values
from weft.inspect.report.work import Work, read_work
from weft.model.values import JsonValue
from weft.product import product_of
from weft.runs.execution import SEALED_VIEWS
from weft.storage.folder import RunFile, RunFolder
from weft.storage.heads import HeadsList


@dataclass(frozen=True, slots=True)
class RunDetails:
    """What the manifest has beyond counts; empty without a manifest."""

    tasks: TaskList
    totals: Totals | None = None
    work: Work | None = None
    events: EventList = field(default_factory=EventList)
    curve: dict[str, JsonValue] = field(default_factory=empty_curve)
    values: ValueTable | None = None
    """Only for a search without a product, whose views are not sealed."""
    arguments: tuple[str, ...] = ()
    """The arguments with a column in the table of tasks."""


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that the report of one run shows."""

    overview: Overview
    badge: Badge
    details: RunDetails
    ledger: LedgerView
    troubles: tuple[str, ...]


def gather(run: Path, heads: HeadsList) -> Report:
    """Read a run in any state; raises only if there is no run."""
    folder = RunFolder(run)
    with run_named(run):
        run_file = folder.read_run_file()
        verdict, badge = judge(run, heads)
        troubles: list[str] = []
        status = try_status(run, troubles)
        has_values = shows_values(run_file)
        details = _read_details(folder, troubles, has_values)
        troubles += [loss.line() for loss in status.losses] if status else []
        ledger = read_ledger(folder.ledger, {task.key for task in details.tasks.rows}, badge.record)
        details = replace(details, tasks=_numbered(details.tasks, ledger))
        if SEALED_VIEWS in run_file.tags:
            details, ledger = _sealed(details), _without_bodies(ledger)
            troubles.append(
                "the contents of tasks are not shown: the run is set to show totals only"
            )
        overview = overview_of(folder, run_file, verdict, status)
    return Report(overview, badge, details, ledger, tuple(dict.fromkeys(troubles)))


def shows_values(run_file: RunFile) -> bool:
    """Whether the values of a run are plotted; a product's search has its own pages instead."""
    return product_of(run_file.search) is None and SEALED_VIEWS not in run_file.tags


# -- the manifest ----------------------------------------------------------------------------


def _read_details(folder: RunFolder, troubles: list[str], has_values: bool) -> RunDetails:
    if not folder.manifest.is_file():
        troubles.append("the manifest is missing: tasks, times and events are not known")
        return RunDetails(TaskList())
    try:
        with open_manifest(folder) as manifest:
            places = Places.read(manifest)
            tasks = TaskReader(manifest, places, folder.logs).read()
            work = read_work(manifest)
            return RunDetails(
                tasks,
                read_totals(manifest),
                work,
                read_events(folder.path, manifest, places, tasks.total),
                read_curve(manifest, work),
                read_values(manifest, genesis_body(folder)) if has_values else None,
                argument_names(manifest) if has_values else (),
            )
    except Damaged as error:
        troubles.append(error.message)
        return RunDetails(TaskList())


def _numbered(tasks: TaskList, ledger: LedgerView) -> TaskList:
    """Add the record numbers to the tasks."""
    numbers = ledger.numbers
    rows = [
        replace(t, record=numbers[t.key], why=f"recorded as record {numbers[t.key]:,}")
        if t.key in numbers
        else t
        for t in tasks.rows
    ]
    return replace(tasks, rows=tuple(rows))


def _sealed(details: RunDetails) -> RunDetails:
    rows = tuple(map(sealed, details.tasks.rows))
    return replace(details, tasks=replace(details.tasks, rows=rows))


def _without_bodies(ledger: LedgerView) -> LedgerView:
    """Remove the bodies of all records except the genesis."""
    records = [r if r.seq == 0 else replace(r, body="") for r in ledger.records]
    return replace(ledger, records=tuple(records))
