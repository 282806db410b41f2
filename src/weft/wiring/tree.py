"""`weft tree` put together: read config, repository and ideas, carry the run out, tell of it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weft.coordinator.loop import Watcher
from weft.errors import InputError
from weft.model.tasks import Budget, SearchCall, Unknown
from weft.readers.diff import Difference, diff
from weft.report.view import RunView
from weft.storage.folder import RunFolder
from weft.tree.evals import eval_records, node_records
from weft.tree.plot import Idea, Plot, Root
from weft.tree.plotfile import TreeFile, read_plotfile
from weft.tree.rules import load, look_in
from weft.tree.search import NAME, Growth, tree
from weft.tree.story import Node, Story
from weft.tree.summary import graph, summary
from weft.tree.view import TreeSeen
from weft.wiring import world
from weft.wiring.outcome import Run
from weft.wiring.replay import CommandRecord
from weft.wiring.request import Decision, Execution, digests
from weft.wiring.run import carry_out, checked_policy, unnoted_place
from weft.wiring.treecheck import write_report
from weft.wiring.treekeep import FAILED, REJECTED, keep_rejected, name_commits
from weft.wiring.treepast import read_past, seen_of
from weft.wiring.treerepo import (
    git_named,
    read_files,
    read_repository,
)
from weft.wiring.treesources import AREA, below, note_ideas, read_ideas, read_index, read_recordings

__all__ = ["FAILED", "REJECTED", "seen_of"]


@dataclass(frozen=True, slots=True)
class TreeRequest:
    """A search that can run: checked, with its inputs read."""

    file: TreeFile
    plot: Plot
    ideas: tuple[Idea, ...]
    root: Root
    inputs: Mapping[str, bytes]
    recorded: Mapping[str, Any]
    """What commands of an earlier run made, by key."""
    imported: Mapping[str, Any] | None
    """Completed evals of an earlier run, with its head."""
    base: Path
    """The config's folder, which commands know as `{work_dir}`."""

    def call(self) -> SearchCall:
        """Return the search to run."""
        said = [idea.to_dict() for idea in self.ideas]
        return tree(
            plot=self.plot.to_dict(), ideas=said, root=self.root.to_dict(),
            recorded=dict(self.recorded), imported=self.imported,
        )  # fmt: skip

    def decision(self) -> Decision:
        """Return all that decides the outcome."""
        policy = checked_policy(self.plot.eval_retries, None, False)
        names = digests(self.inputs)
        return Decision(self.call(), self.file.seed, names, Budget(), policy)

    def execution(self, out: Path, **more: Any) -> Execution:
        """Return how it is carried out."""
        file = self.file
        named = file.parallel_backend
        backend = "local" if named == "threadpool" else named
        return Execution(
            out, file.max_parallel_evals, backend, group_cap=file.max_parallel_per_node,
            base=self.base, labels={} if file.area is None else {AREA: file.area}, **more,
        )  # fmt: skip


def read_request(
    path: Path,
    given: Mapping[str, Any],
    *,
    out: Path | None = None,
    dry_run: bool = False,
    import_from: Path | None = None,
) -> TreeRequest:
    """Read a config and everything it names; raises InputErrors naming file and field.

    A run that is begun in `out` keeps the index of ideas that it took in.
    """
    file = read_plotfile(path, given)
    base = path.absolute().parent
    with git_named(path):
        if file.repo is not None:
            taken = read_repository(below(base, file.repo, path, "repo"), file.revision)
        else:
            taken = read_files(below(base, file.files or "", path, "files"))
    ideas = read_ideas(file, base, path)
    recorded, objects = read_recordings(file, base, path)
    plot = _with_sources(file.to_plot(dry_run=dry_run), base, path)
    if not dry_run:
        _check_programs(plot, path)
        _check_variables(plot, path)
    imported, past = read_past(import_from, plot)
    inputs = {"root": taken.stream, "root-commit": taken.commit}
    inputs |= {f"idea/{idea.name}": data for idea, data in ideas}
    inputs |= objects | past | read_index(file, out)
    own = tuple(idea for idea, _ in ideas)
    return TreeRequest(file, plot, own, taken.root, inputs, recorded, imported, base)


def _with_sources(plot: Plot, base: Path, path: Path) -> Plot:
    """Bind the source of a gate or a rank of the user's own, found beside the config."""
    found: dict[str, Any] = {}
    for field in ("gate", "rank"):
        if name := getattr(plot, field):
            look_in(base)
            try:
                found[f"{field}_source"] = load(name)[1]
            except InputError as error:
                raise InputError(f"{path}: {field}: {error.message}", hint=error.hint) from None
    return replace(plot, **found)


def _check_programs(plot: Plot, path: Path) -> None:
    """Refuse a command whose program is nowhere, before anything is created."""
    for name, stage in sorted(plot.stages.items()):
        program = stage.argv[0] if stage.argv and not stage.recorded else "{python}"
        if "{" in program or ("/" in program and not program.startswith("/")):
            continue  # known on the slot only, or a file of the repository
        if shutil.which(program) is None:
            raise InputError(f"{path}: {name}.argv: there is no program {program!r:.80}")


def _check_variables(plot: Plot, path: Path) -> None:
    """Refuse a command that asks for a variable that is not there."""
    ours = world.worker_environment()
    for name, stage in sorted(plot.stages.items()):
        for variable in () if stage.recorded else stage.env_from:
            if variable not in ours:
                raise InputError(f"{path}: {name}.env_from: the variable {variable} is not set")


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
