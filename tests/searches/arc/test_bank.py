"""Bank files: they round-trip, bad ones are refused in one line, digests bind them to runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.arcruns import Here, run_tasks, solved, write_tasks
from weft.errors import FileInvalid, RunMismatch
from weft.searches.arc.bank import Bank, Concept
from weft.searches.arc.ops.registry import REGISTRY
from weft.searches.arc.synthesis.language import Language
from weft.searches.arc.values import ValueStage

CHAIN = ("fall_down", "fall_left")
OBJECTS = next(
    o.name for o in REGISTRY if o.takes is ValueStage.GRID and o.gives is ValueStage.OBJECTS
)
PLAIN = {"name": "fallen", "operators": list(CHAIN), "millibits": 8000, "tasks": [], "concepts": []}


def test_bank_is_read_back_as_written(tmp_path: Path) -> None:
    short = Concept("a", CHAIN, 8000, ("d" * 64,))
    bank = Bank((short, Concept("b", (*CHAIN, "mirror_down"), 8001, (), ("a",))))
    (tmp_path / "bank.json").write_text(bank.to_json())
    reread = Bank.read(tmp_path / "bank.json")
    assert reread == bank
    assert reread.digest() == bank.digest()
    entry = reread.entries()[1]
    assert entry.expands == (*CHAIN, "mirror_down")
    assert len(entry.chain) == 3
    assert Language(reread.entries()).entries[-1].name == "b"


def bad(**changes: Any) -> dict[str, Any]:
    return {"schema_version": 1, "concepts": [{**PLAIN, **changes}]}


BAD: dict[str, tuple[Any, str]] = {
    "not JSON": ("{", "bank.json"),
    "a list": ([], "schema_version"),
    "another version": ({"schema_version": 2, "concepts": []}, "schema_version must be 1"),
    "no concepts": ({"schema_version": 1}, "a list of concepts"),
    "more fields": ({"schema_version": 1, "concepts": [], "x": 1}, "a list of concepts"),
    "a concept that is a text": ({"schema_version": 1, "concepts": ["x"]}, "concept 0"),
    "a field too many": (bad(more=1), "fields must be"),
    "an unknown operator": (bad(operators=["fall_down", "nosuch"]), "no operator 'nosuch'"),
    "one operator": (bad(operators=["fall_down"]), "2 to 4 operators"),
    "five operators": (bad(operators=["fall_down"] * 5), "2 to 4 operators"),
    "operators that do not fit": (bad(operators=[OBJECTS, "fall_down"]), "cannot follow"),
    "a free price": (bad(millibits=0), "a price at least 1"),
    "a price with a point": (bad(millibits=1.5), "millibits: a number where an integer should be"),
    "a price that is true": (bad(millibits=True), "millibits: true or false where an integer"),
    "two words": (bad(name="two words"), "a name is one word"),
    "the name of an operator": (bad(name="fall_down"), "is taken"),
    "a name used twice": ({"schema_version": 1, "concepts": [PLAIN, PLAIN]}, "is taken"),
    "a task that is a number": (bad(tasks=[1]), "tasks: a number where a text should be"),
    "a concept that is not there": (bad(concepts=["else"]), "depends on 'else'"),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_bad_bank_is_refused_with_its_place(name: str, tmp_path: Path, weft: Here) -> None:
    body, message = BAD[name]
    file = tmp_path / "bank.json"
    file.write_text(body if isinstance(body, str) else json.dumps(body))
    with pytest.raises(FileInvalid, match=message):
        Bank.read(file)
    out, data = tmp_path / "run", write_tasks(tmp_path / "data", [solved()])
    result = weft("arc", "solve", "--data", data, "--bank", file, "--out", out)
    result.check_one_line(3, message)
    assert not out.exists()


def test_missing_bank_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileInvalid, match="does not exist"):
        Bank.read(tmp_path / "nosuch.json")
    with pytest.raises(FileInvalid, match="regular file"):
        Bank.read(tmp_path)


def test_another_bank_is_another_run(tmp_path: Path) -> None:
    bank = Bank((Concept("fallen", CHAIN, 8000, ()),))
    run_tasks(tmp_path / "run", [solved()], bank=bank)
    pricier = Bank((Concept("fallen", CHAIN, 8001, ()),))
    with pytest.raises(RunMismatch, match="bank"):
        run_tasks(tmp_path / "run", [solved()], bank=pricier)


def test_bank_is_listed(weft: Here, tmp_path: Path) -> None:
    bank = Bank((Concept("fallen", CHAIN, 8000, ("d" * 64,)),))
    (tmp_path / "bank.json").write_text(bank.to_json())
    output = weft("arc", "show", "--bank", tmp_path / "bank.json").out
    assert "fallen  8.0 bits, from 1 task" in output
    assert bank.digest() in output
    assert weft("arc", "show", "--bank", tmp_path / "bank.json", "--json").json["concepts"]
