"""Load tree runs: the history, rebuilt from the records by the search itself, and timing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from weft.errors import InputError, RunFolderInvalid
from weft.inspect.report.view import RunView, ViewedTask, view_of
from weft.inspect.verify import verify
from weft.model.codec import Table, from_json
from weft.model.plan import Plan
from weft.model.results import Result, TaskError
from weft.model.tasks import Round
from weft.model.values import Object, encode, from_wire
from weft.runs.run import real_place
from weft.searches.tree.answer import best_of
from weft.searches.tree.config import JUDGING, TreeConfig
from weft.searches.tree.history import TreeHistory, TreeNode
from weft.searches.tree.isolation import isolation_notes
from weft.searches.tree.memory import Turn, parse
from weft.searches.tree.recordings import (
    ImportedRun,
    RecordingKey,
    Recordings,
    check_comparable,
    completed_evals,
    objects_in,
)
from weft.searches.tree.results import BY_STAGE, StageOutcome
from weft.searches.tree.resultsource import result_notes
from weft.searches.tree.rules import add_import_folder
from weft.searches.tree.search import NAME, Search, SearchArgs, search_tree
from weft.searches.tree.stageargs import StageId

ENDED_EARLY = ("dropped", "cancelled")
"""States of tasks after an early stop."""


@dataclass(frozen=True, slots=True)
class LiveStage:
    """What is already known of a stage in an incomplete round."""

    stage: str
    state: str
    score: str | None
    started_at: float | None
    key: str


@dataclass(slots=True)
class Timing:
    """Measurements of an eval over all attempts of all stages; never part of a decision."""

    attempts: int = 0
    attempts_by_stage: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    cpu_s: float = 0.0
    peak_bytes: int = 0
    queued_at: float | None = None
    started_at: float | None = None
    finished_at: float | None = None
    task_state: str = "queued"
    """State of its last stage, which the following fields describe too."""
    worker_pid: int | None = None
    worker_started: float | None = None
    node: str | None = None
    gpu: int | None = None
    attempt: int = 0
    approved_by: str | None = None
    """The person who approved or rejected it, if one was asked."""
    approved_at: float | None = None


@dataclass(slots=True)
class TreeRun:
    """A run: its decisions and its timing."""

    config: TreeConfig
    history: TreeHistory
    timing: dict[int, Timing]
    inputs: Mapping[str, str]
    imported_from: str = ""
    """Head of the run whose completed evals were imported."""
    live: Mapping[int, LiveStage] = field(default_factory=dict)
    """Stages of the current round, by eval."""
    unconfined: bool = False
    """Whether a judging command ran without a sandbox."""

    def score_notes(self) -> list[str]:
        """Return caveats about the origin of the scores; usually none."""
        return result_notes(self.config) + self.isolation_notes()

    def isolation_notes(self) -> list[str]:
        """Return a note with the reason if scores are not isolated; usually none."""
        return isolation_notes(self.config, self.unconfined)


def load_run(run: RunView) -> TreeRun:
    """Rebuild the history of a run from its complete rounds."""
    genesis = run.genesis()
    if folder := run.execution().get("folder"):
        add_import_folder(run.path / folder)
    args = from_json(SearchArgs, from_wire(genesis["config"]["args"]))
    inputs = {name: Object(digest) for name, digest in genesis["inputs"].items()}
    timing: dict[int, Timing] = {}
    history = TreeHistory()
    steps = search_tree(args, inputs, history)
    unconfined: list[str] = []
    tasks = _timed(run.tasks(), timing, _failed_seconds(run), unconfined)
    under_way = _drive(steps, groupby(tasks, key=lambda task: task.round))
    head = args.imported.head if args.imported else ""
    live = {number: stage for number, stage in map(_live, under_way) if number is not None}
    digests = genesis["inputs"]
    return TreeRun(args.config, history, timing, digests, head, live, bool(unconfined))


def load_tree_run(run: Path) -> TreeRun:
    """Load a run; raises InputError if it is not a tree run."""
    return load_run(view_of(run, NAME, "tree"))


def node_of(tree_run: TreeRun, name: str | None, run: Path) -> TreeNode:
    """Return a node by name, or the best one without a name; raises InputError if there is none."""
    if not tree_run.history.scored_roots():
        raise RunFolderInvalid(f"{run} has no scored root yet", hint=f"weft resume {run}")
    if name is None:
        return best_of(tree_run.config, tree_run.history)
    for node in tree_run.history.nodes:
        if node.name == name:
            return node
    raise InputError(
        f"{run} has no node {name!r:.40}",
        hint=f"nodes are n0 to n{len(tree_run.history.nodes) - 1}",
    )


def turns_of(run: Path, name: str) -> list[Turn]:
    """Return all turns on the path to a node; raises InputError if there is no such node."""
    node, view = node_of(load_tree_run(run), name, run), RunView(run, NAME)
    return [turn for reference in node.turns for turn in parse(view.read(reference))]


def failure_reason(view: RunView, key: str = "") -> str:
    """Return in one line why a task failed; without a key, the first task that failed.

    For a refused result, the reason is the first line of the last attempt's detail; for a failed
    command, it is the last line printed.
    """
    attempts = [a for a in view.attempts() if a.outcome == "failed" and key in ("", a.key)]
    if not attempts:
        return "it printed nothing"
    last = [attempt for attempt in attempts if attempt.key == attempts[0].key][-1]
    is_refusal = last.reason in BY_STAGE.values()
    texts = [last.detail] if is_refusal else [last.detail, view.log_tail(last.key, 4000)]
    lines = [line.strip() for text in texts for line in text.splitlines() if line.strip()]
    return lines[0 if is_refusal else -1][:300] if lines else "it printed nothing"


def root_failure(run: Path, history: TreeHistory) -> str:
    """Return why the root could not be scored: type, exit code, reason; empty if it could."""
    error = history.root_error
    if error is None:
        return ""
    code = "" if error.exit_code is None else f", exit code {error.exit_code}"
    return f"{error.type}{code}: {failure_reason(RunView(run, NAME), history.root_key)}"


# -- from the records ---------------------------------------------------------------------------


def _drive(steps: Search, rounds: Iterable[tuple[int, Iterable[ViewedTask]]]) -> list[ViewedTask]:
    """Feed complete recorded rounds to the search; return the tasks of the first incomplete one."""
    try:
        planned = _next_round(steps, None)
        for _, group in rounds:
            tasks = list(group)
            results = list(_results(tasks))
            whole = len(results) == len(planned.tasks)
            if not whole and not any(t.state in ENDED_EARLY for t in tasks):
                return tasks
            planned = _next_round(steps, results)
    except StopIteration:
        pass
    return []


def _next_round(steps: Search, results: Sequence[Result] | None) -> Round:
    """Send results and return the next round; skip plans, which are for watchers of a run."""
    step = next(steps) if results is None else steps.send(results)
    while isinstance(step, Plan):
        step = next(steps)
    return step


def _live(task: ViewedTask) -> tuple[int | None, LiveStage]:
    value = task.value if isinstance(task.value, dict) else {}
    name, score = stage_id_of(task), value.get("score")
    known = LiveStage(
        name.stage, task.state, None if score is None else str(score), task.started_at, task.key
    )
    return name.eval_id, known


def _failed_seconds(run: RunView) -> dict[str, float]:
    """Return the seconds of requeued attempts, by task key."""
    seconds: dict[str, float] = {}
    for attempt in run.attempts():
        if attempt.outcome == "requeued":
            seconds[attempt.key] = seconds.get(attempt.key, 0.0) + (attempt.seconds or 0.0)
    return seconds


def _timed(
    tasks: Iterable[ViewedTask],
    timing: dict[int, Timing],
    earlier_s: Mapping[str, float],
    unconfined: list[str],
) -> Iterator[ViewedTask]:
    """Yield tasks unchanged, recording their timing, and keys of those run without a sandbox."""
    for task in tasks:
        name = stage_id_of(task)
        if name.stage in JUDGING and task.notes.get("sandbox") == "none":
            unconfined.append(task.key)
        if name.eval_id is not None:
            own = timing.setdefault(name.eval_id, Timing())
            _time(own, name.stage, task, earlier_s.get(task.key, 0.0))
        yield task


def _results(tasks: list[ViewedTask]) -> Iterator[Result]:
    for task in sorted(tasks, key=lambda t: t.index):
        if task.state not in ("completed", "failed"):
            return
        error = None if task.error is None else from_json(TaskError, task.error)
        value = None if error is not None else encode(task.value)
        yield Result(task.index, task.key, task.function, encode(task.args), value, error)


def stage_args_of(task: ViewedTask) -> Table:
    """Return the arguments of a stage, whether or not it runs a command."""
    args: Table = task.args.get("asked") or task.args["args"]
    return args


def stage_id_of(task: ViewedTask) -> StageId:
    """Return the id of the stage that a task executes."""
    return from_json(StageId, stage_args_of(task))


def _time(own: Timing, stage: str, task: ViewedTask, earlier_s: float) -> None:
    attempts = max(1, task.attempt) if task.started_at else 0
    own.attempts += attempts
    if attempts:
        own.attempts_by_stage[stage] = own.attempts_by_stage.get(stage, 0) + attempts
    own.seconds += (task.run_s or 0.0) + earlier_s
    own.approved_by = task.notes.get("approved_by", own.approved_by)
    own.approved_at = task.notes.get("approved_at", own.approved_at)
    own.cpu_s += task.notes.get("cpu_s", 0.0)
    own.peak_bytes = max(own.peak_bytes, int(task.notes.get("peak_bytes", 0)))
    own.queued_at = own.queued_at or task.queued_at
    own.started_at = own.started_at or task.started_at
    own.finished_at = task.finished_at or own.finished_at
    own.task_state, own.attempt, own.node, own.gpu = task.state, task.attempt, task.node, task.gpu
    own.worker_pid, own.worker_started = task.worker_pid, task.worker_started


# -- for a new run -------------------------------------------------------------------------------


def read_recordings(run: Path | None, config: Path) -> tuple[Recordings, dict[str, bytes]]:
    """Return the recordings of the run named by a config, and the objects they refer to."""
    if run is None:
        return {}, {}
    try:
        view = view_of(run, NAME, "tree")
    except InputError as error:
        raise InputError(f"{config}: recorded_from: {error.message}", hint=error.hint) from None
    recordings = _recordings_of((task, stage_args_of(task)) for task in view.tasks())
    references = objects_in({key: outcome.value for key, outcome in recordings.items()})
    return recordings, {f"recorded/{o.digest}": view.read(o) for o in references}


def _recordings_of(tasks: Iterable[tuple[ViewedTask, Table]]) -> Recordings:
    """Collect outcomes from pairs of tasks and arguments; for equal keys, the first wins."""
    entries: dict[str, StageOutcome] = {}
    for recorded, args in tasks:
        key = RecordingKey.of_args(args)
        if key is not None and recorded.state in ("completed", "failed"):
            error = None if recorded.error is None else from_json(TaskError, recorded.error)
            outcome = StageOutcome(None if error else recorded.value, error)
            for text in list(key.texts())[: None if error is None else 1]:
                entries.setdefault(text, outcome)
    return entries


def read_past(run: Path | None, config: TreeConfig) -> tuple[ImportedRun | None, dict[str, bytes]]:
    """Return a run's head with its completed evals, and the objects they refer to.

    Raises Damaged if the run does not verify, and InputError if its scores are not comparable
    with those of the new run.
    """
    if run is None:
        return None, {}
    tree_run, view = load_tree_run(run), RunView(run, NAME)
    check_comparable(tree_run.config, config, str(run))
    verdict = verify(run, real_place().heads)
    past = ImportedRun(verdict.root, verdict.size, completed_evals(tree_run.history))
    return past, {f"imported/{o.digest}": view.read(o) for o in past.objects()}
