"""The results of a run, read back from its ledger: what its search was given, in ledger order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import overload

from weft.define import declared_types
from weft.ledger.records import Record
from weft.model.card import table
from weft.model.records import FunctionTypes
from weft.model.results import Result, TaskError
from weft.model.values import Object, canonical
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.ledgerfile import parse_at, whole_lines
from weft.storage.objects import ObjectStore

SHOWN = 20


class StoredValues:
    """Typed values of a recorded run.

    Modules are never imported for it: a dataclass whose task is not loaded is read as the dict of
    its fields.
    """

    def __init__(self, objects: ObjectStore, imports: Mapping[str, str] | None = None) -> None:
        self._objects, self._imports = objects, imports or {}

    def read(self, reference: Object) -> bytes:
        """Return the bytes of an object, checked against its name."""
        return self._objects.read(reference.digest)

    def types(self, function: str) -> FunctionTypes:
        """Return the annotations of a task, if its module is loaded."""
        return declared_types(self._imports.get(function, function))


class Results(Sequence[Result]):
    """Results in the order of the ledger; a notebook shows the first of them."""

    def __init__(self, results: Sequence[Result]) -> None:
        self._results = tuple(results)

    def __len__(self) -> int:
        return len(self._results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self._results)

    @overload
    def __getitem__(self, place: int) -> Result: ...

    @overload
    def __getitem__(self, place: slice) -> Results: ...

    def __getitem__(self, place: int | slice) -> Result | Results:
        chosen = self._results[place]
        return Results(chosen) if isinstance(chosen, tuple) else chosen

    def __repr__(self) -> str:
        return f"<{len(self)} results>"

    def _repr_html_(self) -> str:
        rows = [(str(r.index), r.function, r.args_text, r.outcome_text) for r in self[:SHOWN]]
        more = f", the first {SHOWN} of them" if len(self) > SHOWN else ""
        title = f"{len(self):,} results{more}"
        return table(title, ("index", "function", "arguments", "outcome"), rows)


def read_results(folder: RunFolder) -> Results:
    """Read every result record; raises LedgerDamaged for a line that is none."""
    records = (parse_at(line, seq) for seq, line in enumerate(whole_lines(folder.ledger)))
    values = StoredValues(ObjectStore(folder.objects, Disk()), folder.read_run_file().imports)
    return Results([_result(record, values) for record in records if record.kind == "result"])


def _result(record: Record, values: StoredValues) -> Result:
    body = record.body
    value = canonical(body["value"]) if "value" in body else None
    error = TaskError(**body["error"]) if "error" in body else None
    args = canonical(body["args"])
    return Result(body["index"], record.key, body["function"], args, value, error, values)
