"""Runs in this process that do not wait for the disk.

A killed process loses nothing by it, only a machine that loses power does; that is tested in
tests/faults/test_power_loss.py. A small run spends a third of its time waiting for the disk.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


class UnsyncedConnection(sqlite3.Connection):
    """A connection whose commits are not synced to disk."""

    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
        return super().execute(sql.replace("synchronous=FULL", "synchronous=OFF"), *parameters)


@contextmanager
def without_syncs() -> Iterator[None]:
    """Within the block, nothing that this process writes is synced to disk."""
    connect = sqlite3.connect

    def connect_unsynced(*words: Any, **settings: Any) -> sqlite3.Connection:
        return connect(*words, factory=UnsyncedConnection, **settings)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("fsync", "fdatasync"):
            patch.setattr(os, name, lambda _: None)
        patch.setattr(sqlite3, "connect", connect_unsynced)
        yield
