"""`weft tree` put together: read config, repository and ideas, carry the run out, tell of it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.coordinator.loop import Watcher
from weft.errors import InputError, RunFolderInvalid
from weft.model.tasks import Budget, SearchCall, Unknown
from weft.model.values import Object
from weft.readers.diff import Difference, diff
from weft.report.view import RunView
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.heads import HeadsList
from weft.tree import ideas as idea_files
from weft.tree.plot import Idea, Plot, Root
from weft.tree.plotfile import TreeFile, read_plotfile
from weft.tree.search import NAME, Growth, best_of, tree
from weft.tree.stages import message_of
from weft.tree.story import Node, Story
from weft.tree.summary import graph, summary
from weft.tree.view import TreeSeen, see
from weft.wiring import world
from weft.wiring.opening import Place
from weft.wiring.outcome import Run
from weft.wiring.replay import CommandRecord
from weft.wiring.request import Decision, Execution, digests
from weft.wiring.run import carry_out, checked_policy
from weft.wiring.treerepo import (
    Taken,
    git_named,
    read_files,
    read_repository,
    rebuilt,
    write_branch,
    write_new,
)


@dataclass(frozen=True, slots=True)
class TreeRequest:
    """A search that can run: checked, with its inputs read."""

    file: TreeFile
    plot: Plot
    ideas: tuple[Idea, ...]
    root: Root
    inputs: Mapping[str, bytes]

    def call(self) -> SearchCall:
        """Return the search to run."""
        said = [idea.to_dict() for idea in self.ideas]
        return tree(plot=self.plot.to_dict(), ideas=said, root=self.root.to_dict())

    def decision(self) -> Decision:
        """Return all that decides the outcome."""
        policy = checked_policy(self.plot.eval_retries, None, False)
        names = digests(self.inputs)
        return Decision(self.call(), self.file.seed, names, Budget(), policy)

    def execution(self, out: Path, **more: Any) -> Execution:
        """Return how it is carried out; on nodes, all their slots unless the config says less."""
        file = self.file
        backend = {"threadpool": "local"}.get(file.parallel_backend, file.parallel_backend)
        said = "max_parallel_evals" in file.model_fields_set
        on_nodes = backend == "ray" or bool(more.get("nodes"))
        workers = file.max_parallel_evals if said or not on_nodes else None
        return Execution(out, workers, backend, group_cap=file.max_parallel_per_node, **more)


def read_request(path: Path, given: Mapping[str, Any], *, dry_run: bool = False) -> TreeRequest:
    """Read a config and everything it names; raises InputErrors naming file and field."""
    file = read_plotfile(path, given)
    base = path.absolute().parent
    with git_named(path):
        if file.repo is not None:
            taken = read_repository(_below(base, file.repo, path, "repo"), file.revision)
        else:
            taken = read_files(_below(base, file.files or "", path, "files"))
    parts = [idea_files.from_parameters([table.model_dump() for table in file.parameters])]
    if file.ideas is not None:
        folder = _below(base, file.ideas, path, "ideas")
        parts.append(idea_files.read_folder(folder, has_command=file.implement is not None))
    ideas = idea_files.merged(*parts, where=path)
    plot = file.to_plot(dry_run=dry_run)
    if not dry_run and file.parallel_backend != "ray":  # programs of other machines are unseen
        _check_programs(plot, path)
    inputs = {"root": taken.stream, "root-commit": taken.commit}
    inputs |= {f"idea/{idea.name}": data for idea, data in ideas}
    return TreeRequest(file, plot, tuple(i for i, _ in ideas), taken.root, inputs)


def _check_programs(plot: Plot, path: Path) -> None:
    """Refuse a command whose program is nowhere, before anything is created."""
    for name, stage in sorted(plot.stages.items()):
        program = stage.argv[0] if stage.argv else "{python}"
        if "{" in program or ("/" in program and not program.startswith("/")):
            continue  # known on the slot only, or a file of the repository
        if shutil.which(program) is None:
            raise InputError(f"{path}: {name}.argv: there is no program {program!r:.80}")


def plan_first(request: TreeRequest) -> Story:
    """Plan the evals of the first depth as the run would; runs nothing."""
    story = Story(nodes=[Node(0, request.root.commit, request.root.tree, 0, (), {})])
    Growth(request.plot, request.ideas, {}, story).plan(1, story.nodes)
    return story


def carry_out_tree(
    request: TreeRequest, out: Path, watcher: Watcher | None = None, **more: Any
) -> Run:
    """Run a search into a folder, or go on with it; then write its summary beside the ledger."""
    done = carry_out(
        request.decision(), request.execution(out, **more), dict(request.inputs), watcher
    )
    write_summary(done.out)
    return done


def write_summary(run: Path) -> None:
    """Write TREE_SUMMARY.md and TREE_GRAPH.md of a run."""
    seen = seen_of(run)
    (run / "TREE_SUMMARY.md").write_text(summary(seen), "utf-8")
    (run / "TREE_GRAPH.md").write_text(graph(seen), "utf-8")


def seen_of(run: Path) -> TreeSeen:
    """Return the story of a run; raises InputError when it is not one of `weft tree`."""
    found = RunFolder(run).read_run_file().search
    if found != NAME:
        raise InputError(f"{run} is a run of {found}, not of tree", hint=f"weft status {run}")
    return see(RunView(run, NAME))


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
    disk = Disk()
    unnoted = Place(disk, world.host_name(), HeadsList(None, disk))
    with tempfile.TemporaryDirectory(prefix="weft-parity-") as place:
        out = Path(place) / "run"
        recorded = not request.file.deterministic
        recall = CommandRecord(RunFolder(done.out), RunFolder(out)).recall if recorded else None
        execution = Execution(out, workers, "local")
        decision, inputs = request.decision(), dict(request.inputs)
        again = carry_out(decision, execution, inputs, watcher, unnoted, recall)
        return Parity(workers, again.head, recorded, diff(done.out, out))


# -- export -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Exported:
    """What export wrote."""

    where: Path
    commits: tuple[str, ...]
    names: tuple[str, ...]


def export(
    run: Path, *, node: str | None, repo: Path | None, branch: str, patches: Path | None
) -> Exported:
    """Write the path to a node as a branch of a repository, or as a series of patches."""
    seen, view = seen_of(run), RunView(run, NAME)
    path = _node(seen, node, run).path()[1:]
    if not path:
        raise InputError(f"{run}: there is nothing to export, no node is better than the root")
    if seen.plot.dry_run:
        raise InputError(f"{run} is a dry run; it has no commits")
    evals = {e.eval_id: e for e in seen.story.evals}
    messages = [message_of(evals[n.eval_id or 0]) for n in path]
    steps = [(view.read(n.steps[-1]), m) for n, m in zip(path, messages, strict=True)]
    names = tuple(n.idea.name for n in path if n.idea is not None)
    if patches is not None:
        return _write_patches(patches, [s[0] for s in steps], names, [n.commit for n in path])
    assert repo is not None
    first = seen.story.nodes[0]
    taken = Taken(Root(first.commit, first.tree), _input(view, seen, "root"),
                  _input(view, seen, "root-commit"))  # fmt: skip
    with git_named(repo), rebuilt(taken, steps) as (made, commits):
        assert commits == [n.commit for n in path], "the commits are not those of the run"
        write = write_branch if repo.exists() else write_new
        write(repo, branch, made, taken.root, commits)
    return Exported(repo, tuple(commits), names)


def _write_patches(
    folder: Path, diffs: Sequence[bytes], names: Sequence[str], commits: Sequence[str]
) -> Exported:
    if folder.exists():
        raise InputError(f"{folder} is there already", hint="choose another --patches")
    folder.mkdir(parents=True)
    for number, (data, name) in enumerate(zip(diffs, names, strict=True), 1):
        stem = "".join(c if c.isalnum() or c in "-_" else "-" for c in Path(name).stem)
        (folder / f"{number:04}-{stem[:80]}.patch").write_bytes(data)
    return Exported(folder, tuple(commits), tuple(names))


def _node(seen: TreeSeen, name: str | None, run: Path) -> Node:
    if not seen.story.nodes or not seen.story.nodes[0].result:
        raise RunFolderInvalid(f"{run} has no scored root yet", hint=f"weft resume {run}")
    if name is None:
        return best_of(seen.plot, seen.story)
    for node in seen.story.nodes:
        if node.name == name:
            return node
    raise InputError(
        f"{run} has no node {name!r:.40}", hint=f"nodes are n0 to n{len(seen.story.nodes) - 1}"
    )


def _input(view: RunView, seen: TreeSeen, name: str) -> bytes:
    return view.read(Object(seen.inputs[name]))


def _below(base: Path, name: str, path: Path, field: str) -> Path:
    try:
        return base / Path(name).expanduser()
    except RuntimeError as error:
        raise InputError(f"{path}: {field}: {error}") from None
