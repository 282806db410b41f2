"""The request of a tree run, with config, repository, ideas and earlier runs read.

Everything is checked before anything is created. Errors name the file and the field.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from weft.errors import InputError
from weft.model.tasks import Budget
from weft.runs.decision import Decision, digests
from weft.runs.execution import Execution
from weft.runs.run import checked_policy
from weft.searches.tree import ideas as idea_files
from weft.searches.tree.config import Idea, TreeConfig
from weft.searches.tree.configfile import Override, TreeFile, read_config
from weft.searches.tree.ideaindex import AREA, read_index
from weft.searches.tree.ideatables import from_grids, from_parameters
from weft.searches.tree.load import load_tree_run, read_past, read_recordings
from weft.searches.tree.repository import git_errors_named, read_files, read_repository
from weft.searches.tree.rootstream import RootStream, check_same_scorer
from weft.searches.tree.rules import add_import_folder, load
from weft.searches.tree.runfiles import commit_input
from weft.searches.tree.scorerfiles import check_same_files, read_run_files
from weft.searches.tree.search import SearchArgs
from weft.worker.environment import environment


@dataclass(frozen=True, slots=True)
class TreeRequest:
    """A checked search with its inputs read, ready to run."""

    file: TreeFile
    args: SearchArgs
    inputs: Mapping[str, bytes | Path]
    """Inputs by name; the roots' files are in the file of `stream`, the rest in memory."""
    stream: RootStream
    base: Path
    """The config's folder, known to commands as `{work_dir}`."""

    @property
    def config(self) -> TreeConfig:
        """Everything that decides the search, apart from its roots and ideas."""
        return self.args.config

    def decision(self) -> Decision:
        """Return everything that decides the outcome."""
        policy = checked_policy(self.config.eval_retries, None, False)
        names = digests(self.inputs)
        return Decision(self.args.call(), self.file.seed, names, Budget(), policy)

    def execution(self, asked: Execution) -> Execution:
        """Return the requested execution with the workers and the backend of the config.

        On nodes, it uses all their slots unless the config limits them.
        """
        file = self.file
        is_set = "max_parallel_evals" in file.model_fields_set
        on_nodes = file.backend == "ray" or bool(asked.nodes)
        return replace(
            asked,
            workers=file.max_parallel_evals if is_set or not on_nodes else None,
            backend=file.backend,
            group_cap=file.max_parallel_per_node,
            base=self.base,
            labels={} if file.area is None else {AREA: file.area},
        )


def read_request(
    path: Path,
    overrides: Sequence[Override] = (),
    *,
    out: Path | None = None,
    dry_run: bool = False,
    import_from: Path | None = None,
) -> TreeRequest:
    """Read a config and everything it names; raises InputError, which names file and field.

    A run already started in `out` keeps its copy of the idea index.
    """
    file = read_config(path, overrides)
    base = path.absolute().parent
    stream = _read_roots(file, base, path)
    ideas = read_ideas(file, base, path)
    earlier = file.recorded_from and below(base, file.recorded_from, path, "recorded_from")
    recordings, objects = read_recordings(earlier or None, path)
    config = _with_sources(file.to_config(dry_run=dry_run), base, path)
    if not dry_run and file.parallel_backend != "ray":  # unknown on other machines
        _check_programs(config, path)
        _check_variables(config, path)
    imported, past = read_past(import_from, config)
    inputs: dict[str, bytes | Path] = {"root": stream.path}
    inputs |= {commit_input(n): root.commit for n, root in enumerate(stream.commits)}
    inputs |= {f"idea/{idea.name}": data for idea, data in ideas}
    inputs |= objects | past | read_index(file, out)
    run_files = {} if dry_run else read_run_files(config, file.harness, base, path)
    inputs |= run_files
    if import_from is not None:
        check_same_files(load_tree_run(import_from).inputs, run_files, config, str(import_from))
    own = tuple(idea for idea, _ in ideas)
    roots = tuple(commit.root for commit in stream.commits)
    args = SearchArgs(config, own, roots, recordings, imported)
    return TreeRequest(file, args, inputs, stream, base)


def _read_roots(file: TreeFile, base: Path, path: Path) -> RootStream:
    with git_errors_named(path):
        if file.repo is not None:
            repo = below(base, file.repo, path, "repo")
            stream = read_repository(repo, file.revision, submodules=file.submodules)
        else:
            stream = read_files([below(base, name, path, "files") for name in file.files or ()])
    if len({commit.root.commit for commit in stream.commits}) < len(stream.commits):
        raise InputError(f"{path}: two of the roots are the same commit")
    check_same_scorer(stream, [p.rstrip("/") for p in file.protected], path)
    return stream


def _with_sources(config: TreeConfig, base: Path, path: Path) -> TreeConfig:
    """Return the config with the source hashes of a custom gate or rank beside the config file."""
    sources = {"gate_source": "", "rank_source": ""}
    for field in ("gate", "rank"):
        if name := getattr(config, field):
            add_import_folder(base)
            try:
                sources[f"{field}_source"] = load(name)[1]
            except InputError as error:
                raise InputError(f"{path}: {field}: {error.message}", hint=error.hint) from None
    return replace(config, gate_source=sources["gate_source"], rank_source=sources["rank_source"])


def _check_programs(config: TreeConfig, path: Path) -> None:
    """Refuse a command whose program does not exist."""
    for name, stage in sorted(config.stages.items()):
        program = stage.argv[0] if stage.argv and not stage.recorded else "{python}"
        if "{" in program or ("/" in program and not program.startswith("/")):
            continue  # only known on the slot, or a file of the repository
        if shutil.which(program) is None:
            raise InputError(f"{path}: {name}.argv: there is no program {program!r:.80}")


def _check_variables(config: TreeConfig, path: Path) -> None:
    """Refuse a command that needs an unset variable."""
    ours = environment()
    for name, stage in sorted(config.stages.items()):
        for variable in () if stage.recorded else stage.env_from:
            if variable not in ours:
                raise InputError(
                    f"{path}: {name}.env_from: the variable {variable} is not set",
                    hint=f"export {variable}=…",
                )


def below(base: Path, name: str, path: Path, field: str) -> Path:
    """Return the path that a config names, resolved against its folder."""
    try:
        return base / Path(name).expanduser()
    except RuntimeError as error:
        raise InputError(f"{path}: {field}: {error}") from None


def read_ideas(file: TreeFile, base: Path, path: Path) -> list[tuple[Idea, bytes]]:
    """Return the ideas of a config, by name; there may be none if nodes get generated ones."""
    parts = [from_parameters(file.parameters), from_grids(file.grids)]
    if file.ideas is not None:
        folder = below(base, file.ideas, path, "ideas")
        parts.append(idea_files.read_folder(folder, has_command=file.implement is not None))
    has_more = bool(file.propose or file.mutations)
    return idea_files.merge_ideas(*parts, where=path, may_be_none=has_more)
