"""What a tree run is asked to do, with config, repository, ideas and earlier runs read in.

Everything is checked before anything is created; errors name the file and the field.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weft.errors import InputError
from weft.model.tasks import Budget, SearchCall
from weft.tree.plot import Idea, Plot, Root
from weft.tree.plotfile import TreeFile, read_plotfile
from weft.tree.rules import load, look_in
from weft.tree.search import tree
from weft.wiring import world
from weft.wiring.request import Decision, Execution, digests
from weft.wiring.run import checked_policy
from weft.wiring.treepast import read_past
from weft.wiring.treerepo import git_named, read_files, read_repository
from weft.wiring.treesources import AREA, below, read_ideas, read_index, read_recordings


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
        """Return how it is carried out; on nodes, all their slots unless the config says less."""
        file = self.file
        named = file.parallel_backend
        backend = "local" if named == "threadpool" else named
        said = "max_parallel_evals" in file.model_fields_set
        on_nodes = backend == "ray" or bool(more.get("nodes"))
        workers = file.max_parallel_evals if said or not on_nodes else None
        return Execution(
            out, workers, backend, group_cap=file.max_parallel_per_node,
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
    if not dry_run and file.parallel_backend != "ray":  # other machines' cannot be seen from here
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
