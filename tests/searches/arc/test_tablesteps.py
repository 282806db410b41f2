"""Two tables in sequence: planted puzzles, what counts as a part, texts, when they are tried."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.arcruns import hopeless
from tests.support.arctasks import options
from tests.support.arcvalues import grid
from weft.errors import InputError
from weft.searches.arc.fitted.choose import segment
from weft.searches.arc.ops.registry import BY_NAME
from weft.searches.arc.program import parse
from weft.searches.arc.synthesis.ablation import FITTED
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learnsteps import (
    FIRSTS,
    SEEN,
    StepPart,
    learn_firsts,
    learn_seconds,
    step_parts,
)
from weft.searches.arc.synthesis.learntables import SEGMENTATIONS
from weft.searches.arc.synthesis.planner import ParallelPlanner, ShallowFacts
from weft.searches.arc.tables.learn import TableSearch
from weft.searches.arc.tables.partial import PartialTable, partial_tables
from weft.searches.arc.tables.scene import Scene
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import decode_grids

STEPS = "objects_8: by colour 6 gone, else stay then objects_8: by colour 1 slide south, else stay"
INPUTS = (
    "01001/06006/00000/00008/05000/00000",
    "10010/60060/00000/30000/00000/00050",
    "00101/00606/00800/00003/00000/00000",
    "10100/60600/00000/00800/00000/50000",
)
"""A 6 below an object holds it up; without the 6, it falls onto whatever else is there."""


def planted(program: str = STEPS, inputs: tuple[str, ...] = INPUTS) -> ArcTask:
    """A puzzle that two tables solve in sequence."""
    rule = parse(f'return objects(I, "{program}")\n')
    pairs = [Pair(grid(text), output) for text in inputs if (output := rule.run(grid(text)))]
    assert len(pairs) == len(inputs)
    return ArcTask("planted", tuple(pairs[:-1]), (pairs[-1].input,), (pairs[-1].output,))


def partial(inputs: tuple[str, ...], targets: tuple[str, ...]) -> list[PartialTable]:
    """The tables that partially explain the targets of some grids."""
    scenes = [Scene(grid(text), segment("objects_8", grid(text))) for text in inputs]
    return partial_tables(TableSearch(scenes, [grid(text) for text in targets]), scenes)


def test_planted_steps_are_found_and_exact() -> None:
    task = planted()
    problem = EncodedTask(task.without_truth())
    parts = step_parts(learn_firsts(problem))
    candidates = [candidate for part in parts for candidate in learn_seconds(problem, part)]
    assert any(decode_grids(candidate.outputs) == task.truth for candidate in candidates)
    for candidate in candidates:
        assert candidate.loo_passed is None, "chosen by all pairs: it may not answer"
        assert candidate.millibits == candidate.program.millibits()
        assert parse(candidate.program.text()) == candidate.program
        outputs = [candidate.program.run(pair.input) for pair in task.train]
        assert outputs == [pair.output for pair in task.train]
        assert (candidate.program.run(task.test[0]),) == decode_grids(candidate.outputs)


def test_two_steps_cost_more_than_each() -> None:
    first, second = (f'return objects(I, "{text}")\n' for text in STEPS.split(" then "))
    both = parse(f'return objects(I, "{STEPS}")\n')
    assert both.millibits() == parse(first).millibits() + parse(second).millibits()


def test_a_part_rights_cells_of_most_pairs_and_breaks_none() -> None:
    inputs = ("600/010/000", "060/000/200", "006/300/000")
    targets = ("000/000/010", "000/000/020", "000/000/003")
    tables = partial(inputs, targets)
    texts = [own.table.text() for own in tables]
    assert "by colour 6 gone, else stay" in texts
    assert "else gone" not in texts, "nothing would be left to a second table"
    for own in tables:
        assert 0 < own.wrong < 9
        for text, after, true in zip(inputs, own.grids, targets, strict=True):
            cells = zip(grid(text).cells, after.cells, grid(true).cells, strict=True)
            assert not any(old == target != new for old, new, target in cells)


def test_nothing_is_a_part_where_it_would_break_right_cells_or_help_one_pair_of_two() -> None:
    learned = partial(("606/010", "060/200"), ("600/001", "060/002"))
    assert not any("6 gone" in own.table.text() for own in learned)
    helped = partial(("600/010", "000/200"), ("000/000", "000/200"))
    assert helped == []


def test_outputs_of_another_size_have_no_steps() -> None:
    pair = Pair(grid("60/01"), grid("0"))
    assert learn_firsts(EncodedTask(ArcTask("", (pair, pair), (pair.input,)))) == ()


def test_parts_divide_first_tables_and_ways_to_see_objects() -> None:
    firsts = learn_firsts(EncodedTask(planted().without_truth()))
    assert 0 < len(firsts) <= FIRSTS
    every = sorted((part.first, name) for part in step_parts(firsts) for name in SEEN[part.seen])
    assert every == sorted((first, name) for first in firsts for name in SEGMENTATIONS)
    assert step_parts(()) == []


def test_a_part_learns_what_its_first_table_leaves() -> None:
    task, (first, _) = planted(), STEPS.split(" then ")
    candidates = learn_seconds(EncodedTask(task.without_truth()), StepPart(first, 0))
    assert all(f"{first} then objects_8: " in own.program.text() for own in candidates)
    assert any(decode_grids(own.outputs) == task.truth for own in candidates)


@pytest.mark.parametrize(
    "text",
    [
        STEPS + " then objects_8: else stay",
        STEPS + " then ",
        "objects_8: else stay then else stay",
        "objects_8: else stay  then objects_8: else stay",
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="not a parameter of objects"):
        parse(f'return objects(I, "{text}")\n')


def facts(*, is_solved: bool = False, canvases: int = 0, bases: int = 1) -> ShallowFacts:
    return ShallowFacts(10, is_solved, False, 0, (), bases, canvases, 0)


def test_steps_are_tried_only_where_nothing_fits() -> None:
    planner = ParallelPlanner(options())
    assert planner.has_steps(facts(), is_guessed=False)
    assert not planner.has_steps(facts(), is_guessed=True)
    for known in (facts(is_solved=True), facts(canvases=1), facts(bases=0)):
        assert not planner.has_steps(known, is_guessed=False)
    bare = ParallelPlanner(replace(options(), without=(FITTED,)))
    assert not bare.has_steps(facts(), is_guessed=False)


def test_evidence_is_recorded_with_two_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "tools")
    recorder = importlib.import_module("record_arc_evidence").Recorder([BY_NAME["transpose"]])
    unsolved = replace(hopeless(1, 3, 4), name="hopeless-whole-0")
    row, assembled = recorder.record(unsolved), recorder.planner.searched(unsolved.without_truth())
    texts = [candidate.program.text() for candidate in assembled.found.guesses]
    assert [text for text, *_ in row["guesses"]] == texts
    assert "steps" in row["cpu_s"], "nothing fits, so two tables are tried"
    task = planted()
    candidates = [
        each for part in recorder.stepped(EncodedTask(task.without_truth())) for each in part
    ]
    assert any(decode_grids(candidate.outputs) == task.truth for candidate in candidates)
