"""Write states of a tree run as files: a path as a branch or patches, refs, rejected evals.

    RUN/repo.git   refs/weft/n<id> for nodes, refs/weft/e<id> for evals
    RUN/kept/e<id> the files of an eval that was not promoted, if requested

These files in RUN are derived from the ledger and rebuilt whenever the summary is written.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.errors import InputError
from weft.inspect.report.view import RunView
from weft.model.values import Object
from weft.searches.tree.config import Root
from weft.searches.tree.history import Eval
from weft.searches.tree.load import TreeRun, load_tree_run, node_of
from weft.searches.tree.repository import (
    add_roots,
    git_errors_named,
    rebuilt,
    write_branch,
    write_new,
)
from weft.searches.tree.runfiles import commit_input
from weft.searches.tree.search import NAME
from weft.searches.tree.slot.git import Git, State, open_state
from weft.searches.tree.stages import message_of


@dataclass(frozen=True, slots=True)
class Exported:
    """The output of an export."""

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
    first = path[0].path()[0]
    root, commit = Root(first.commit, first.tree), _commit(view, tree_run, first.node_id)
    pieces, where = _pieces(view, tree_run), patches or repo
    assert where is not None
    with git_errors_named(where), rebuilt(pieces, root, commit, steps) as (source, commits):
        assert commits == [n.commit for n in path], "the commits are not those of the run"
        if patches is not None:
            return _write_patches(patches, [_mail(source, c) for c in commits], names, commits)
        assert repo is not None
        write = write_branch if repo.exists() else write_new
        write(repo, branch, source, root, commits)
    return Exported(repo, tuple(commits), names)


def _mail(git: Git, commit: str) -> bytes:
    """Return a commit as a mail for `git am`."""
    return git.run(
        "format-patch", "-1", "--stdout", "--binary", "--full-index", "--no-renames",
        "--no-ext-diff", "--no-textconv", "--no-color", "--no-signature", "--no-stat", commit,
    )  # fmt: skip


def _write_patches(
    folder: Path, mails: Sequence[bytes], names: Sequence[str], commits: Sequence[str]
) -> Exported:
    if folder.exists():
        raise InputError(f"{folder} already exists", hint="choose another --patches")
    folder.mkdir(parents=True)
    for number, (data, name) in enumerate(zip(mails, names, strict=True), 1):
        stem = "".join(c if c.isalnum() or c in "-_" else "-" for c in Path(name).stem)
        (folder / f"{number:04}-{stem[:80]}.patch").write_bytes(data)
    return Exported(folder, tuple(commits), tuple(names))


def _commit(view: RunView, tree_run: TreeRun, number: int) -> bytes:
    """Return the bytes of a root's commit."""
    return view.read(Object(tree_run.inputs[commit_input(number)]))


def _pieces(view: RunView, tree_run: TreeRun) -> Iterator[bytes]:
    return view.pieces(Object(tree_run.inputs["root"]))


# -- files in the run's folder ----------------------------------------------------------------


REJECTED, FAILED = "rejected", "failed"
"""The values that `--keep-…` options set."""


def name_commits(run: Path, tree_run: TreeRun) -> None:
    """Create refs for the commits of nodes and evals in the run's own repository."""
    git = Git(run / "repo.git")
    if not git.folder.is_dir():
        return
    history, view = tree_run.history, RunView(run, NAME)
    add_roots(git, [_commit(view, tree_run, number) for number in range(history.roots)])
    named = {f"refs/weft/{n.name}": n.commit for n in history.nodes}
    named |= {f"refs/weft/{e.name}": e.candidate.commit for e in history.evals if e.candidate}
    for lock in sorted((git.folder / "refs").rglob("*.lock")):
        lock.unlink(missing_ok=True)  # left by a command that was killed here
    present = _present(git, sorted(set(named.values())))
    lines = [f"update {ref} {name}\n" for ref, name in named.items() if name in present]
    git.run("update-ref", "--stdin", data="".join(lines).encode())


def _present(git: Git, commits: list[str]) -> set[str]:
    """Return the commits that exist here; those from another machine or an import do not."""
    request = "".join(f"{name}\n" for name in commits).encode()
    lines = git.run("cat-file", "--batch-check", data=request).decode().splitlines()
    return {line.split()[0] for line in lines if not line.endswith("missing")}


def keep_rejected(run: Path, tree_run: TreeRun) -> None:
    """Write the files of every eval that has a diff and was not promoted."""
    for item in tree_run.history.evals:
        place = run / "kept" / item.name
        rejected = item.candidate and item.candidate.diff and item.node_id is None
        if rejected and not place.exists():
            _write_files(run, tree_run, item, place)


def _write_files(run: Path, tree_run: TreeRun, item: Eval, place: Path) -> None:
    view = RunView(run, NAME)
    assert item.candidate is not None
    assert item.candidate.diff is not None
    diffs = [*item.parent.steps, item.candidate.diff]
    state = State(
        item.candidate.tree,
        item.parent.path()[0].tree,
        lambda: _pieces(view, tree_run),
        lambda: [view.read(diff) for diff in diffs],
    )
    aside = place.with_name(f"{place.name}.part")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    open_state(run / "repo.git", state, aside, files=True)
    (aside / "worktree").rename(place)
    shutil.rmtree(aside)
