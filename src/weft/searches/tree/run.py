"""Execute the request of a tree run, write its summary, and check its parity."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from weft.inspect.diff import Difference, diff
from weft.inspect.replay import CommandRecord
from weft.inspect.report.view import RunView
from weft.model.tasks import Unknown
from weft.model.values import JsonValue
from weft.runs.execution import Execution
from weft.runs.outcome import Run
from weft.runs.run import Watcher, execute, unnoted_place
from weft.searches.tree.checks import write_report
from weft.searches.tree.export import REJECTED, keep_rejected, name_commits
from weft.searches.tree.follow import follow_run, write_pages
from weft.searches.tree.history import TreeHistory, TreeNode
from weft.searches.tree.ideaindex import AREA, note_ideas
from weft.searches.tree.load import TreeRun, load_tree_run
from weft.searches.tree.request import TreeRequest
from weft.searches.tree.search import NAME, TreeState

__all__ = ["load_tree_run"]


def plan_first(request: TreeRequest) -> TreeHistory:
    """Plan the evals of the first depth as the run would, without running anything."""
    roots = enumerate(request.args.roots)
    history = TreeHistory(nodes=[TreeNode(n, root.commit, root.tree, 0, ()) for n, root in roots])
    TreeState(request.args, {}, history).planner.plan(1, history.nodes)
    return history


def most_evals(request: TreeRequest, history: TreeHistory) -> int:
    """Return the maximum number of evals of a search, given the plan of its first depth."""
    config = request.config
    if config.proposes():  # the number of generated ideas is unknown
        return config.max_total_evals
    wide = min(config.ideas_per_node, len(request.args.ideas)) * config.beam_width
    return min(config.max_total_evals, len(history.evals) + wide * (config.max_depth - 1))


def execute_tree(
    request: TreeRequest,
    execution: Execution,
    watcher: Watcher | None = None,
    events: Path | None = None,
) -> Run:
    """Run or continue a search; write its summary beside the ledger after every depth.

    `events` is a file to which events are appended as they occur.
    """
    execution = request.execution(execution)
    follower = follow_run(execution.out, watcher, events)
    try:
        result = execute(request.decision(), execution, dict(request.inputs), follower)
    except BaseException:
        follower.close()
        raise
    tree_run = load_tree_run(result.out)  # only once, since it replays all decisions
    follower.write_events(tree_run)
    _write_files(result.out, tree_run)
    write_report(request, result.out, tree_run.history)
    return result


def write_summary(run: Path) -> None:
    """Write a run's TREE_SUMMARY.md, TREE_GRAPH.md and refs, and rejected evals if requested."""
    _write_files(run, load_tree_run(run))


def _write_files(run: Path, tree_run: TreeRun) -> None:
    name_commits(run, tree_run)
    view = RunView(run, NAME)
    if REJECTED in view.execution().get("keep", ()):
        keep_rejected(run, tree_run)
    area = view.labels().get(AREA)
    if area is not None and not tree_run.config.dry_run:
        note_ideas(run, tree_run, area)
    write_pages(run, tree_run)


def exit_code(done: Run) -> int:
    """Return 0 if a promoted node beats the root, 4 if strict or nothing completed, else 1."""
    if not isinstance(done.answer, Unknown):
        return 0
    return 4 if done.answer.reason == "incomplete" else 1


# -- parity -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parity:
    """Whether a different number of workers gives the same ledger."""

    workers: int
    other_head: str
    recorded: bool
    """Whether recorded outputs replaced the commands, which need not be deterministic."""
    difference: Difference | None

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON form."""
        difference = self.difference
        return {
            "equal": difference is None,
            "other_workers": self.workers,
            "other_head": self.other_head,
            "commands": "recorded" if self.recorded else "run again",
            "difference": None if difference is None else difference.to_dict(),
        }


def check_parity(request: TreeRequest, done: Run, watcher: Watcher | None = None) -> Parity:
    """Run a finished search again with a different number of workers and compare the ledgers."""
    workers = 1 if request.file.max_parallel_evals > 1 else 2
    with tempfile.TemporaryDirectory(prefix="weft-parity-") as place:
        out = Path(place) / "run"
        recorded = not request.file.deterministic
        recall = CommandRecord(done.out, out).recall if recorded else None
        execution = Execution(out, workers, "local", base=request.base)
        decision, inputs = request.decision(), dict(request.inputs)
        repeated = execute(decision, execution, inputs, watcher, unnoted_place(), recall)
        return Parity(workers, repeated.head, recorded, diff(done.out, out))
