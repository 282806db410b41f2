"""One session of a run whose folder is open: workers, coordinator, answer, seal.

open run ─► journal, machine, backend ─► coordinator ─► sealed, or interrupted and resumable
"""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from weft.backends.contract import Backend
from weft.backends.local import MAX_CREDIT, LocalBackend
from weft.backends.orphans import Marks, end_earlier
from weft.backends.process import WorkerSetup
from weft.backends.recorded import Recall, RecordedCommands, ReusedResults
from weft.cells import is_stored_name
from weft.cluster import host
from weft.coordinator.journal import Journal
from weft.coordinator.loop import Coordinator, Watcher
from weft.coordinator.machine import Machine
from weft.coordinator.making import LazyLimits
from weft.coordinator.placement import Placement
from weft.errors import Interrupted, Paused, SearchInvalid, StorageFailed, ValueInvalid
from weft.lazy_imports import lazy_imports
from weft.model.keys import sha256_hex
from weft.model.slots import Slot
from weft.runs import world
from weft.runs.collector import collected_rarely
from weft.runs.decision import Decision
from weft.runs.execution import Execution
from weft.runs.isolation import SessionIsolation
from weft.runs.notices import failures_shown
from weft.runs.opening import CODE_ACCEPTED, CODE_CHANGED, OpenRun, has_results
from weft.runs.outcome import Run, read_outcome
from weft.runs.prior import open_prior
from weft.runs.sources import SourceBook, package_of
from weft.runs.storedcode import drop_compiled
from weft.storage.folder import RunFolder
from weft.storage.reserve import Reserve
from weft.worker.context import DEVICE

with lazy_imports():
    from weft.runs import rayrun

OUTCOME_TOKEN = "outcome_token"  # noqa: S105 - its name


def run_session(
    opened: OpenRun,
    decision: Decision,
    execution: Execution,
    watcher: Watcher | None,
    placement: Placement,
    recall: Recall | None,
    isolation: SessionIsolation,
) -> Run:
    """Continue a run to its answer; raises `Interrupted` if it is stopped before."""
    clock = world.RealClock()
    journal = _begin_journal(opened, decision, clock, isolation)
    machine = new_machine(
        opened, decision, journal, placement=placement, pause_at=execution.pause_at
    )
    if getattr(watcher, "is_shown", watcher is not None):
        journal.outlook = machine.outlook
    stop = world.StopRequest(execution.wall_limit_s)
    marks = _marks(opened)
    if ended := end_earlier(marks):
        journal.event("orphans-ended", f"{ended} left by an earlier session")
    reserve = Reserve(opened.folder.path)
    reserve.take()
    backend = _backend(opened, decision, execution, placement.slots, marks, journal, isolation)
    try:
        with (
            collected_rarely(),
            stop.listening(),
            failures_shown(machine, journal, execution, watcher) as watching,
            _answering(backend, opened, decision, recall) as backend,
        ):
            finished = Coordinator(
                machine, journal, opened.writer, backend, clock, stop.asked, watching, reserve
            ).run()
    except (SearchInvalid, ValueInvalid) as error:
        error.hint = _once_fixed(error.hint, execution.out, opened)
        raise
    finally:
        backend.close()
        reserve.release()
    if machine.paused or not finished:
        raise _stopped(machine, execution)
    seal(opened, clock.wall())
    return read_outcome(opened.folder, opened.manifest.genesis)


def _begin_journal(
    opened: OpenRun, decision: Decision, clock: world.RealClock, isolation: SessionIsolation
) -> Journal:
    """Open the journal and add what happened while the run was opened."""
    journal = Journal(opened.manifest, opened.objects, clock, _source_book(opened))
    for kind, detail in opened.events:
        journal.event(kind, detail)
        journal.recorded.code_is_new |= kind in (CODE_ACCEPTED, CODE_CHANGED)
    isolation.note(journal.event)
    journal.sources.use(decision.call.name, decision.call.import_path)
    if any(kind == "rollback-accepted" for kind, _ in opened.events):
        journal.commit()
        opened.writer.checkpoint(clock.wall(), restart=True)
    return journal


@contextmanager
def _answering(
    backend: Backend, opened: OpenRun, decision: Decision, recall: Recall | None
) -> Iterator[Backend]:
    """Wrap the backend to answer from records: commands of a replay, or what a retry reuses.

    A replay of a retry has no copy of the ledger that was retried: it runs everything again.
    """
    retry = decision.retry
    with ExitStack() as stack:
        if recall is not None:
            backend = RecordedCommands(backend, recall)
        elif retry is not None and opened.objects.has(retry.ledger):
            prior = stack.enter_context(open_prior(opened.objects, retry))
            backend = ReusedResults(backend, prior.value)
        yield backend


