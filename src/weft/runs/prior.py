"""The run that another one retries: what the genesis records of it, and its results by place.

A retry stores the whole ledger of the earlier run as one object, so it no longer needs that run,
and anyone can check what was reused. Results are found by place (lane, round, index) and reused
only if function and arguments are the same; keys differ, since they depend on the genesis.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, Literal

from weft.errors import LedgerDamaged
from weft.ledger.records import parse
from weft.model.codec import from_json, to_json
from weft.model.values import JsonValue, Value, canonical
from weft.storage.objects import ObjectStore

FIELD = "retry"
"""The field of the genesis; only a run that retries another one has it."""
MAX_KEYS = 10_000
"""How many keys a genesis lists at most; the ledger that it names has them all."""
_KIND = b'"kind":"'
_AFTER_BODY = b'},"key":"'


@dataclass(frozen=True, slots=True)
class Retry:
    """What a genesis records of the run that it retries."""

    head: str
    """The Merkle root of its ledger."""
    size: int
    ledger: str
    """SHA-256 of its ledger, which is an object of the new run."""
    failed: int
    keys: tuple[str, ...]
    """The keys of its failed tasks, in ledger order; only the first ones if there are many."""
    code_changed: tuple[str, ...] = ()
    """Packages whose source has changed since the reused results were computed."""
    schema_version: Literal[1] = 1

    def to_json(self) -> dict[str, Value]:
        """Return the field of a genesis."""
        return to_json(self)

    def describe(self) -> str:
        """Return in words which run is retried, and how much of it runs again."""
        tasks = "1 failed task runs" if self.failed == 1 else f"{self.failed} failed tasks run"
        text = f"of the run with head {self.size} {self.head}: {tasks} again"
        if not self.code_changed:
            return text
        packages = ", ".join(self.code_changed)
        return f"{text}; results computed before the source of {packages} changed are reused"


def retry_of(genesis: dict[str, JsonValue]) -> Retry | None:
    """Read the retry from a genesis; None if the run retries none. Raises LedgerDamaged."""
    return from_json(Retry, genesis[FIELD]) if FIELD in genesis else None


class PriorResults:
    """The completed results of a finished ledger, by place; memory holds 8 bytes for each."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._rounds = dict(_results_by_round(file))

    def value(self, lane: str, round_: int, index: int, function: str, args: str) -> str | None:
        """Return the text of a task's recorded value; None if the place has another task or none.

        A line is canonical: its part before the value follows from the task, without parsing.
        """
        offsets = self._rounds.get((lane, round_), ())
        if not 0 <= index < len(offsets):
            return None
        self._file.seek(offsets[index])
        line = self._file.readline()
        start = (
            f'{{"body":{{"args":{args},"function":{canonical(function)},"index":{index},'
            f'"lane":{canonical(lane)},"round":{round_},"value":'
        ).encode()
        if not line.startswith(start):
            return None
        return line[len(start) : line.rindex(_AFTER_BODY)].decode()


@contextmanager
def open_prior(objects: ObjectStore, retry: Retry) -> Iterator[PriorResults]:
    """Open the results that a run reuses; its copy of the ledger must exist."""
    with objects.open(retry.ledger) as file:
        yield PriorResults(file)


def _results_by_round(file: BinaryIO) -> Iterator[tuple[tuple[str, int], array[int]]]:
    """Yield each round with the offsets of its results, in task order; its own record ends them."""
    start, offsets = 0, array("Q")
    for line in file:
        kind = line[line.rfind(_KIND) + len(_KIND) :]
        if kind.startswith(b'result"'):
            offsets.append(start)
        elif kind.startswith(b'round"'):
            body = parse(line.rstrip(b"\n")).body
            yield (body["lane"], body["round"]), offsets
            offsets = array("Q")
        start += len(line)
    if offsets:
        raise LedgerDamaged("the ledger that is retried ends inside a round")
