"""A run's results in ledger order, by iteration or by index, with details of their execution.

Rows are read on demand: a million results take no more memory than a thousand.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from pathlib import Path
from typing import overload

from weft.inspect import export
from weft.inspect.access import run_named
from weft.inspect.resultrows import (
    LedgerResults,
    ManifestResults,
    ResultRow,
    RoundResults,
    Source,
)
from weft.model.card import table
from weft.model.wording import readable
from weft.storage.folder import RunFolder

SHOWN = 20
CHUNK = 2048
"""Number of rows read at a time."""


class RunResults(Sequence[ResultRow]):
    """Results in ledger order; a notebook shows the first ones."""

    def __init__(self, run: Path, source: Source, rounds: Sequence[RoundResults]) -> None:
        self._run = run
        self._source = source
        self._rounds = rounds
        self._ends = list(accumulate(len(part.at) for part in rounds))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __iter__(self) -> Iterator[ResultRow]:
        for part in self._rounds:
            for start in range(0, len(part.at), CHUNK):
                yield from self._read(part, start, min(start + CHUNK, len(part.at)))

    @overload
    def __getitem__(self, place: int) -> ResultRow: ...

    @overload
    def __getitem__(self, place: slice) -> list[ResultRow]: ...

    def __getitem__(self, place: int | slice) -> ResultRow | list[ResultRow]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        number = place + len(self) if place < 0 else place
        if not 0 <= number < len(self):
            raise IndexError(place)
        at = bisect_right(self._ends, number)
        start = number - (self._ends[at - 1] if at else 0)
        return self._read(self._rounds[at], start, start + 1)[0]

    def _read(self, part: RoundResults, start: int, end: int) -> Sequence[ResultRow]:
        with run_named(self._run):
            return self._source.read(part, start, end)

    def to_frame(self, kind: str | None = None) -> export.DataFrame:
        """Return a data frame with a row for each result; `kind` is `"pandas"` or `"polars"`.

        Without `kind`, uses pandas if it is installed, otherwise polars. The columns are those of
        `weft export`. Raises `InputError` if the package is not installed.
        """
        return export.to_frame(self._run, self, kind)

    def to_csv(self, path: str | Path) -> Path:
        """Write the same rows as CSV; return the path."""
        return export.write_csv(self._run, self, Path(path))

    def to_parquet(self, path: str | Path) -> Path:
        """Write the same rows as Parquet, with pyarrow or polars; return the path."""
        return export.write_parquet(self._run, self, Path(path))

    def __repr__(self) -> str:
        return f"<{len(self)} results>"

    def _repr_html_(self) -> str:
        first = islice(self, SHOWN)
        rows = [
            (str(r.index), r.function, readable(r.args_text), readable(r.outcome_text))
            for r in first
        ]
        more = f", the first {SHOWN} of them" if len(self) > SHOWN else ""
        title = f"{len(self):,} results{more}"
        return table(title, ("index", "function", "arguments", "outcome"), rows)


def read_results(run: Path, lane: str | None = None, round_: int | None = None) -> RunResults:
    """Return the results of a run; `lane` (a path, `/` for the root) and `round_` are filters."""
    folder = RunFolder(run)
    folder.require_run()
    with run_named(run):
        has_manifest = folder.manifest.is_file()
        source: Source = ManifestResults(folder) if has_manifest else LedgerResults(folder)
        rounds = source.rounds()
    path = None if lane is None else f"/{lane.strip('/')}".rstrip("/")
    chosen = [
        part
        for part in rounds
        if path in (None, part.lane) and round_ in (None, part.round)
    ]  # fmt: skip
    return RunResults(run, source, chosen)
