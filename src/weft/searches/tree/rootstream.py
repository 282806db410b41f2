"""The roots of a run as one stream for `git fast-import`, written in pieces.

The stream is uncompressed and ordered by path, so that equal commits give equal bytes on every
machine. It is in an unnamed file, which disappears with its last reader. Large files are copied in
pieces and never held in memory.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from weft.errors import InputError
from weft.searches.tree.config import Root, is_protected
from weft.searches.tree.slot.git import Git, GitFailed

MAX_ROOT_BYTES = 4 * 2**30
"""Limit for the files of all roots together: every candidate gets its own copy."""
PIECE_BYTES = 1 << 20
HEAD = b"feature done\n"
SUBMODULE = b"commit"


@dataclass(frozen=True, slots=True)
class RootFile:
    """A file of a root, and the position of its bytes in the stream."""

    mode: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class RootCommit:
    """A commit to start from: its ids, its bytes, its files."""

    root: Root
    commit: bytes
    files: Mapping[str, RootFile]


@dataclass(slots=True)
class RootStream:
    """The roots written so far, and the file that holds them."""

    fd: int
    commits: list[RootCommit] = field(default_factory=list)
    size: int = 0

    def __del__(self) -> None:
        os.close(self.fd)

    @property
    def path(self) -> Path:
        """The stream's path, valid in this process only."""
        return Path(f"/proc/self/fd/{self.fd}")

    @property
    def root(self) -> RootCommit:
        """The first root."""
        return self.commits[0]

    def read(self, file: RootFile) -> bytes:
        """Return the bytes of a file."""
        return os.pread(self.fd, file.size, file.offset)

    def digest(self, file: RootFile) -> str:
        """Return the SHA-256 of a file, computed in pieces."""
        digest, end = hashlib.sha256(), file.offset + file.size
        for offset in range(file.offset, end, PIECE_BYTES):
            digest.update(os.pread(self.fd, min(PIECE_BYTES, end - offset), offset))
        return digest.hexdigest()


def new_stream() -> RootStream:
    """Return a stream without roots."""
    with tempfile.TemporaryFile() as file:
        stream = RootStream(os.dup(file.fileno()))
    stream.size = os.write(stream.fd, HEAD)
    return stream


def end_stream(stream: RootStream) -> RootStream:
    """Terminate a stream after its last root."""
    stream.size += os.write(stream.fd, b"done\n")
    return stream


def add_root(stream: RootStream, git: Git, commit: str, path: Path, *, submodules: str) -> None:
    """Append a commit's files; raises InputError for a submodule or too many bytes."""
    tree = git.word("rev-parse", f"{commit}^{{tree}}")
    entries = [e.partition(b"\t") for e in git.run("ls-tree", "-r", "-z", tree).split(b"\0") if e]
    parts = [(*about.split(), name) for about, _, name in entries]
    modules = [name for _, kind, _, name in parts if kind == SUBMODULE]
    if modules and submodules == "refuse":
        raise InputError(
            f"{path}: {os.fsdecode(modules[0])} is a submodule, whose files are not in the commit",
            hint='set submodules = "empty" to leave its folder empty, or use files instead of repo',
        )
    number = len(stream.commits) or ""
    head = f"commit refs/weft/root{number}\ncommitter weft <> 0 +0000\ndata 0\n"
    stream.size += os.write(stream.fd, head.encode())
    files = _write_files(stream, git, parts, path)
    text = git.run("cat-file", "commit", commit)
    stream.commits.append(RootCommit(Root(commit, tree), text, files))


def _write_files(
    stream: RootStream, git: Git, parts: Sequence[tuple[bytes, ...]], path: Path
) -> dict[str, RootFile]:
    files: dict[str, RootFile] = {}
    blobs = [digest for _, kind, digest, _ in parts if kind == b"blob"]
    with (
        tempfile.TemporaryFile() as request,
        os.fdopen(os.dup(stream.fd), "ab", PIECE_BYTES) as out,
    ):
        request.write(b"".join(digest + b"\n" for digest in blobs))
        request.seek(0)
        with git.start("cat-file", "--batch", stdin=request) as reader:
            assert reader.stdout is not None
            for mode, kind, digest, name in parts:
                if kind != b"blob":
                    stream.size += out.write(b"M %s %s %s\n" % (mode, digest, _quoted(name)))
                    continue
                size = int(reader.stdout.readline().split()[2])
                head = b"M %s inline %s\ndata %d\n" % (mode, _quoted(name), size)
                text = name.decode("utf-8", "backslashreplace")
                files[text] = RootFile(mode.decode(), stream.size + len(head), size)
                stream.size += len(head) + size + 1
                if stream.size > MAX_ROOT_BYTES:
                    reader.kill()
                    raise InputError(f"{path}: more than {MAX_ROOT_BYTES:,} bytes of files")
                out.write(head)
                _copy(reader.stdout, out, size + 1)
            if reader.wait():
                raise GitFailed(f"git cat-file: exit code {reader.returncode}")
    return files


def _copy(source: IO[bytes], target: IO[bytes], size: int) -> None:
    """Copy `size` bytes; raises GitFailed if the source ends early."""
    while size:
        piece = source.read(min(PIECE_BYTES, size))
        if not piece:
            raise GitFailed("git cat-file: ended early")
        target.write(piece)
        size -= len(piece)


def _quoted(name: bytes) -> bytes:
    """Quote a path for fast-import."""
    escaped = name.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + escaped + b'"'


def check_same_scorer(stream: RootStream, protected: Sequence[str], path: Path) -> None:
    """Refuse roots whose protected files differ, since their scores would not be comparable."""
    first = _protected(stream, stream.root, protected)
    for number, commit in enumerate(stream.commits[1:], 1):
        own = _protected(stream, commit, protected)
        differing = sorted(n for n in first.keys() | own.keys() if first.get(n) != own.get(n))
        if differing:
            raise InputError(
                f"{path}: the root n{number} has a different {differing[0]}, which is protected:"
                " scores of different scorers cannot be compared"
            )


def _protected(
    stream: RootStream, commit: RootCommit, patterns: Sequence[str]
) -> dict[str, tuple[str, str]]:
    return {
        name: (file.mode, stream.digest(file))
        for name, file in commit.files.items()
        if is_protected(name, patterns)
    }
