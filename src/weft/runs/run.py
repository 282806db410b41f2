"""Runs a search from start to answer: creates or opens its folder, then runs a session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from weft.backends.recorded import Recall
from weft.cells.stored import as_stored, sources_for
from weft.cluster import host
from weft.coordinator.loop import Watcher
from weft.coordinator.placement import Placement
from weft.coordinator.policy import Policy
from weft.errors import CodeChanged, OptionInvalid, RunCopied
from weft.lazy_imports import lazy_imports
from weft.model.leaves import GatheredBytes
from weft.model.slots import Node
from weft.model.tasks import Budget, SearchCall
from weft.runs import arguments, notices, world
from weft.runs.decision import Decision, check_search, digests, normalized, read_inputs
from weft.runs.diskerrors import path_named, storage_named
from weft.runs.display import showing
from weft.runs.execution import Execution, placement_of
from weft.runs.interruption import interruptible
from weft.runs.isolation import SessionIsolation, session_isolation
from weft.runs.linehelper import lines_made_elsewhere
from weft.runs.mainguard import check_guarded
from weft.runs.opening import OpenRun, Place, create_run, reopen_run
from weft.runs.outcome import Run, read_outcome
from weft.runs.remember import remembered
from weft.runs.sealing import is_over, signer
from weft.runs.session import run_session
from weft.runs.sources import check_loaded, own_import, package_of, search_folder
from weft.runs.warmup import warm_up_for
from weft.storage.disk import Disk
from weft.storage.folder import RunFile, RunFolder
from weft.storage.heads import HeadsList
from weft.worker.processtree import become_unreadable

with lazy_imports():
    from weft.runs import rayrun

__all__ = [
    "Policy", "Watcher", "checked_policy", "execute", "real_place", "run", "run_search",
    "unnoted_place",
]  # fmt: skip


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
    """Run `search`, a call such as `climb(width=3)`, in the folder `out`, or continue it there.

    The options up to `strict` determine the outcome and are recorded in the ledger: the same call
    on the same folder resumes, a different one is refused. The others only control execution.

    Outcome: `seed` is the source of all task seeds. `inputs` are files or bytes by name, copied
    into the run. `budget` holds counts for the search to spend. `retries` and `timeout_s` are
    defaults for tasks that set none. With `strict` a failed task ends its search, as if its value
    had been used.

    Execution: `workers` is the number of processes, by default one per usable core. `backend`
    is `local`, `serial` or `ray`, `placement` is `greedy` or `static`. All `nodes` are slots of
    this machine, unless the backend is `ray`: then they are nodes of its cluster. `group_cap`
    limits how many tasks of one group run at a time, `wall_limit_s` interrupts the run after that
    many seconds, `pause_at` stops it at a milestone (`yield weft.Milestone(…)`). `accept` names
    problems to continue despite: `code`, `copy`, `rollback`, `sandbox`. `sign_key` is a file with
    an Ed25519 key that signs every checkpoint. `tags` are labels shown by `weft status`.

    Output: the first failure is printed to stderr at once, and a warning at the end if more than
    half of the tasks failed (exit code 4); `quiet` silences all warnings. Progress is shown in a
    terminal or notebook, unless `progress` is False, a `watcher` receives it instead, or the code
    runs under CI.

    Returns the finished run. Raises `weft.errors.Interrupted` if stopped on request, its subclass
    `Paused` at `pause_at`, and other `WeftError`s.
    """
    check_search(search)
    check_guarded()
    seed, counts = arguments.whole_number("seed", seed), arguments.counts("budget", budget)
    files = arguments.files("inputs", inputs)
    retries = arguments.whole_number("retries", retries)
    policy = checked_policy(retries, arguments.seconds("timeout_s", timeout_s), strict)
    execution = Execution(
        arguments.path("out", out), arguments.optional_number("workers", workers), backend,
        arguments.words("accept", accept), arguments.seconds("wall_limit_s", wall_limit_s),
        arguments.optional_path("sign_key", sign_key), arguments.machines("nodes", nodes),
        placement, group_cap, pause_at=pause_at, tags=arguments.words("tags", tags),
        notices=not quiet, warnings=not quiet,
    )  # fmt: skip
    with interruptible(execution.out), showing(progress and watcher is None) as display:
        follower = watcher or display
        result = run_search(
            search,
            execution,
            seed=seed,
            inputs=files,
            budget=counts,
            policy=policy,
            watcher=follower,
        )
    if not quiet:
        notices.warn_of_failures(result)
    return result


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
    """Run a search as `execution` specifies: `run` for callers that have one."""
    search = as_stored(search)
    sources = {n: s if isinstance(s, bytes) else Path(s) for n, s in (inputs or {}).items()}
    data = read_inputs(sources)
    counts = Budget(dict(budget or {}))
    decision = Decision(normalized(search), seed, digests(data), counts, policy or Policy())
    return execute(decision, execution, data, watcher)


def checked_policy(retries: int, timeout_s: float | None, strict: bool) -> Policy:
    """Return the policy; raises OptionInvalid for limits that are out of range."""
    if not 0 <= retries <= 100:
        raise OptionInvalid("retries", f"must be 0 to 100, not {retries}")
    if timeout_s is not None and not 0 < timeout_s < float("inf"):
        raise OptionInvalid(
            "timeout_s", f"must be above 0 seconds, not {timeout_s}", flag="--timeout"
        )
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
    """Join the Ray cluster of an unfinished run that uses one; yield the nodes."""
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
    with path_named(folder):
        runs_commands = recall is None and not is_over(folder, execution.sign_key)
    isolation = _isolation(decision, execution, folder, runs_commands=runs_commands)
    _make_folder(folder, place.disk, decision.call)
    if is_over(folder, execution.sign_key):  # answered without a lock: nothing is written
        return read_outcome(folder, genesis)
    check_loaded(decision.call)
    with storage_named(folder.path), folder.locked(place.host):
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
            with lines_made_elsewhere(opened.writer):
                return run_session(
                    opened, decision, execution, watcher, placement, recall, isolation
                )
        finally:
            opened.writer.ledger.close()
            opened.manifest.close()


def _isolation(
    decision: Decision, execution: Execution, folder: RunFolder, *, runs_commands: bool
) -> SessionIsolation:
    """Determine how commands are confined, and warn if they are not."""
    isolation = session_isolation(decision, execution, folder, runs_commands=runs_commands)
    if isolation.needs.variables and runs_commands:
        become_unreadable()  # our own environment has their values
    if isolation.warning and execution.warnings:
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
    """Create the folder of a new run."""
    with path_named(folder):
        if not folder.is_run():
            folder.check_free()
            check_loaded(search)
            disk.make_folder(folder.path)


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
