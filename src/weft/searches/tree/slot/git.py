"""Git on a slot, and the states of a run as git objects in one shared repository, RUN/repo.git.

    root stream ─► repo.git ─► a worktree and an index per attempt ─► new tree, new commit

Git ignores every setting of the user and the machine: it sees no config, hook, filter or attribute
except those in the files themselves. The repository is only a cache of the records: the first
attempt creates it, a missing state is rebuilt from the recorded diffs, and if git cannot read it,
the attempt creates its own. Evals share nothing but objects, which git writes atomically.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from weft.searches.tree.commits import commit_text
from weft.searches.tree.slot.objects import write_object

SETTINGS = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null", "core.autocrlf=false", "core.symlinks=true",
    "core.fileMode=true", "core.untrackedCache=false", "core.sshCommand=false",
    "credential.helper=", "protocol.allow=never", "gc.auto=0", "submodule.recurse=false",
    "core.bigFileThreshold=64m",
)  # fmt: skip
IMPORT = ("-c", "core.compression=0", "-c", "fastimport.unpackLimit=1")
"""The root is stored uncompressed: compressing a large file takes longer than checking it out."""
LOOK_AGAIN_S = 0.5
WAIT_EVERY = 16
WORDS = ("git", *(word for setting in SETTINGS for word in ("-c", setting)))


class GitFailed(Exception):  # noqa: N818 - named by situation, as all errors here
    """Git failed; the message is what it printed."""


class Git:
    """Git on one repository, optionally with a separate worktree and index."""

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
        self.index = (more or {}).get("GIT_INDEX_FILE", str(folder / "index"))
        if work_tree is not None:
            self._env["GIT_WORK_TREE"] = str(work_tree)
        self._env |= more or {}

    def run(self, *words: str, data: bytes | IO[bytes] = b"") -> bytes:
        """Run a git command with bytes or a file as input; return its output. Raises GitFailed."""
        completed = subprocess.run(
            [*WORDS, *words],
            input=data if isinstance(data, bytes) else None,
            stdin=None if isinstance(data, bytes) else data,
            env=self._env,
            cwd=self.work_tree,
            capture_output=True,
            check=False,
        )
        _check(words[0], completed.returncode, completed.stderr)
        return completed.stdout

    def start(self, *words: str, stdin: IO[bytes] | None = None) -> subprocess.Popen[bytes]:
        """Start a git command whose input or output is too large for memory, with pipes."""
        return subprocess.Popen(
            [*WORDS, *words],
            env=self._env,
            cwd=self.work_tree,
            stdin=subprocess.PIPE if stdin is None else stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def word(self, *words: str, data: bytes | IO[bytes] = b"") -> str:
        """Run a git command and return its output, stripped."""
        return self.run(*words, data=data).decode().strip()

    def with_index(self, file: Path) -> Git:
        """Return git on the same repository with another index and no worktree."""
        return Git(self.folder, None, {"GIT_INDEX_FILE": str(file)})

    def import_stream(self, pieces: Iterable[bytes], on_wait: Callable[[], None]) -> None:
        """Import a `git fast-import` stream in pieces; calls `on_wait` regularly meanwhile."""
        words = (*IMPORT, "fast-import", "--quiet", "--force")
        with self.start(*words) as process:
            assert process.stdin is not None
            assert process.stderr is not None
            with contextlib.suppress(BrokenPipeError):  # its exit code says why
                for number, piece in enumerate(pieces):
                    process.stdin.write(piece)
                    if number % WAIT_EVERY == 0:
                        on_wait()
                process.stdin.close()
            while True:
                try:
                    process.wait(LOOK_AGAIN_S)
                    break
                except subprocess.TimeoutExpired:
                    on_wait()
            _check("fast-import", process.returncode, process.stderr.read())

    def apply_cached(self, diff: bytes) -> None:
        """Apply a patch to the index."""
        self.run("apply", "--cached", "--binary", "--whitespace=nowarn", "-", data=diff)


def _check(word: str, code: int, stderr: bytes) -> None:
    if code:
        message = stderr.decode("utf-8", "replace").strip()
        raise GitFailed(f"git {word}: {message[-500:] or code}")


def difference(git: Git, before: str, after: str) -> tuple[list[str], bytes]:
    """Return the paths in which two trees differ, sorted, and the patch from the first."""
    out = git.run(
        "diff-tree", "-r", "--raw", "-p", "--binary", "--full-index", "--no-renames",
        "--no-ext-diff", "--no-textconv", "--no-color", before, after,
    )  # fmt: skip
    listing, _, diff = out.partition(b"\n\n")
    names = (_unquoted(line.partition(b"\t")[2]) for line in listing.split(b"\n"))
    return sorted(name.decode("utf-8", "backslashreplace") for name in names), diff


def _unquoted(name: bytes) -> bytes:
    """Decode a path from git's output, which is quoted if it has unusual bytes."""
    if not name.startswith(b'"'):
        return name
    return bytes(codecs.escape_decode(name[1:-1])[0])


def add_commit(git: Git, text: bytes) -> str:
    """Store a commit and return its id; its parent need not exist."""
    return write_object(git.folder, "commit", text)


# -- states -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class State:
    """A recorded state: its tree, and everything needed to rebuild it."""

    tree: str
    root_tree: str
    stream: Callable[[], Iterable[bytes]]
    """The roots for `git fast-import`, in pieces."""
    diffs: Callable[[], list[bytes]]
    """The diffs from the root to the state."""
    on_wait: Callable[[], None] = lambda: None
    """Called regularly while the root is imported, which may take long."""


@dataclass(frozen=True, slots=True)
class NewCommit:
    """The commit that results from applying an idea to a state."""

    tree: str
    commit: str
    changed: list[str]
    diff: bytes


class Unchanged(Exception):  # noqa: N818 - an outcome of an idea
    """The idea changed no file."""


def open_state(repo: Path, state: State, place: Path, *, files: bool) -> Git:
    """Return git with the state in an index under `place`; with `files`, also in a worktree there.

    Raises GitFailed if not even a separate repository could be created.
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
    words = ("read-tree", "--reset", "-u") if files else ("read-tree",)
    try:
        git.run(*words, state.tree)
    except GitFailed:
        _remake(git.with_index(place / "made-again"), state)
        git.run(*words, state.tree)
    return git


def _make(repo: Path, state: State, place: Path) -> None:
    """Create the repository aside and rename it into place, unless another attempt was first."""
    new = Git(place / "new.git")
    new.run("init", "-q", "--template=")
    new.import_stream(state.stream(), state.on_wait)
    with contextlib.suppress(OSError):
        new.folder.rename(repo)


def _remake(git: Git, state: State) -> None:
    """Rebuild a recorded state from its root in a separate index."""
    git.run("read-tree", state.root_tree)
    for diff in state.diffs():
        git.apply_cached(diff)
    tree = git.word("write-tree")
    assert tree == state.tree, f"restored {tree}, recorded {state.tree}"


def take_candidate(git: Git, before: str, parent: str, message: str) -> NewCommit:
    """Store the index as a commit on `parent`; raises Unchanged if it equals `before`."""
    after = git.word("write-tree")
    if after == before:
        raise Unchanged("the idea changed nothing")
    commit = add_commit(git, commit_text(after, parent, message))
    return NewCommit(after, commit, *difference(git, before, after))