def _once_fixed(step: str, out: Path, opened: OpenRun) -> str:
    """Return how to continue after a fix: changed source must be accepted once there are results.

    A search of notebook cells is identified by their source, unless it declares a name.
    """
    is_new = not has_results(opened.manifest)
    if RunFolder(out).code.is_dir():
        is_declared = not is_stored_name(package_of(opened.run_file.search))
        where = "" if is_new and is_declared else " with another folder as out"
        return f"{step or 'fix the cell'}, then run it{where or ' again'}"
    advice = f"{step or 'fix the search'}, then: weft resume {shlex.quote(str(out))}"
    if is_new:
        return f"{advice} (in Python: the same call)"
    return f'{advice} --accept code (in Python: accept=["code"])'


def _stopped(machine: Machine, execution: Execution) -> Interrupted | StorageFailed:
    """Return the error that states why the run stopped before its answer, and how to continue."""
    out = execution.out
    command = f"weft resume {shlex.quote(str(out))}"
    if machine.paused:
        return Paused(
            f"paused before {execution.pause_at!r}, after {_tasks(machine)}", hint=command
        )
    if machine.exhausted:
        return StorageFailed(
            f"{out}: stopped, {machine.broken}; no completed task is lost",
            hint=f"free some, or run fewer at a time with --workers, then: {command}",
        )
    if machine.broken:
        return Interrupted(f"interrupted: {machine.broken}", hint=f"fix it, then: {command}")
    reason = f"interrupted after {_tasks(machine)}; no completed task is lost"
    return Interrupted(reason, hint=command)


def _tasks(machine: Machine) -> str:
    """Return in words how many tasks have finished."""
    finished = machine.counts().finished
    return f"{finished} task{'s' * (finished != 1)}"


def new_machine(
    opened: OpenRun,
    decision: Decision,
    journal: Journal,
    lazy: LazyLimits | None = None,
    placement: Placement | None = None,
    pause_at: str | None = None,
) -> Machine:
    """Return the machine in its initial state; replay brings it to the state of the run."""
    return Machine(
        sha256_hex(opened.manifest.genesis),
        decision.call,
        decision.context(),
        decision.policy,
        journal.fetch,
        lazy or LazyLimits.for_slots(len(placement.slots) if placement else 1),
        placement,
        pause_at,
        journal,
        journal.values,
    )


def seal(opened: OpenRun, wall_s: float) -> None:
    """Finish a run that has its answer: last checkpoint, then read-only."""
    opened.objects.clear_staging()
    shutil.rmtree(opened.folder.attempts, ignore_errors=True)
    shutil.rmtree(opened.folder.outcomes, ignore_errors=True)
    drop_compiled(opened.folder)
    opened.writer.finish(wall_s)
    opened.manifest.commit()
    opened.manifest.finish()


def _source_book(opened: OpenRun) -> SourceBook:
    def save(sources: dict[str, str], imports: dict[str, str]) -> None:
        opened.run_file = replace(
            opened.run_file, sources=dict(sources), imports=dict(sorted(imports.items()))
        )
        opened.folder.write_run_file(opened.run_file, opened.writer.disk)

    return SourceBook(dict(opened.run_file.sources), dict(opened.run_file.imports), save)


def _marks(opened: OpenRun) -> Marks:
    """Return the marks of this run's processes; those of a copy of the run have others."""
    place = opened.folder.path.stat()
    return Marks.of(f"{opened.run_file.run_id} {place.st_dev} {place.st_ino}")


def _backend(
    opened: OpenRun,
    decision: Decision,
    execution: Execution,
    slots: Sequence[Slot],
    marks: Marks,
    journal: Journal,
    isolation: SessionIsolation,
) -> Backend:
    setup = WorkerSetup(
        run_seed=decision.seed,
        objects=opened.folder.objects.absolute(),
        staging=opened.objects.staging.absolute(),
        logs=opened.folder.logs.absolute(),
        attempts=opened.folder.attempts.absolute(),
        path=[*sys.path, str(opened.folder.code.absolute())],
        environment={**host.worker_environment(), DEVICE: execution.device},
        marks=marks,
        run_id=opened.run_file.run_id,
        kept_folder=opened.folder.kept.absolute() if "failed" in execution.keep else None,
        genesis=sha256_hex(opened.manifest.genesis),
        sandbox=isolation.program,
        secret_names=isolation.needs.variables,
        outcome_token=_outcome_token(opened),
        fork_server=None if isolation.needs.variables else execution.fork_server,
    )
    if execution.backend == "ray":
        return rayrun.ray_backend(opened, slots, setup, journal, execution.stagger_s)
    credit = 1 if execution.backend == "serial" else MAX_CREDIT
    return LocalBackend(setup, slots, credit, execution.stagger_s)


def _outcome_token(opened: OpenRun) -> str:
    """Return the token that authenticates the run's outcome files, the same in all sessions."""
    known = opened.manifest.query("SELECT value FROM meta WHERE name=?", OUTCOME_TOKEN)
    if known:
        return str(known[0][0])
    token = world.new_token()
    opened.manifest.set_meta(OUTCOME_TOKEN, token)  # durable before any command may start
    return token
