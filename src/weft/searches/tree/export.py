"""`weft tree export`: the path to a node as a branch of a repository, or as a series of patches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.errors import InputError
from weft.inspect.report.view import RunView
from weft.model.values import Object
from weft.searches.tree.config import Root
from weft.searches.tree.load import TreeRun, load_tree_run, node_of
from weft.searches.tree.repository import (
    RootCommit,
    git_errors_named,
    rebuilt,
    write_branch,
    write_new,
)
from weft.searches.tree.search import NAME
from weft.searches.tree.stages import message_of


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
    tree_run, view = load_tree_run(run), RunView(run, NAME)
    path = node_of(tree_run, node, run).path()[1:]
    if not path:
        raise InputError(f"{run}: there is nothing to export, no node is better than the root")
    if tree_run.config.dry_run:
        raise InputError(f"{run} is a dry run; it has no commits")
    evals = {e.eval_id: e for e in tree_run.history.evals}
    messages = [message_of(evals[n.eval_id or 0]) for n in path]
    steps = [(view.read(n.steps[-1]), m) for n, m in zip(path, messages, strict=True)]
    names = tuple(n.idea.name for n in path if n.idea is not None)
    if patches is not None:
        return _write_patches(patches, [s[0] for s in steps], names, [n.commit for n in path])
    assert repo is not None
    first = tree_run.history.nodes[0]
    root_commit = RootCommit(Root(first.commit, first.tree), _input(view, tree_run, "root"),
                  _input(view, tree_run, "root-commit"))  # fmt: skip
    with git_errors_named(repo), rebuilt(root_commit, steps) as (source, commits):
        assert commits == [n.commit for n in path], "the commits are not those of the run"
        write = write_branch if repo.exists() else write_new
        write(repo, branch, source, root_commit.root, commits)
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


def _input(view: RunView, tree_run: TreeRun, name: str) -> bytes:
    return view.read(Object(tree_run.inputs[name]))
