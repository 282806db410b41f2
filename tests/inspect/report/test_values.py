"""Columns of values: how they are read and packed, and how missing data is reported."""

from __future__ import annotations

import base64
import hashlib
import math
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from tests.support.pages import tuning
from weft.inspect.access import open_manifest
from weft.inspect.report.columnpack import EXACT, pack_table
from weft.inspect.report.valuetable import (
    ValueColumn,
    ValueTable,
    argument_names,
    read_values,
)
from weft.inspect.report.wording import answer_lines, title_of, unknown_lines
from weft.storage.folder import RunFolder

WIDE = 10_000_000


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("values") / "tune"
    weft.run(tuning.tune(), out=out, workers=1)
    return out


def unpack(packed: dict[str, Any]) -> dict[str, list[Any]]:
    """The slow twin of columns.js."""
    data, rows, at = zlib.decompress(base64.b64decode(packed["body"])), packed["rows"], 0
    columns: dict[str, list[Any]] = {}
    for column in packed["columns"]:
        width = column["width"]
        planes = data[at : at + width * rows]
        at += width * rows
        cells = [bytes(planes[p * rows + r] for p in range(width)) for r in range(rows)]
        columns[column["name"]] = [_cell(column, cell) for cell in cells]
    assert at == len(data)
    return columns


def _cell(column: dict[str, Any], raw: bytes) -> Any:
    if column["width"] == 8:
        number = struct.unpack("<d", raw)[0]
        return None if math.isnan(number) else number
    code, missing = int.from_bytes(raw, "little"), 2 ** (8 * column["width"]) - 1
    if code == missing:
        return None
    low, high = column["low"], column["high"]
    if column["log"]:
        low, high = math.log(low), math.log(high)
    at = low + (high - low) * code / (missing - 1)
    if column["words"]:
        return column["words"][round(at)]
    return math.exp(at) if column["log"] else at


def test_table_has_a_column_for_each_argument_and_value(run: Path) -> None:
    with open_manifest(RunFolder(run)) as manifest:
        table = read_values(manifest)
        assert argument_names(manifest) == ("depth", "lr", "optimizer")
    assert table is not None
    roles = {column.name: (column.role, column.is_text) for column in table.columns}
    assert roles["lr"] == ("argument", False)
    assert roles["optimizer"] == ("argument", True)
    assert roles["value"] == ("value", False)
    assert (table.rows, table.total, table.direction) == (60, 60, "min")
    results = weft.load(run).results()
    values = [r.value if r.ok else None for r in results]
    assert list(table.column("value").cells) == values
    assert list(table.column("lr").cells) == [r.args["lr"] for r in results]
    assert None in values, "some fail"


def test_of_many_tasks_a_sample_is_read_and_counted(run: Path) -> None:
    with open_manifest(RunFolder(run)) as manifest:
        table = read_values(manifest, max_rows=20)
    assert table is not None
    assert table.rows in (19, 20)
    assert table.total == 60
    assert len({*table.column("optimizer").cells}) == 3, "a grid is not sampled in step"


def test_packed_columns_are_exact_where_there_is_room(run: Path) -> None:
    with open_manifest(RunFolder(run)) as manifest:
        table = read_values(manifest)
    assert table is not None
    packed = pack_table(table, WIDE)
    assert packed is not None
    assert packed["precision"] == EXACT
    columns = unpack(packed)
    assert all(columns[column.name] == list(column.cells) for column in table.columns)


@given(
    st.lists(st.floats(1e-9, 1e9) | st.none(), min_size=1, max_size=80),
    st.integers(400, 20_000),
)
def test_less_room_costs_precision_then_rows_and_never_the_limit(
    cells: list[float | None], room: int
) -> None:
    column, place = ValueColumn("x", "argument", cells), [float(i) for i in range(len(cells))]
    table = ValueTable(
        (ValueColumn("index", "place", place), column), ("",), ("f",), len(cells), len(cells)
    )
    packed = pack_table(table, 6000 + room)
    if packed is None:
        return
    assert len(packed["body"]) <= room
    columns, step = unpack(packed), round(len(cells) / packed["rows"])
    assert columns["index"] == place[::step], "places stay exact"
    present = [cell for cell in cells if cell is not None]
    spread = max(present, default=0.0) - min(present, default=0.0)
    for before, after in zip(cells[::step], columns["x"], strict=True):
        assert (before is None) == (after is None)
        if before is not None:
            error = abs(before - after)
            assert error <= spread * 2.0**-8 + 1e-9 or error <= before * 0.2, "a log scale"


def test_table_is_sampled_when_nothing_else_fits() -> None:
    rows = 40_000
    digests = (hashlib.sha256(b"%d" % i).digest() for i in range(rows))
    cells = [int.from_bytes(digest[:6], "big") / 7 for digest in digests]
    place = [float(i) for i in range(rows)]
    columns = (ValueColumn("index", "place", place), ValueColumn("x", "value", cells))
    packed = pack_table(ValueTable(columns, ("",), ("f",), rows, rows), 40_000)
    assert packed is not None
    assert packed["rows"] < rows
    assert packed["total"] == rows


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        (7, ["7"]),
        ({"best": 0.25, "trial_number": 3}, ["best 0.25, trial number 3"]),
        ([1, 2, 3], ["1, 2, 3"]),
        ({"a": {"b": [1, True]}}, ["a: b: 1, yes"]),
        (None, ["none"]),
        ("x" * 500, ["x" * 391 + "… (500 characters in all)"]),
    ],
)
def test_answer_is_said_in_words(value: Any, lines: list[str]) -> None:
    answered = answer_lines(value)
    assert [line[:391] for line in answered] == [line[:391] for line in lines]
    assert not any(mark in line for line in answered for mark in '{}[]"')


def test_long_answer_has_a_line_for_each_part_and_says_how_many_are_left() -> None:
    lines = answer_lines({f"name{i}": "v" * 20 for i in range(20)})
    assert len(lines) == 8
    assert lines[-1] == "and 13 more"


def test_missing_answer_says_its_reason() -> None:
    assert unknown_lines("incomplete", "a task failed") == ["incomplete: a task failed"]


def test_titles_are_words() -> None:
    assert title_of("buckets:best_multiplier") == "Best multiplier"
    assert title_of("arc.solve") == "ARC puzzles"
    assert title_of("weft.arc.lanes:solve") == "ARC puzzles", "of an older ledger too"
    assert title_of("optuna.study") == "Optuna study"
    named = {"plan": {"objective": {"task": "losses:log_loss"}}}
    assert title_of("optuna.study", named) == "Optuna study of log loss"
