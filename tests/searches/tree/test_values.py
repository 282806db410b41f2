"""Values of JSON and TOML files: set in place without other changes, mutated by a seed."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.searches.tree.ideas import read_folder
from weft.searches.tree.ideatables import GridTable, MutationTable, from_grids
from weft.searches.tree.slot.values import (
    Conflict,
    Draw,
    Mutation,
    ParameterIdea,
    moved,
    mutations,
    with_value,
    with_values,
)

TOML = """# rates
rate = 0.1  # found by hand
name = "a # b"  # no comment inside

[model]
depth = 3
"wide" = true
point = { x = 1 }
list = [
  1,
]
[model.deep]
x.y = 5
[[many]]
z = 1
"""
NAMES = st.text("abcde-_", min_size=1, max_size=3)
LEAVES = st.integers(-(2**40), 2**40) | st.booleans() | st.text(max_size=8)
TREES = st.recursive(LEAVES, lambda inner: st.dictionaries(NAMES, inner, min_size=1, max_size=4))
BODIES = st.dictionaries(NAMES, TREES, min_size=1, max_size=4)


def paths(body: Any) -> list[list[str]]:
    if not isinstance(body, dict):
        return [[]]
    return [[name, *rest] for name, inner in body.items() for rest in paths(inner)]


@settings(max_examples=40)
@given(BODIES, st.data(), LEAVES, st.sampled_from([None, 1, "\t"]))
def test_json_value_set_changes_its_own_text_only(
    body: dict[str, Any], data: st.DataObject, value: Any, indent: Any
) -> None:
    keys = data.draw(st.sampled_from(paths(body)))
    text = json.dumps(body, indent=indent, ensure_ascii=False) + "\n"
    changed = with_value(text, keys, value, is_toml=False)
    place = body
    for name in keys[:-1]:
        place = place[name]
    place[keys[-1]] = value
    assert changed == json.dumps(body, indent=indent, ensure_ascii=False) + "\n"


@settings(max_examples=40)
@given(BODIES, st.data(), LEAVES)
def test_toml_value_set_is_read_back_and_all_others_stay(
    body: dict[str, Any], data: st.DataObject, value: Any
) -> None:
    keys = data.draw(st.sampled_from(paths(body)))
    changed = with_value(tomli_w.dumps(body), keys, value, is_toml=True)
    place = body
    for name in keys[:-1]:
        place = place[name]
    place[keys[-1]] = value
    assert tomllib.loads(changed) == body


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("rate", 0.25, "rate = 0.25  # found by hand"),
        ("name", "c", 'name = "c"  # no comment inside'),
        ("model.depth", 4, "depth = 4"),
        ("model.wide", False, '"wide" = false'),
        ("model.deep.x.y", 6, "x.y = 6"),
    ],
)
def test_toml_keeps_comments_and_layout(key: str, value: Any, line: str) -> None:
    changed = with_value(TOML, key.split("."), value, is_toml=True)
    before, after = TOML.splitlines(), changed.splitlines()
    assert [new for old, new in zip(before, after, strict=True) if old != new] == [line]


@pytest.mark.parametrize("key", ["none", "model.point.x", "model.list", "many.z", "rate.x"])
def test_toml_value_without_a_line_of_its_own_is_a_conflict(key: str) -> None:
    with pytest.raises(Conflict):
        with_value(TOML, key.split("."), 9, is_toml=True)


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.json", "{"), ("a.json", "[1]"), ("a.toml", "x = "), ("a.toml", "x = 1979-05-27\n")],
)
def test_file_that_has_no_such_value_is_a_conflict(name: str, text: str) -> None:
    with pytest.raises(Conflict):
        with_values(ParameterIdea(name, {"y": 1}), text.encode())
    with pytest.raises(Conflict):
        with_values(ParameterIdea(name, {"y": 1}), b"\xff")


def table(**more: Any) -> Mutation:
    return MutationTable(file="a.toml", **more).to_mutation()


def test_mutations_follow_from_the_seed_and_fit_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(TOML)
    ideas = mutations(table(count=12, at_once=2), tmp_path, "7")
    assert ideas == mutations(table(count=12, at_once=2), tmp_path, "7")
    assert ideas != mutations(table(count=12, at_once=2), tmp_path, "8")
    assert len({json.dumps(idea.values) for idea in ideas}) == 12
    moved_keys = {key for idea in ideas for key in idea.values}
    assert moved_keys == {"rate", "model.depth", "model.wide", "model.deep.x.y"}
    for idea in ideas:
        assert with_values(idea, TOML.encode()) != TOML.encode()


@given(st.integers(0, 10**6), st.integers(-1000, 1000), st.integers(1, 50))
def test_moved_whole_number_stays_near_and_within_bounds(seed: int, old: int, step: int) -> None:
    own = table(scale=0.2, step=step, low=-500, high=500)
    new = moved(old, own, Draw(str(seed)))
    assert -500 <= new <= 500
    assert isinstance(new, int)
    assert abs(new - old) <= max(abs(old) * 0.2, step) or abs(old) > 500


@given(st.integers(0, 10**6), st.floats(1e-6, 1e6))
def test_moved_fraction_stays_within_its_share(seed: int, old: float) -> None:
    new = moved(old, table(scale=0.5), Draw(str(seed)))
    assert old * 0.4999 <= new <= old * 1.5001


def test_mutation_of_a_key_that_is_not_there_is_a_conflict(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(TOML)
    with pytest.raises(Conflict, match="no number name"):
        mutations(table(keys=["name"]), tmp_path, "1")


def test_grid_has_every_combination_and_json_ideas_are_parameters(tmp_path: Path) -> None:
    grid = {"file": "a.toml", "values": {"rate": [1, 2], "model.depth": [3, 4, 5]}}
    ideas = from_grids([GridTable(**grid)])
    assert len({idea.digest for idea, _ in ideas}) == 6
    assert ideas[0][0].name == "rate=1,model.depth=3"
    (tmp_path / "one.json").write_bytes(ideas[0][1])
    [(idea, _)] = read_folder(tmp_path, has_command=False)
    assert (idea.kind, idea.digest) == ("parameter", ideas[0][0].digest)
