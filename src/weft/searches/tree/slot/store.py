"""The states of a run as git objects, in one repository beside it: RUN/repo.git.

    root stream ─► repo.git ─► a worktree and an index per attempt ─► new tree, new commit

It only holds what the record says anyway: whoever comes first makes it, a state that is missing
is made again from the recorded diffs, and if git cannot read it the attempt makes its own.
Evals share objects, which git writes whole or not at all, and nothing else.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from weft.searches.tree.commits import commit_text
from weft.searches.tree.slot.git import (
    ROOT_REF,
    Git,
    GitFailed,
    add_commit,
    changed_paths,
    difference,
)


@dataclass(frozen=True, slots=True)
class State:
    """A recorded state: its tree, and all that is needed to make it from nothing."""

    tree: str
    stream: Callable[[], bytes]
    """The root for `git fast-import`."""
    diffs: Callable[[], list[bytes]]
    """What leads from the root to it."""


@dataclass(frozen=True, slots=True)
class NewCommit:
    """A commit that an idea made of a state."""

    tree: str
    commit: str
    changed: list[str]
    diff: bytes


class Unchanged(Exception):  # noqa: N818 - an outcome of an idea
    """The idea left every file as it was."""


def open_state(repo: Path, state: State, place: Path, *, files: bool) -> Git:
    """Return git with the state in an index under `place`, and its `files` in a worktree there.

    Raises GitFailed when not even a repository of its own could be made.
    """
    place = place.absolute()
    try:
        return _opened(repo, state, place, files)
    except GitFailed:
        return _opened(place / "repo.git", state, place, files)


def _opened(repo: Path, state: State, place: Path, files: bool) -> Git:
    if not repo.is_dir():
        _make(repo, state, place)
    work = place / "worktree" if files else None
    if work is not None:
        work.mkdir(exist_ok=True)
    git = Git(repo, work, {"GIT_INDEX_FILE": str(place / "index")})
    try:
        git.run("read-tree", state.tree)
    except GitFailed:
        _remake(git, state)
    if files:
        git.run("checkout-index", "-a", "-f")
    return git


def _make(repo: Path, state: State, place: Path) -> None:
    """Make the repository aside and put it in place as a whole, unless another came first."""
    new = Git(place / "new.git")
    new.run("init", "-q", "--template=")
    new.run("fast-import", "--quiet", "--force", data=state.stream())
    with contextlib.suppress(OSError):
        new.folder.rename(repo)


def _remake(git: Git, state: State) -> None:
    git.run("read-tree", ROOT_REF)
    for diff in state.diffs():
        git.apply_cached(diff)
    tree = git.word("write-tree")
    assert tree == state.tree, f"restored {tree}, recorded {state.tree}"


def take_candidate(git: Git, before: str, parent: str, message: str) -> NewCommit:
    """Store what is in the index as a commit on `parent`; raises Unchanged."""
    after = git.word("write-tree")
    if after == before:
        raise Unchanged("the idea changed nothing")
    commit = add_commit(git, commit_text(after, parent, message))
    names = changed_paths(git, before, after)
    return NewCommit(after, commit, names, difference(git, before, after))
