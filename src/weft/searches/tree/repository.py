"""Repositories of a tree run: read without modification, written only by export.

A root is transferred as a stream for `git fast-import`; see `rootstream`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from weft.errors import ExtraMissing, FileInvalid, InputError
from weft.searches.tree import rootstream
from weft.searches.tree.commits import WHO, commit_id, commit_text
from weft.searches.tree.config import Root
from weft.searches.tree.rootstream import RootStream, end_stream, new_stream
from weft.searches.tree.slot.git import Git, GitFailed, add_commit


@contextlib.contextmanager
def git_errors_named(where: Path) -> Iterator[None]:
    """Convert a failure of git to an InputError of one line."""
    try:
        yield
    except GitFailed as error:
        raise InputError(f"{where}: {' '.join(str(error).split())[:300]}") from None


def read_repository(path: Path, revisions: Sequence[str], *, submodules: str) -> RootStream:
    """Return commits of a repository with their files as a stream, without writing to it."""
    git = _open(path)
    commits = [_commit(git, revision, path) for revision in revisions]
    head = _commit(git, "HEAD", path)
    stream = new_stream()
    with _apart(git, path) as reader:
        _check_clean(reader, path, head)
        for commit in commits:
            rootstream.add_root(stream, reader, commit, path, submodules=submodules)
    return end_stream(stream)


def _commit(git: Git, revision: str, path: Path) -> str:
    try:
        return git.word("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    except GitFailed:
        raise InputError(f"{path} has no commit {revision!r}") from None


@contextlib.contextmanager
def _apart(git: Git, path: Path) -> Iterator[Git]:
    """Yield a reader of a repository's objects and index without its config: no filter can run.

    If a file's timestamp equals that of the index, git compares contents through the repository's
    filters. An empty repository with the same objects has no filters.
    """
    places = {
        "GIT_OBJECT_DIRECTORY": git.word("rev-parse", "--git-path", "objects"),
        "GIT_INDEX_FILE": git.word("rev-parse", "--git-path", "index"),
    }
    more = {name: str(path.absolute() / value) for name, value in places.items()}
    with temporary_git() as empty:
        yield Git(empty.folder, path.absolute(), more)


@contextlib.contextmanager
def temporary_git(work_tree: Path | None = None) -> Iterator[Git]:
    """Yield an empty temporary repository."""
    _require_git()
    with tempfile.TemporaryDirectory(prefix="weft-tree-") as place:
        git = Git(Path(place) / "repo.git", work_tree)
        git.run("init", "-q", "--template=")
        yield git


def read_files(paths: Sequence[Path]) -> RootStream:
    """Return folders of files as a stream, each as the first commit of a new repository."""
    stream = new_stream()
    for path in paths:
        if not path.is_dir():
            raise FileInvalid(f"files: {path} is not a folder")
        with temporary_git(path.absolute()) as git:
            git.run("-c", "core.compression=0", "add", "-A", "-f", "--", ".")
            tree = git.word("write-tree")
            text = f"tree {tree}\nauthor {WHO}\ncommitter {WHO}\n\nroot\n".encode()
            add_commit(git, text)
            rootstream.add_root(stream, git, commit_id(text), path, submodules="refuse")
    return end_stream(stream)


@contextlib.contextmanager
def rebuilt(
    pieces: Iterable[bytes], root: Root, commit: bytes, steps: Sequence[tuple[bytes, str]]
) -> Iterator[tuple[Git, list[str]]]:
    """Yield a repository with a root and one commit per (diff, message), and those commits."""
    with temporary_git() as git:
        git.import_stream(pieces, lambda: None)
        git.run("read-tree", root.tree)
        commits: list[str] = []
        [parent] = add_roots(git, [commit])
        for diff, message in steps:
            git.apply_cached(diff)
            parent = add_commit(git, commit_text(git.word("write-tree"), parent, message))
            commits.append(parent)
        yield git, commits


def add_roots(git: Git, commits: Sequence[bytes]) -> list[str]:
    """Store the roots' commits as a shallow history, without their parents; return their ids."""
    names = [add_commit(git, commit) for commit in commits]
    cut = [
        n for n, c in zip(names, commits, strict=True) if b"\nparent " in c.partition(b"\n\n")[0]
    ]
    if cut:
        (git.folder / "shallow").write_text("".join(f"{name}\n" for name in cut), "utf-8")
    return names


