"""Values of a run: a dataclass is checked once, when passed, and no answer may be one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

import weft
from weft.coordinator.runvalues import RunValues
from weft.errors import ValueInvalid
from weft.model.values import encode_args
from weft.storage.disk import Disk
from weft.storage.objects import ObjectStore


@dataclass(frozen=True)
class Point:
    x: int


@weft.task
def take(p: Point) -> int:
    return p.x


@pytest.fixture
def values(tmp_path: Path) -> RunValues:
    values = RunValues(ObjectStore(tmp_path / "objects", Disk()))
    values.note("take", f"{__name__}:take")
    return values


def test_dataclass_among_arguments_is_checked_and_then_forgotten(values: RunValues) -> None:
    args = {"p": Point(1)}
    text = encode_args(args, store=values)
    assert values.has_records
    values.check_args("take", args, text)
    assert not values.has_records
    assert values.pass_on(3) == ("3", 3), "the answer holds no dataclass"


def test_dataclass_in_an_answer_is_refused_and_then_forgotten(values: RunValues) -> None:
    with pytest.raises(ValueInvalid, match="a search's answer contains a dataclass"):
        values.pass_on([Point(1)])
    assert values.pass_on(3) == ("3", 3)


def test_annotations_come_from_the_module_that_the_search_named(
    values: RunValues, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import weft\n\n@weft.task\ndef twice(x: int) -> int:\n    return 2 * x\n"
    (tmp_path / "unseen_tasks.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    values.note("twice", "unseen_tasks:twice")
    assert values.types("twice").hint("x") is int
