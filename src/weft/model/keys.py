"""Names and seeds of tasks and records, all SHA-256 of canonical JSON.

A key binds a task to its run (genesis); a seed only to what the task is, so that the same
search with the same run seed draws the same numbers in any run. Neither depends on workers,
attempts, limits or the clock. `args` is already canonical text and is inserted unchanged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache

from weft.model.values import canonical, encode


def sha256_hex(data: bytes | str) -> str:
    """Hash bytes, or text as UTF-8."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def task_key(genesis: str, lane: str, round_: int, index: int, function: str, args: str) -> str:
    """Name a task: sha256 of ["task", genesis, lane, round, index, function, args]."""
    head = _key_head(genesis, lane, round_)
    return sha256_hex(f"{head}{index},{_quoted(function)},{args}]")


def task_keys(
    genesis: str, lane: str, round_: int, start: int, function: str, args: Iterable[str]
) -> list[str]:
    """Name consecutive tasks of one round, as `task_key` does one by one."""
    head, middle = _key_head(genesis, lane, round_), f",{_quoted(function)},"
    sha256 = hashlib.sha256
    return [
        sha256(f"{head}{index}{middle}{text}]".encode()).hexdigest()
        for index, text in enumerate(args, start)
    ]


def task_seed(run_seed: int, lane: str, round_: int, index: int, function: str, args: str) -> int:
    """Draw a task's 64-bit seed from ["seed", run seed, lane, round, index, function, args]."""
    text = f"{_seed_head(run_seed, lane, round_)}{index},{_quoted(function)},{args}]"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def record_key(genesis: str, kind: str, lane: str, round_: int) -> str:
    """Name a ledger record that is not a task: sha256 of [genesis, kind, lane, round]."""
    return sha256_hex(f"[{_quoted(genesis)},{_quoted(kind)},{_quoted(lane)},{round_}]")


_quoted = lru_cache(maxsize=1024)(canonical)


@lru_cache(maxsize=1024)
def _key_head(genesis: str, lane: str, round_: int) -> str:
    return f'["task",{_quoted(genesis)},{_quoted(lane)},{round_},'


@lru_cache(maxsize=1024, typed=True)  # True is not 1 in JSON
def _seed_head(run_seed: int, lane: str, round_: int) -> str:
    return f'["seed",{encode(run_seed)},{_quoted(lane)},{round_},'