def write_branch(repo: Path, branch: str, source: Git, root: Root, commits: Sequence[str]) -> None:
    """Add commits to a repository under a new branch; nothing else is changed."""
    git = _open(repo)
    ref = f"refs/heads/{branch}"
    try:
        git.run("check-ref-format", ref)
    except GitFailed:
        raise InputError(f"{branch!r} cannot be the name of a branch") from None
    try:
        git.run("cat-file", "-e", f"{root.commit}^{{commit}}")
    except GitFailed:
        raise InputError(f"{repo} does not have the commit {root.commit} of the root") from None
    with contextlib.suppress(GitFailed):
        git.run("rev-parse", "--verify", "--quiet", ref)
        raise InputError(f"{repo} already has a branch {branch!r}", hint="choose another --branch")
    _copy(source, git, commits, [root.commit])
    git.run("update-ref", ref, commits[-1] if commits else root.commit, "0" * 40)


def write_new(repo: Path, branch: str, source: Git, root: Root, commits: Sequence[str]) -> None:
    """Create a repository with the root and the commits, with the branch checked out."""
    repo.mkdir(parents=True)
    try:
        git = Git(repo / ".git", repo.absolute())
        git.run("init", "-q", "--template=", f"--initial-branch={branch}")
        last = commits[-1] if commits else root.commit
        _copy(source, git, [last], [])
        if (source.folder / "shallow").is_file():
            (git.folder / "shallow").write_bytes((source.folder / "shallow").read_bytes())
        git.run("update-ref", f"refs/heads/{branch}", last)
        git.run("read-tree", last)
        git.run("checkout-index", "-a", "-f")
        git.run("config", "core.bare", "false")
    except GitFailed:
        shutil.rmtree(repo)
        raise


def _copy(source: Git, target: Git, wanted: Sequence[str], known: Sequence[str]) -> None:
    names = "".join(f"{c}\n" for c in wanted) + "".join(f"^{c}\n" for c in known)
    pack = source.run("pack-objects", "--revs", "--stdout", "-q", data=names.encode())
    target.run("unpack-objects", "-q", data=pack)


def _require_git() -> None:
    if shutil.which("git") is None:
        raise ExtraMissing(
            "weft tree needs git, which is not on PATH", hint="install it: apt-get install git"
        )


def _open(path: Path) -> Git:
    _require_git()
    if not path.is_dir():
        what = "is not a folder" if path.exists() else "does not exist"
        raise InputError(f"repository {path} {what}")
    inner = path / ".git"
    try:
        if inner.is_file():
            named = inner.read_text("utf-8").removeprefix("gitdir:").strip()
            git = Git(path / named, path.absolute())
        else:
            git = Git((inner if inner.is_dir() else path).absolute(), path.absolute())
        if git.word("rev-parse", "--show-object-format") != "sha1":
            raise InputError(f"{path} is a SHA-256 repository, which is not supported")
    except (GitFailed, UnicodeDecodeError):
        raise InputError(
            f"{path} is not a git repository", hint="git init, or give files"
        ) from None
    return git


def _check_clean(git: Git, path: Path, head: str) -> None:
    """Refuse uncommitted changes. Runs no filter: raw bytes are compared."""
    if not (path / ".git").exists():
        return  # a bare repository has no checkout
    staged = git.run("diff-index", "--cached", "--name-only", "-z", head).split(b"\0")
    names = [n for n in staged if n]
    for line in git.run("diff-files", "-z").split(b"\0:"):
        fields, _, rest = line.lstrip(b":").partition(b"\0")
        name = rest.strip(b"\0")
        if name and not _unchanged(git, path, fields.split(), name):
            names.append(name)
    if names:
        raise InputError(
            f"{path} has changes that are not committed: {names[0].decode('utf-8', 'replace')}",
            hint="commit or stash them",
        )


def _unchanged(git: Git, path: Path, fields: list[bytes], name: bytes) -> bool:
    """Whether a file that git reports as changed still has the bytes of the index."""
    if fields[0] != fields[1]:
        return False
    file = path / name.decode("utf-8", "surrogateescape")
    if file.is_symlink():
        target = os.fsencode(file.readlink())
        return git.word("hash-object", "--stdin", data=target).encode() == fields[2]
    if not file.is_file():
        return False
    with file.open("rb") as data:
        return git.word("hash-object", "--stdin", data=data).encode() == fields[2]
