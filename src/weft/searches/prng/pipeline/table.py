"""Tables of survivors as Parquet bytes: u64 seeds, binary columns, processed in chunks.

polars is imported only when a table is first built or read.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from weft.errors import InputError
from weft.lazy_imports import lazy_module
from weft.searches.prng.arrays import Floats
from weft.searches.prng.pipeline.features import ALL, EXCLUDED, check_complete

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray
else:
    pl = lazy_module("polars")

IDS = ("stream", "cut", "first", "seed", "skip", "base", "hits")
LABELS = ("label_hits", "label_draws")
_INTS = {"seed": "UInt64", "base": "Int64"}


def frame(columns: Mapping[str, NDArray[np.generic]]) -> pl.DataFrame:
    """Build a table; identifier and label columns are integers of fixed width."""
    kinds = {n: getattr(pl, _INTS.get(n, "UInt32")) for n in (*IDS, *LABELS)}
    return pl.DataFrame(
        {name: pl.Series(name, values, dtype=kinds.get(name)) for name, values in columns.items()}
    )


def to_parquet(table: pl.DataFrame) -> bytes:
    """Encode a table; equal tables give equal bytes."""
    buffer = io.BytesIO()
    table.write_parquet(buffer, compression="zstd", compression_level=1, statistics=False)
    return buffer.getvalue()


def from_parquet(data: bytes) -> pl.DataFrame:
    """Decode a table."""
    return pl.read_parquet(io.BytesIO(data))


def part_of(data: bytes, low: int, high: int) -> pl.DataFrame:
    """Decode only rows low to high-1 of a table."""
    return pl.scan_parquet(io.BytesIO(data)).slice(low, high - low).collect()


def concat(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Concatenate the rows of tables with the same columns."""
    return pl.concat(tables)


def matrix(table: pl.DataFrame, names: Sequence[str], where: str) -> Floats:
    """Return feature columns as a matrix. Raises InputError if one is missing or no number."""
    check_columns(table, where)
    return table.select(names).to_numpy(order="c")


def check_columns(table: pl.DataFrame, where: str, needed: Sequence[str] = ALL) -> None:
    """Refuse a table that lacks a needed feature or has a column that is not numeric.

    Columns in EXCLUDED may have any type.
    """
    check_complete(table.columns, where, needed)
    for name, kind in table.schema.items():
        if name not in EXCLUDED and not kind.is_numeric():
            raise InputError(f"{where}: column {name} contains {kind}, not numbers")


def feature_columns(
    values: Floats, extra: Mapping[str, Floats], names: Sequence[str]
) -> dict[str, Floats]:
    """Return the columns of a feature matrix and extra ones by name, in the order of ALL."""
    columns = {name: values[:, at] for at, name in enumerate(names)} | dict(extra)
    check_complete(columns, "the scorer's table")
    return {name: columns[name] for name in ALL}
