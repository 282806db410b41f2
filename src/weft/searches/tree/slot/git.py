"""Git on a slot, and the states of a run as git objects in one repository beside it: RUN/repo.git.

    root stream ─► repo.git ─► a worktree and an index per attempt ─► new tree, new commit

Git is deaf to every setting of the user and of the machine: it sees no config, hook, filter or
attribute but those in the files themselves. The repository only holds what the record says anyway:
whoever comes first makes it, a state that is missing is made again from the recorded diffs, and if
git cannot read it the attempt makes its own. Evals share objects, which git writes whole or not at
all, and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from weft.searches.tree.commits import commit_text

ROOT_REF = "refs/weft/root"
SETTINGS = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null", "core.autocrlf=false", "core.symlinks=true",
    "core.fileMode=true", "core.untrackedCache=false", "core.sshCommand=false",
    "credential.helper=", "protocol.allow=never", "gc.auto=0", "submodule.recurse=false",
)  # fmt: skip
WORDS = ("git", *(word for setting in SETTINGS for word in ("-c", setting)))


class GitFailed(Exception):  # noqa: N818 - named by situation, as all errors here
    """Git refused; the message is what it printed."""


class Git:
    """Git on one repository, with a worktree and an index of its own if need be."""

    def __init__(
        self, folder: Path, work_tree: Path | None = None, more: Mapping[str, str] | None = None
    ) -> None:
        self.folder = folder = folder.absolute()
        self._env = {
            "PATH": os.environ.get("PATH", os.defpath),  # noqa: TID251 - to find git itself
            "LC_ALL": "C", "HOME": os.devnull, "GIT_DIR": str(folder),
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_REPLACE_OBJECTS": "1", "GIT_ALLOW_PROTOCOL": "none",
        }  # fmt: skip
        self.work_tree = work_tree
        if work_tree is not None:
            self._env["GIT_WORK_TREE"] = str(work_tree)
        self._env |= more or {}

    def run(self, *words: str, data: bytes = b"") -> bytes:
        """Run one git command; raises GitFailed."""
        done = subprocess.run(
            [*WORDS, *words],
            input=data,
            env=self._env,
            cwd=self.work_tree,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            message = done.stderr.decode("utf-8", "replace").strip()
            raise GitFailed(f"git {words[0]}: {message[-500:] or done.returncode}")
        return done.stdout

    def word(self, *words: str, data: bytes = b"") -> str:
        """Run one git command and return the line it prints."""
        return self.run(*words, data=data).decode().strip()

    def apply_cached(self, diff: bytes) -> None:
        """Change the index as a patch says."""
        self.run("apply", "--cached", "--binary", "--whitespace=nowarn", "-", data=diff)


def difference(git: Git, before: str, after: str) -> bytes:
    """Return what leads from one tree to another, as a patch that holds everything."""
    return git.run(
        "diff-tree", "-r", "-p", "--binary", "--full-index", "--no-renames", "--no-ext-diff",
        "--no-textconv", "--no-color", before, after,
    )  # fmt: skip


def changed_paths(git: Git, before: str, after: str) -> list[str]:
    """Return the paths in which two trees differ, sorted."""
    names = git.run("diff-tree", "-r", "-z", "--no-renames", "--name-only", before, after)
    return sorted(n.decode("utf-8", "backslashreplace") for n in names.split(b"\0") if n)


def add_commit(git: Git, text: bytes) -> str:
    """Store a commit and return its name; its parent need not be there."""
    return git.word("hash-object", "-t", "commit", "-w", "--stdin", data=text)


# -- states -------------------------------------------------------------------------------------


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
