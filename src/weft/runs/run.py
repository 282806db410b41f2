"""Run a search from start to answer: the only place that assembles all parts."""

from __future__ import annotations

import errno
import shlex
import shutil
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from weft.backends.contract import Backend
from weft.backends.local import MAX_CREDIT, LocalBackend
from weft.backends.orphans import Marks, end_earlier
from weft.backends.process import WorkerSetup
from weft.backends.recorded import Recall, RecordedCommands, ReusedResults
from weft.cells.stored import as_stored, sources_for
from weft.cluster import host
from weft.coordinator.journal import Journal
from weft.coordinator.loop import Coordinator, Watcher
from weft.coordinator.machine import Machine
from weft.coordinator.making import LazyLimits
from weft.coordinator.placement import Placement
from weft.coordinator.policy import Policy
from weft.errors import (
    CodeChanged,
    Interrupted,
    ManifestDamaged,
    Paused,
    RunCopied,
    RunFolderInvalid,
    SearchInvalid,
    StorageFailed,
    UsageError,
    ValueInvalid,
)
from weft.lazy_imports import lazy_imports
from weft.model.keys import sha256_hex
from weft.model.leaves import GatheredBytes
from weft.model.slots import Node, Slot
from weft.model.tasks import Budget, SearchCall
from weft.runs import notices, world
from weft.runs.collector import collected_rarely
from weft.runs.decision import Decision, check_search, digests, normalized, read_inputs
from weft.runs.display import showing
from weft.runs.execution import Execution, placement_of
from weft.runs.interruption import interruptible
from weft.runs.isolation import SessionIsolation, session_isolation
from weft.runs.notices import failures_shown
from weft.runs.opening import OpenRun, Place, create_run, reopen_run
from weft.runs.outcome import Run, read_outcome
from weft.runs.prior import open_prior
from weft.runs.remember import remembered
from weft.runs.sealing import is_over, signer
from weft.runs.sources import SourceBook, check_loaded, own_import, package_of, search_folder
from weft.runs.storedcode import drop_compiled
from weft.runs.warmup import warm_up_for
from weft.storage.disk import Disk
from weft.storage.folder import RunFile, RunFolder
from weft.storage.heads import HeadsList
from weft.storage.reserve import Reserve
from weft.worker.context import DEVICE
from weft.worker.space import NO_ROOM
from weft.worker.supervisor import become_unreadable

with lazy_imports():
    from weft.runs import rayrun

__all__ = [
    "Policy", "Watcher", "checked_policy", "execute", "new_machine", "real_place", "run",
    "run_search", "seal", "unnoted_place",
]  # fmt: skip

OUTCOME_TOKEN = "outcome_token"  # noqa: S105 - its name
DISK_TROUBLE = (*NO_ROOM, errno.EIO)
"""Errors that are the disk's, not those of the path that was asked for."""


