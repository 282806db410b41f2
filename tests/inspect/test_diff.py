"""Diff: the first record in which two runs differ, in words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from tests.inspect.runs import copy_of, put_ledger, read_lines, rewritten, unseal
from tests.support.engine import loom
from weft.errors import LedgerDamaged, RunFolderInvalid
from weft.inspect.diff import diff
from weft.storage.folder import RunFolder


def test_equal_runs_do_not_differ(finished: Path, tmp_path: Path) -> None:
    weft.run(loom(pause_ms=20), out=tmp_path / "again", workers=1)
    assert diff(finished, tmp_path / "again") is None


@pytest.mark.parametrize(
    ("options", "what", "a", "b"),
    [
        ({"args": {"size": 3}}, "the genesis: config.args.size", "40", "3"),
        ({"seed": 5}, "the genesis: seed", "0", "5"),
        ({"retries": 2}, "the genesis: config.retries", "0", "2"),
        ({"budget": {"steps": 9}}, "the genesis: config.budget", "{}", '{"steps":9}'),
    ],
)
def test_another_config_is_named_by_its_field(
    finished: Path, tmp_path: Path, options: dict[str, Any], what: str, a: str, b: str
) -> None:
    args = {"pause_ms": 20, **options.pop("args", {})}
    weft.run(loom(**args), out=tmp_path / "other", **options)
    difference = diff(finished, tmp_path / "other")
    assert difference is not None
    assert (difference.seq, difference.what, difference.a, difference.b) == (0, what, a, b)


def test_another_search_is_named_before_its_arguments(finished: Path, run: Path) -> None:
    changed(run, 0, lambda body: body.update(search="other:search", config={}))
    difference = diff(finished, run)
    assert difference is not None
    assert (difference.what, difference.a, difference.b) == (
        "the search", "loom:loom", "other:search",
    )  # fmt: skip


def test_another_input_is_named(tmp_path: Path) -> None:
    for name in ("one", "two"):
        call = loom(size=2, lazy_size=1)
        weft.run(call, out=tmp_path / name, inputs={"table": name.encode()})
    difference = diff(tmp_path / "one", tmp_path / "two")
    assert difference is not None
    assert difference.what == "the genesis: inputs.table"


def changed(run: Path, seq: int, change: Callable[[dict[str, Any]], Any]) -> Path:
    put_ledger(run, b"".join(rewritten(read_lines(run), seq, lambda body: change(body) and None)))
    return run


def test_another_value_is_named_by_its_task_and_field(finished: Path, run: Path) -> None:
    changed(run, 5, lambda body: body["value"].update(height=-1))
    difference = diff(finished, run)
    assert difference is not None
    assert difference.seq == 5
    assert difference.what == (
        'the result of loom:probe({"x":100}) at lane /, round 0, index 4: value.height'
    )
    assert (difference.a, difference.b) == ("2233", "-1")


def test_another_task_is_named_by_its_place(finished: Path, run: Path) -> None:
    changed(run, 5, lambda body: body.update(args={"x": 101}))
    difference = diff(finished, run)
    assert difference is not None
    assert difference.what == "the task at lane /, round 0, index 4"
    assert (difference.a, difference.b) == ('loom:probe({"x":100})', 'loom:probe({"x":101})')


def test_a_failure_and_a_value_are_told_apart(finished: Path, run: Path) -> None:
    def fail(body: dict[str, Any]) -> None:
        body["error"] = {"exit_code": None, "stage": "run", "type": "timeout"}
        del body["value"]

    changed(run, 5, fail)
    difference = diff(finished, run)
    assert difference is not None
    assert difference.what.endswith(": error")
    assert (difference.a, '"timeout"' in difference.b) == ("nothing", True)


def test_another_step_is_described(finished: Path, run: Path) -> None:
    lines = read_lines(run)
    put_ledger(run, b"".join(lines[:40] + lines[41:42]))
    with pytest.raises(LedgerDamaged, match="record 40: its seq is 41"):
        diff(finished, run)
    forged = lines[41].replace(b'"seq":41', b'"seq":40')
    put_ledger(run, b"".join(lines[:40]) + forged)
    difference = diff(finished, run)
    assert difference is not None
    assert (difference.seq, difference.what) == (40, "the next step")
    assert difference.a.startswith("result loom:probe(")
    assert difference.b == "lane /, round 0 ends with 40 of 40 results"


def test_a_run_that_ends_earlier_differs_there(finished: Path, run: Path) -> None:
    unseal(run)
    put_ledger(run, b"".join(read_lines(run)[:50]) + b'{"torn')
    difference = diff(finished, run)
    assert difference is not None
    assert (difference.seq, difference.what, difference.b) == (
        50,
        "one ledger ends here",
        "ends here: interrupted",
    )
    assert difference.to_dict()["schema_version"] == 1
    other = diff(run, finished)
    assert other is not None
    assert other.a == difference.b


def test_a_ledger_that_is_gone_ends_at_once(finished: Path, run: Path) -> None:
    RunFolder(run).ledger.unlink()
    difference = diff(run, finished)
    assert difference is not None
    assert (difference.seq, difference.b) == (0, "genesis of loom:loom")


def test_damage_at_the_place_is_named(finished: Path, run: Path) -> None:
    lines = read_lines(run)
    put_ledger(run, b"".join([*lines[:9], b"rubbish\n", *lines[10:]]))
    with pytest.raises(LedgerDamaged, match="record 9"):
        diff(finished, run)


def test_a_folder_that_is_no_run_is_refused(finished: Path, tmp_path: Path) -> None:
    with pytest.raises(RunFolderInvalid):
        diff(finished, tmp_path)
    assert diff(finished, copy_of(finished, tmp_path / "copy")) is None


@weft.task
def scaled(x: Any, rate: float) -> Any:
    return x * rate


@weft.search(version=1)
def scalings(x: Any, rate: float) -> Any:
    results = yield [scaled(x, rate)]
    return results[0].value


def test_values_beyond_json_are_compared_in_words(tmp_path: Path) -> None:
    runs = {"a": (np.arange(3), 0.5), "b": (np.arange(3), 0.25), "c": (np.ones(3), 0.5)}
    for name, args in runs.items():
        weft.run(scalings(*args), out=tmp_path / name, backend="serial")
    rate, array = (diff(tmp_path / "a", tmp_path / name) for name in "bc")
    assert rate is not None
    assert array is not None
    assert (rate.what, rate.a, rate.b) == ("the genesis: config.args.rate", "0.5", "0.25")
    assert array.what == "the genesis: config.args.x"
    assert array.a.startswith("array int64 (3,) of SHA-256 ")
    assert array.b.startswith("array float64 (3,) of SHA-256 ")
