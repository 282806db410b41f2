"""The run that another one retries: what the genesis says of it, and its results by place.

A retry keeps the whole ledger of the run before it as one object, so it needs that run no more,
and anyone can check what was reused. Results are found by place (lane, round, index) and are
reused only where function and arguments are the same; a key also holds the genesis, which differs.
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
"""Of a genesis: only that of a run which retries another one has it."""
MAX_KEYS = 10_000
"""How many keys a genesis lists; the ledger that it names has them all."""
_KIND = b'"kind":"'
_AFTER_BODY = b'},"key":"'


@dataclass(frozen=True, slots=True)
class Retry:
    """What a genesis says of the run that it retries."""

    head: str
    """The root over its ledger."""
    size: int
    ledger: str
    """SHA-256 of its ledger, which is an object of the new run."""
    failed: int
    keys: tuple[str, ...]
    """The tasks that run again: their keys there, in ledger order, the first of them if many."""
    code_changed: tuple[str, ...] = ()
    """Packages whose source was another one when the reused results were computed."""
    schema_version: Literal[1] = 1

    def to_json(self) -> dict[str, Value]:
        """Return the field of a genesis."""
        return to_json(self)

    def describe(self) -> str:
        """Say which run is retried, and what of it runs again."""
        tasks = "1 failed task runs" if self.failed == 1 else f"{self.failed} failed tasks run"
        text = f"of the run with head {self.size} {self.head}: {tasks} again"
        if not self.code_changed:
            return text
        packages = ", ".join(self.code_changed)
        return f"{text}; results computed before the source of {packages} changed are reused"


def retry_of(genesis: dict[str, JsonValue]) -> Retry | None:
    """Read what a genesis says; None for a run that retries none. Raises LedgerDamaged."""
    return from_json(Retry, genesis[FIELD]) if FIELD in genesis else None


class PriorResults:
    """The completed results of a finished ledger, by place; memory holds 8 bytes for each."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._rounds = dict(_results_by_round(file))

    def value(self, lane: str, round_: int, index: int, function: str, args: str) -> str | None:
        """Return the text of a task's recorded value; None if another task or none stands there.

        A line is canonical: up to the value it is known from the task, so it need not be parsed.
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
    """Open the results that a run reuses; its copy of the ledger must be there."""
    with objects.open(retry.ledger) as file:
        yield PriorResults(file)


def _results_by_round(file: BinaryIO) -> Iterator[tuple[tuple[str, int], array[int]]]:
    """Give the offsets of each round's results, in task order: the round's own record ends them."""
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
