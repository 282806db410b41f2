"""Convert parsed JSON to tasks: check every grid, pair and key, and report errors with location.

Official files have four keys: a task has `train` and `test`, a pair `input` and `output`; only the
output of a test may be missing. Anything else is refused with a one-line FileInvalid:

    x.json: train[2].output: row 3 has 4 cells, row 0 has 5

Knows JSON values and their locations, not files and folders.
"""

from __future__ import annotations

from collections.abc import Mapping

from weft.errors import FileInvalid
from weft.model.jsonfields import kind_of
from weft.model.values import JsonValue
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import MAX_SIDE, Grid

MAX_PAIRS = 100
"""Most training pairs, and most tests, of one task; official tasks have at most 10 of each."""
MAX_NAME = 255
_COLOURS = frozenset(range(10))


def read_task(name: str, value: JsonValue, where: str) -> ArcTask:
    """Read a task: `{"train": [pair, …], "test": [pair, …]}`."""
    check_name(name, where)
    body = keys_of(value, where, "a task", needed=("train", "test"))
    train = [_pair(pair, at) for pair, at in _each(body["train"], f"{where}: train")]
    tests = [_test(pair, at) for pair, at in _each(body["test"], f"{where}: test")]
    truth = [output for _, output in tests if output is not None]
    if truth and len(truth) < len(tests):
        number = [output is None for _, output in tests].index(True)
        raise FileInvalid(f"{where}: test[{number}]: has no output, other tests of the task have")
    return ArcTask(name, tuple(train), tuple(grid for grid, _ in tests), tuple(truth))


def read_grid(value: JsonValue, where: str) -> Grid:
    """Read a grid: 1 to 30 rows of 1 to 30 cells, equally long, cells 0 to 9."""
    rows = [
        _array(row, f"{where}: row {r}", "cells")
        for r, row in enumerate(_array(value, where, "rows"))
    ]
    for r, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise FileInvalid(f"{where}: row {r} has {len(row)} cells, row 0 has {len(rows[0])}")
    colours = [[cell for cell in row if type(cell) is int and cell in _COLOURS] for row in rows]
    if any(len(row) != len(rows[0]) for row in colours):
        _refuse_cells(rows, where)
    return Grid.of(colours)


def check_name(name: str, where: str) -> None:
    """Refuse a task name that is unfit for a list, a file name or a submission."""
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise FileInvalid(
            f"{where}: {printable(name)!r} is not a task name"
            f" (1 to {MAX_NAME} printable characters)"
        )


def keys_of(
    value: JsonValue, where: str, what: str, *, needed: tuple[str, ...]
) -> Mapping[str, JsonValue]:
    """Return a JSON object after checking that it has exactly the `needed` keys."""
    if not isinstance(value, dict):
        raise FileInvalid(f"{where}: {kind_of(value)} where {what} should be")
    for key in needed:
        if key not in value:
            raise FileInvalid(f'{where}: {what} needs the key "{key}"')
    for key in value:
        if key not in needed:
            known = " and ".join(f'"{name}"' for name in needed)
            raise FileInvalid(f'{where}: unknown key "{printable(key)}", {what} has {known} only')
    return value


def printable(text: str) -> str:
    """Return a text fit for a message: printable, and shortened if it is long."""
    visible = text if text.isprintable() else ascii(text)[1:-1]
    return visible if len(visible) <= 80 else f"{visible[:79]}…"


def _each(value: JsonValue, where: str) -> list[tuple[JsonValue, str]]:
    """Return each pair of a list with its location."""
    if not isinstance(value, list):
        raise FileInvalid(f"{where}: {kind_of(value)} where a list of pairs should be")
    if not 1 <= len(value) <= MAX_PAIRS:
        raise FileInvalid(f"{where}: {len(value)} pairs, not 1 to {MAX_PAIRS}")
    return [(pair, f"{where}[{i}]") for i, pair in enumerate(value)]


def _pair(value: JsonValue, where: str) -> Pair:
    body = keys_of(value, where, "a pair", needed=("input", "output"))
    return Pair(
        read_grid(body["input"], f"{where}.input"), read_grid(body["output"], f"{where}.output")
    )


def _test(value: JsonValue, where: str) -> tuple[Grid, Grid | None]:
    if isinstance(value, dict) and "output" in value:
        pair = _pair(value, where)
        return pair.input, pair.output
    body = keys_of(value, where, "a test", needed=("input",))
    return read_grid(body["input"], f"{where}.input"), None


def _array(value: JsonValue, where: str, of: str) -> list[JsonValue]:
    if not isinstance(value, list):
        raise FileInvalid(f"{where}: {kind_of(value)} where a list of {of} should be")
    if not value:
        raise FileInvalid(f"{where}: no {of}")
    if len(value) > MAX_SIDE:
        raise FileInvalid(f"{where}: {len(value)} {of}, at most {MAX_SIDE} are allowed")
    return value


def _refuse_cells(rows: list[list[JsonValue]], where: str) -> None:
    for r, row in enumerate(rows):
        for c, cell in enumerate(row):
            if type(cell) is not int or cell not in _COLOURS:
                cell_text = printable(str(cell)) if type(cell) in (int, float) else kind_of(cell)
                raise FileInvalid(
                    f"{where}: row {r}, column {c}: {cell_text} is not a colour (an integer 0 to 9)"
                )
