"""Runs for the readers' tests, finished or caught in progress, and ways to damage them."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs

import weft
from tests.support.engine import loom
from weft.ledger import merkle
from weft.ledger.chain import Chain
from weft.ledger.checkpoint import Checkpoint, parse_checkpoint
from weft.ledger.records import parse
from weft.model.values import canonical
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.heads import HeadsList

sys.path.insert(0, str(Path(__file__).parent / "searches"))

from picks import late, lives, queue

__all__ = ["late", "lives", "queue"]
NO_HEADS = HeadsList(None, Disk())


def heads() -> HeadsList:
    """The heads list that the runs of these tests write to."""
    return HeadsList(platformdirs.user_state_path("weft") / "heads", Disk())


def copy_of(run: Path, target: Path) -> Path:
    """A copy of a run folder with all its modes, to damage."""
    shutil.copytree(run, target)
    return target


def read_lines(run: Path) -> list[bytes]:
    return RunFolder(run).ledger.read_bytes().splitlines(keepends=True)


def read_checkpoint(run: Path) -> Checkpoint:
    return parse_checkpoint(RunFolder(run).checkpoint.read_text())


def put(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Overwrite a file as root or its owner can, keeping its mode unless one is given."""
    mode = path.stat().st_mode if mode is None else mode
    path.chmod(0o644)
    path.write_bytes(data)
    path.chmod(mode)


def put_ledger(run: Path, data: bytes) -> None:
    put(RunFolder(run).ledger, data)


def put_checkpoint(run: Path, lines: Sequence[bytes], *, sealed: bool = True) -> None:
    """Write the checkpoint that matches these lines."""
    origin = read_checkpoint(run).origin
    root = merkle.root([merkle.leaf_hash(line.rstrip(b"\n")) for line in lines])
    text = Checkpoint(origin, len(lines), root).to_text()
    put(RunFolder(run).checkpoint, text.encode(), mode=0o444 if sealed else 0o644)


def rewritten(lines: Sequence[bytes], seq: int, change: Callable[[dict[str, Any]], None]):
    """The lines with one body changed and all later hashes recomputed, as a forger would."""
    chain, forged = Chain(), []
    for number, line in enumerate(lines):
        record = parse(line.rstrip(b"\n"))
        if number == seq:
            change(record.body)
        forged.append(chain.next_line(record.kind, record.key, canonical(record.body)) + b"\n")
    return forged


def unseal(run: Path) -> None:
    """Make a finished run look as if it was killed before its last checkpoint."""
    manifest = sqlite3.connect(RunFolder(run).manifest)
    with manifest:
        manifest.execute("DELETE FROM heads")
    manifest.close()
    make_writable(run)


def make_writable(run: Path) -> None:
    for path in (RunFolder(run).ledger, RunFolder(run).checkpoint):
        path.chmod(0o644)


def contents(run: Path) -> dict[str, tuple[int, bytes]]:
    """Mode and bytes of every file of a run, to compare before and after a reader."""
    files = sorted(path for path in run.rglob("*") if path.is_file())
    return {str(p.relative_to(run)): (p.stat().st_mode, p.read_bytes()) for p in files}


@dataclass
class Stopper:
    """A watcher that asks the run to stop, as Ctrl-C would, after a number of results."""

    after: int

    def update(self, counts: Any) -> None:
        if counts.finished >= self.after:
            self.after = 10**9
            os.kill(os.getpid(), signal.SIGINT)


@dataclass
class Gate:
    """A watcher that lets the search `lives` end its second round after one of its results."""

    folder: Path

    def update(self, counts: Any) -> None:
        if counts.finished >= 4:
            (self.folder / "gate").touch()


@dataclass
class Snapshots:
    """A watcher that copies the folder while the run continues: what a SIGKILL would leave."""

    run: Path
    target: Path
    every: int
    taken: list[Path] = field(default_factory=list)
    _next: int = 0

    def update(self, counts: Any) -> None:
        if counts.finished < self._next:
            return
        self._next = counts.finished + self.every
        copy = self.target / f"at-{counts.finished}"
        if not copy.exists():
            ignore = shutil.ignore_patterns("staging")
            self.taken.append(shutil.copytree(self.run, copy, ignore=ignore))


def interrupted_loom(out: Path, after: int = 100) -> Path:
    """A run of the engine example that was stopped on request."""
    try:
        weft.run(loom(pause_ms=20), out=out, workers=2, watcher=Stopper(after))
    except weft.errors.Interrupted:
        return out
    raise AssertionError("the run was over before it could be stopped")


def record_at(lines: Sequence[bytes], offset: int) -> int:
    """Number of the record that contains a byte of the file."""
    for seq, line in enumerate(lines):
        if offset < len(line):
            return seq
        offset -= len(line)
    raise AssertionError("beyond the file")


def flips(data: bytes, offsets: Sequence[int], seed: int) -> Iterator[tuple[int, bytes]]:
    """For each offset, the bytes with one random bit of that byte flipped: (offset, bytes)."""
    rng = random.Random(seed)
    for offset in offsets:
        yield offset, flip(data, offset, rng.randrange(8))


def flip(data: bytes, offset: int, bit: int) -> bytes:
    return data[:offset] + bytes([data[offset] ^ (1 << bit)]) + data[offset + 1 :]
