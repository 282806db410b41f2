"""Reads the folder of a run that has begun, for a command that would continue it."""

from __future__ import annotations

import json
from pathlib import Path

from weft.runs.opening import recorded_genesis
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.ledgerfile import read_checkpoint
from weft.storage.objects import ObjectStore


def is_finished(out: Path) -> bool:
    """Whether the folder holds a run that has its answer."""
    return RunFolder(out).is_finished()


def recorded_input(out: Path, name: str) -> bytes | None:
    """Return an input as the run in the folder recorded it; None without a run or such an input."""
    folder = RunFolder(out)
    if not folder.is_run():
        return None
    genesis = recorded_genesis(folder, read_checkpoint(folder.checkpoint))
    digest = None if genesis is None else json.loads(genesis)["inputs"].get(name)
    return None if digest is None else ObjectStore(folder.objects, Disk()).read(digest)