def run(
    search: SearchCall,
    *,
    out: str | Path,
    seed: int = 0,
    inputs: Mapping[str, str | Path | bytes] | None = None,
    budget: Mapping[str, int] | None = None,
    retries: int = 0,
    timeout_s: float | None = None,
    strict: bool = False,
    workers: int | None = None,
    backend: str = "local",
    nodes: Sequence[Node] = (),
    placement: str = "greedy",
    group_cap: int | None = None,
    accept: Sequence[str] = (),
    wall_limit_s: float | None = None,
    sign_key: str | Path | None = None,
    pause_at: str | None = None,
    tags: Sequence[str] = (),
    quiet: bool = False,
    progress: bool = True,
    watcher: Watcher | None = None,
) -> Run:
    """Run `search`, a call such as `climb(width=3)`, into the folder `out`, or continue it there.

    The options up to `strict` decide the outcome and are bound into the ledger; the same call on
    the same folder resumes, and any other is refused. `workers` and what follows only say how to
    execute it; without a number there is one worker per processor that this process may use.
    All `nodes` are slots of this machine, whatever their names, unless the backend is `ray`: then
    they are nodes of its cluster.
    `pause_at` names a milestone of the search (`yield weft.Milestone(…)`) at which to stop for now.
    `tags` are words of yours that `weft status` shows.
    The first failure is shown on stderr when it happens, and at the end a warning if more than half
    of the tasks failed, which makes the exit code of the run 4; `quiet` shows neither.
    Progress is shown in a terminal and in a notebook, unless `progress` is False, a `watcher` of
    your own takes it, or a build server (CI) runs this.

    What decides: `seed` is what the seeds of tasks come from. `inputs` are files or bytes by name,
    copied into the run. `budget` holds counts for the search to spend. `retries` and `timeout_s`
    apply to tasks that declare none of their own. With `strict` a failed task ends the search
    that asked for it.

    How it is executed: `workers` is the number of processes, `backend` one of `local`, `serial` and
    `ray`, `placement` one of `greedy` and `static`. `group_cap` limits how many tasks of one group
    run at a time, `wall_limit_s` interrupts the run after so many seconds. `accept` names what to
    go on with all the same: `code`, `copy`, `rollback`. `sign_key` is a file with an Ed25519 key
    that signs the checkpoint; `watcher` is called with progress.

    Returns the finished run. Raises `weft.errors.Interrupted` when stopped on request, its
    kind `Paused` at `pause_at`, and other `WeftError`s as their docstrings say.
    """
    check_search(search)
    execution = Execution(
        Path(out), workers, backend, tuple(accept), wall_limit_s,
        Path(sign_key) if sign_key else None, tuple(nodes), placement, group_cap,
        pause_at=pause_at, tags=tuple(tags), notices=not quiet,
    )  # fmt: skip
    policy = checked_policy(retries, timeout_s, strict)
    with interruptible(execution.out), showing(progress and watcher is None) as display:
        done = run_search(
            search, execution, seed=seed, inputs=inputs, budget=budget, policy=policy,
            watcher=watcher or display,
        )  # fmt: skip
    if done.mostly_failed and not quiet:
        notices.show(notices.warning_line(done))
    return done


def run_search(
    search: SearchCall,
    execution: Execution,
    *,
    seed: int = 0,
    inputs: Mapping[str, str | Path | bytes] | None = None,
    budget: Mapping[str, int] | None = None,
    policy: Policy | None = None,
    watcher: Watcher | None = None,
) -> Run:
    """Run a search as `execution` says: `run` for callers that have one."""
    search = as_stored(search)
    sources = {n: s if isinstance(s, bytes) else Path(s) for n, s in (inputs or {}).items()}
    data = read_inputs(sources)
    counts = Budget(dict(budget or {}))
    decision = Decision(normalized(search), seed, digests(data), counts, policy or Policy())
    return execute(decision, execution, data, watcher)


def checked_policy(retries: int, timeout_s: float | None, strict: bool) -> Policy:
    """Return the limits, refused when they make no sense."""
    if not 0 <= retries <= 100:
        raise UsageError(f"--retries must be 0 to 100, not {retries}")
    if timeout_s is not None and not 0 < timeout_s < float("inf"):
        raise UsageError(f"--timeout must be above 0 seconds, not {timeout_s}")
    return Policy(retries, None if timeout_s is None else float(timeout_s), strict)


def execute(
    decision: Decision,
    execution: Execution,
    inputs: Mapping[str, bytes | Path],
    watcher: Watcher | None = None,
    place: Place | None = None,
    recall: Recall | None = None,
) -> Run:
    """Create or open the run's folder and run it to its end; `recall` answers commands."""
    with _joined(execution) as cluster:
        placement = placement_of(execution, cluster)
        return _execute(
            decision, execution, inputs, watcher, place or real_place(), recall, placement
        )


@contextmanager
def _joined(execution: Execution) -> Iterator[Sequence[Node]]:
    """Be part of the Ray cluster of a run that has one and is not finished; give its nodes."""
    if execution.backend != "ray" or is_over(RunFolder(execution.out), execution.sign_key):
        yield execution.nodes
        return
    with rayrun.joined(execution.ray_address, execution.nodes, execution.workers) as cluster:
        yield cluster.nodes


