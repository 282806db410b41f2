"""`weft tree` put together: carry a request out, tell of the run, compare it with another."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.coordinator.loop import Watcher
from weft.model.tasks import Unknown
from weft.readers.diff import Difference, diff
from weft.report.view import RunView
from weft.storage.folder import RunFolder
from weft.tree.evals import eval_records, node_records
from weft.tree.search import NAME, Growth
from weft.tree.story import Node, Story
from weft.tree.summary import graph, summary
from weft.tree.view import TreeSeen
from weft.wiring.outcome import Run
from weft.wiring.replay import CommandRecord
from weft.wiring.request import Execution
from weft.wiring.run import carry_out, unnoted_place
from weft.wiring.treecheck import write_report
from weft.wiring.treekeep import FAILED, REJECTED, keep_rejected, name_commits
from weft.wiring.treepast import seen_of
from weft.wiring.treerequest import TreeRequest
from weft.wiring.treesources import AREA, note_ideas

__all__ = ["FAILED", "REJECTED", "seen_of"]


def plan_first(request: TreeRequest) -> Story:
    """Plan the evals of the first depth as the run would; runs nothing."""
    story = Story(nodes=[Node(0, request.root.commit, request.root.tree, 0, (), {})])
    Growth(request.plot, request.ideas, {}, story).plan(1, story.nodes)
    return story


def most_evals(request: TreeRequest, story: Story) -> int:
    """Return how many evals a search may have, given the plan of its first depth."""
    plot = request.plot
    if plot.proposes():  # nobody knows how many ideas will be made
        return plot.max_total_evals
    wide = min(plot.ideas_per_node, len(request.ideas)) * plot.beam_width
    return min(plot.max_total_evals, len(story.evals) + wide * (plot.max_depth - 1))


def carry_out_tree(
    request: TreeRequest, out: Path, watcher: Watcher | None = None, **more: Any
) -> Run:
    """Run a search into a folder, or go on with it; then write its summary beside the ledger."""
    done = carry_out(
        request.decision(), request.execution(out, **more), dict(request.inputs), watcher
    )
    write_summary(done.out)
    write_report(request, done.out, seen_of(done.out).story)
    return done


def write_summary(run: Path) -> None:
    """Write TREE_SUMMARY.md and TREE_GRAPH.md of a run, name its commits, keep what was asked."""
    seen = seen_of(run)
    name_commits(run, seen)
    if REJECTED in RunFolder(run).read_run_file().execution.get("keep", ()):
        keep_rejected(run, seen)
    area = RunFolder(run).read_run_file().execution.get("labels", {}).get(AREA)
    if area is not None and not seen.plot.dry_run:
        note_ideas(run, seen, area)
    (run / "TREE_SUMMARY.md").write_text(summary(seen), "utf-8")
    (run / "TREE_GRAPH.md").write_text(graph(seen), "utf-8")


def records_of(run: Path, seen: TreeSeen) -> dict[str, Any]:
    """Return the evals and nodes of a run as `--json` shows them."""
    return {"evals": eval_records(RunView(run, NAME), seen), "nodes": node_records(seen)}


def exit_code(done: Run) -> int:
    """0 with a promoted node better than the root · 1 without · 4 strict or nothing completed."""
    if not isinstance(done.answer, Unknown):
        return 0
    return 4 if done.answer.reason == "incomplete" else 1


# -- parity -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parity:
    """Whether another number of workers leads to the same ledger."""

    workers: int
    other_head: str
    recorded: bool
    """Commands were answered from the record, since they need not be deterministic."""
    difference: Difference | None

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        found = self.difference
        return {
            "equal": found is None,
            "other_workers": self.workers,
            "other_head": self.other_head,
            "commands": "recorded" if self.recorded else "run again",
            "difference": None if found is None else found.to_dict(),
        }


def check_parity(request: TreeRequest, done: Run, watcher: Watcher | None = None) -> Parity:
    """Run a finished search again with another number of workers and compare the ledgers."""
    workers = 1 if request.file.max_parallel_evals > 1 else 2
    with tempfile.TemporaryDirectory(prefix="weft-parity-") as place:
        out = Path(place) / "run"
        recorded = not request.file.deterministic
        recall = CommandRecord(RunFolder(done.out), RunFolder(out)).recall if recorded else None
        execution = Execution(out, workers, "local", base=request.base)
        decision, inputs = request.decision(), dict(request.inputs)
        again = carry_out(decision, execution, inputs, watcher, unnoted_place(), recall)
        return Parity(workers, again.head, recorded, diff(done.out, out))