def _execute(
    decision: Decision,
    execution: Execution,
    inputs: Mapping[str, bytes | Path],
    watcher: Watcher | None,
    place: Place,
    recall: Recall | None,
    placement: Placement,
) -> Run:
    folder, store = RunFolder(execution.out), GatheredBytes()
    genesis = decision.genesis_text(store)
    inputs = {**inputs, **store.objects}
    sign = signer(execution.sign_key, decision.call.name)
    with _path_named(folder):
        runs_commands = recall is None and not is_over(folder, execution.sign_key)
    isolation = _isolation(decision, execution, folder, runs_commands=runs_commands)
    _make_folder(folder, place.disk, decision.call)
    if is_over(folder, execution.sign_key):  # answered without a lock: nothing is written
        return read_outcome(folder, genesis)
    check_loaded(decision.call)
    with _storage_named(folder.path), folder.locked(place.host):
        if is_over(folder, execution.sign_key):
            return read_outcome(folder, genesis)
        slots = len(placement.slots)
        try:
            opened = _open(folder, decision, execution, genesis, inputs, place, slots)
        except (RunCopied, CodeChanged):
            if execution.sign_key or not folder.is_finished():
                raise
            return read_outcome(folder, genesis)  # only file modes were left to set
        opened.writer.sign = sign
        try:
            warm_up_for(decision.call.name, watcher)
            return _run_open(opened, decision, execution, watcher, placement, recall, isolation)
        finally:
            opened.writer.ledger.close()
            opened.manifest.close()


def _isolation(
    decision: Decision, execution: Execution, folder: RunFolder, *, runs_commands: bool
) -> SessionIsolation:
    """Find out how commands are confined, and say so where they are not."""
    isolation = session_isolation(decision, execution, folder, runs_commands=runs_commands)
    if isolation.needs.variables and runs_commands:
        become_unreadable()  # our own environment has their values
    if isolation.warning:
        notices.show(f"warning: {isolation.warning}")
    return isolation


def real_place() -> Place:
    """Return the real disk, host and heads list."""
    disk = Disk()
    return Place(disk, host.host_name(), HeadsList(world.heads_folder(), disk))


def unnoted_place() -> Place:
    """Return the real disk and host without a heads list, for runs in temporary folders."""
    disk = Disk()
    return Place(disk, host.host_name(), HeadsList(None, disk))


def _make_folder(folder: RunFolder, disk: Disk, search: SearchCall) -> None:
    """Make the folder of a new run."""
    with _path_named(folder):
        if not folder.is_run():
            folder.check_free()
            check_loaded(search)
            disk.make_folder(folder.path)


@contextmanager
def _path_named(folder: RunFolder) -> Iterator[None]:
    """Say in one line that a path cannot be a run's folder: it is the caller's input."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        if getattr(error, "errno", None) in DISK_TROUBLE:
            raise StorageFailed(f"{folder.path}: {reason}", hint="free some space") from error
        raise RunFolderInvalid(
            f"{str(folder.path)[:200]!r} cannot be a run folder: {reason}",
            hint="choose another --out",
        ) from None


def _open(
    folder: RunFolder,
    decision: Decision,
    execution: Execution,
    genesis: str,
    inputs: Mapping[str, bytes | Path],
    place: Place,
    slots: int,
) -> OpenRun:
    call = decision.call
    code = sources_for(package_of(call.import_path))
    if folder.is_run():
        new_id = world.new_run_id()
        return reopen_run(folder, genesis, inputs, execution.accept, place, new_id, code)
    run_file = RunFile(
        run_id=world.new_run_id(),
        search=call.name,
        search_path=search_folder(own_import(call), folder.path),
        imports=dict(call.code),
        execution=remembered(execution, slots),
    )
    opened = create_run(folder, run_file, genesis, inputs, place, code)
    if decision.retry is not None:
        opened.events.append(("retry", decision.retry.describe()))
    return opened


def _run_open(
    opened: OpenRun,
    decision: Decision,
    execution: Execution,
    watcher: Watcher | None,
    placement: Placement,
    recall: Recall | None,
    isolation: SessionIsolation,
) -> Run:
    clock = world.RealClock()
    journal = Journal(opened.manifest, opened.objects, clock, _source_book(opened))
    for kind, detail in opened.events:
        journal.event(kind, detail)
    isolation.note(journal.event)
    journal.sources.use(decision.call.name, decision.call.import_path)
    if any(kind == "rollback-accepted" for kind, _ in opened.events):
        journal.commit()
        opened.writer.checkpoint(clock.wall(), restart=True)
    pause_at = execution.pause_at
    machine = new_machine(opened, decision, journal, placement=placement, pause_at=pause_at)
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
        error.hint = _once_fixed(error.hint, execution.out)
        raise
    finally:
        backend.close()
        reserve.release()
    if machine.paused:
        raise Paused(
            f"paused before {pause_at!r}, after {machine.counts().finished} tasks",
            hint=f"weft resume {shlex.quote(str(execution.out))}",
        )
    if not finished:
        raise _interrupted(machine, execution.out)
    seal(opened, clock.wall())
    return read_outcome(opened.folder, opened.manifest.genesis)


@contextmanager
def _answering(
    backend: Backend, opened: OpenRun, decision: Decision, recall: Recall | None
) -> Iterator[Backend]:
    """Let the record answer where it shall: commands of a replay, what a retry reuses.

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


def _once_fixed(step: str, out: Path) -> str:
    """Say how to go on after a fix: the source is another one then, which has to be accepted.

    A run of notebook cells keeps their source, so it would go on with what was not fixed.
    """
    if RunFolder(out).code.is_dir():
        return f"{step or 'fix the cell'}, then run it with another folder as out"
    again = f"weft resume {shlex.quote(str(out))} --accept code"
    return f'{step or "fix the search"}, then: {again} (in Python: accept=["code"])'


def _interrupted(machine: Machine, out: Path) -> Interrupted | StorageFailed:
    """Say why the run stopped before its answer, and how to go on."""
    again = f"weft resume {shlex.quote(str(out))}"
    if machine.exhausted:
        return StorageFailed(
            f"{out}: stopped, {machine.broken}; nothing completed is lost",
            hint=f"free some, or run fewer at a time with --workers, then: {again}",
        )
    if machine.broken:
        return Interrupted(f"interrupted: {machine.broken}", hint=f"fix it, then: {again}")
    done = machine.counts().finished
    return Interrupted(f"interrupted after {done} tasks; nothing completed is lost", hint=again)


def new_machine(
    opened: OpenRun,
    decision: Decision,
    journal: Journal,
    lazy: LazyLimits | None = None,
    placement: Placement | None = None,
    pause_at: str | None = None,
) -> Machine:
    """Return the machine at its beginning; replay brings it to where the run stands."""
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
    """What all processes of this run carry; those of a copy of it carry another mark."""
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
    )
    if execution.backend == "ray":
        return rayrun.ray_backend(opened, slots, setup, journal, execution.stagger_s)
    credit = 1 if execution.backend == "serial" else MAX_CREDIT
    return LocalBackend(setup, slots, credit, execution.stagger_s)


def _outcome_token(opened: OpenRun) -> str:
    """What marks outcome files as this run's own, the same in all its sessions."""
    known = opened.manifest.query("SELECT value FROM meta WHERE name=?", OUTCOME_TOKEN)
    if known:
        return str(known[0][0])
    token = world.new_token()
    opened.manifest.set_meta(OUTCOME_TOKEN, token)  # durable before any command may start
    return token


@contextmanager
def _storage_named(path: Path) -> Iterator[None]:
    """Say a full or broken disk in one line; what was completed before is safe."""
    hint = f"free space or fix the disk, then: weft resume {shlex.quote(str(path))}"
    try:
        yield
    except OSError as error:
        short = "short of space: " if error.errno in NO_ROOM else ""
        raise StorageFailed(f"{path}: {short}{error.strerror or error}", hint=hint) from error
    except sqlite3.OperationalError as error:
        short = "short of space: " if "is full" in str(error) else ""
        raise StorageFailed(f"{path}: {short}manifest.sqlite: {error}", hint=hint) from error
    except sqlite3.DatabaseError as error:
        hint = f"weft verify {shlex.quote(str(path))}"
        raise ManifestDamaged(f"{path}/manifest.sqlite: {error}", hint=hint) from error
