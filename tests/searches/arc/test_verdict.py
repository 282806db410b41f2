"""Ambiguity and belief: when competing or doubtful programs make an answer UNKNOWN."""

from __future__ import annotations

from weft.searches.arc.evidence import LACKING, Evidence
from weft.searches.arc.ops.registry import REGISTRY
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.values import Grid, ValueStage, encode
from weft.searches.arc.verdict import EXAMINED, WITNESSES, Examine, Outcome, decide

ONE, TWO = Grid.of([[1]]), Grid.of([[2]])
NAMES = ("mirror_rows", "mirror_columns", "transpose", "rotate_90", "rotate_180")
SURE, UNSURE = Evidence(2, 2), Evidence(0, 2)


def candidate(name: str, grid: Grid, bits: int = 5) -> ProgramCandidate:
    return ProgramCandidate(Program((name,)), bits * 1000, encode(ValueStage.GRID, grid), 1)


def doubting(*names: str) -> Examine:
    """An examination by name: programs that contain any of these operators are unsure."""
    return lambda program, *_: UNSURE if set(names) & set(program.names) else SURE


def test_different_outputs_are_ambiguous_with_a_witness_each() -> None:
    verdict = decide(
        [candidate("mirror_rows", ONE, 7), candidate("transpose", TWO, 6)], exhausted=False
    )
    assert verdict.outcome is Outcome.AMBIGUOUS
    assert [g.outputs for g in verdict.groups] == [(TWO,), (ONE,)]
    assert [g.programs[0].names for g in verdict.groups] == [("transpose",), ("mirror_rows",)]


def test_guesses_on_which_more_programs_agree_rank_higher_but_answer_nothing() -> None:
    agreeing = [candidate(name, TWO, 111) for name in NAMES[1:3]]
    verdict = decide([], [candidate("mirror_rows", ONE, 106), *agreeing], exhausted=False)
    assert [g.outputs for g in verdict.groups] == [(TWO,), (ONE,)]
    assert verdict.outcome is Outcome.BUDGET
    verdict = decide([], [candidate("mirror_rows", ONE, 104), *agreeing], exhausted=False)
    assert [g.outputs for g in verdict.groups] == [(ONE,), (TWO,)]


def test_second_guess_is_of_another_kind_if_it_costs_little_more() -> None:
    def guess(rule: str, colour: int, bits: int) -> ProgramCandidate:
        output = encode(ValueStage.GRID, Grid.of([[colour]]))
        text = {"cells": "else own", "each": "single_rows: mirror_rows"}[rule]
        return ProgramCandidate(Program((), rule, text), bits * 1000, output, 1)

    def order(dearer: int) -> list[int]:
        lists = [guess("cells", 1, 50), guess("cells", 2, 60), guess("cells", 3, 62)]
        groups = decide([], [*lists, guess("each", 4, dearer)], exhausted=False).groups
        return [group.outputs[0].cells[0] for group in groups]

    assert order(64) == [1, 4, 2, 3]
    assert order(65) == [1, 2, 3, 4]
    assert order(49) == [4, 1, 2, 3]


def test_same_output_of_several_programs_is_an_answer() -> None:
    candidates = [candidate(name, ONE, 5 + i) for i, name in enumerate(NAMES)]
    verdict = decide(candidates, exhausted=False)
    assert verdict.outcome is Outcome.SOLVED
    assert verdict.groups[0].outputs == (ONE,)
    assert verdict.groups[0].size == len(NAMES)
    assert len(verdict.groups[0].programs) == WITNESSES
    assert verdict.groups[0].programs[0].names == ("mirror_rows",)


def test_single_program_is_an_answer() -> None:
    assert decide([candidate("transpose", ONE)], exhausted=False).outcome is Outcome.SOLVED


def test_margin_answers_only_when_it_is_exceeded() -> None:
    candidates = [candidate("transpose", ONE, 5), candidate("mirror_rows", TWO, 9)]
    assert decide(candidates, exhausted=False, margin_millibits=4000).outcome is Outcome.AMBIGUOUS
    assert decide(candidates, exhausted=False, margin_millibits=3999).outcome is Outcome.SOLVED
    assert decide(candidates, exhausted=False, margin_millibits=None).outcome is Outcome.AMBIGUOUS


def test_agreement_of_many_never_decides_but_comes_first() -> None:
    """However many programs agree, an equally short one that differs makes it ambiguous."""
    many = [candidate(name, TWO, 5) for name in NAMES]
    verdict = decide([candidate("fall_down", ONE, 5), *many], exhausted=False, margin_millibits=0)
    assert verdict.outcome is Outcome.AMBIGUOUS
    assert [g.outputs for g in verdict.groups] == [(TWO,), (ONE,)]


def test_doubtful_program_alone_is_refused_with_its_price() -> None:
    candidates = [candidate("transpose", ONE, 50)]
    sure = decide(candidates, exhausted=False, examine=doubting())
    unsure = decide(candidates, exhausted=False, examine=doubting("transpose"))
    assert sure.outcome is Outcome.SOLVED
    assert unsure.outcome is Outcome.BUDGET
    assert unsure.groups[0].outputs == (ONE,), "it stays as a guess"
    assert unsure.weighing is not None
    assert unsure.weighing.price_millibits == 50_000 + 2 * LACKING


def test_program_that_stands_alone_is_charged_until_eight_agree() -> None:
    names = [o.name for o in REGISTRY if o.takes is o.gives is ValueStage.GRID][:8]
    for count, charged in ((1, 30), (2, 20), (3, 20), (4, 10), (7, 10), (8, 0)):
        candidates = [candidate(name, ONE, 80) for name in names[:count]]
        verdict = decide(candidates, exhausted=False)
        assert verdict.weighing is not None
        assert verdict.weighing.alone_millibits == charged * 1000
        assert (verdict.outcome is Outcome.SOLVED) == (charged <= 20)


def test_doubts_do_not_silence_an_objection() -> None:
    candidates = [candidate("transpose", ONE, 9), candidate("mirror_rows", TWO, 8)]
    verdict = decide(candidates, exhausted=False, examine=doubting("mirror_rows"))
    assert verdict.outcome is Outcome.AMBIGUOUS
    assert verdict.groups[0].outputs == (ONE,), "what nothing speaks against comes first"


def test_group_is_led_by_its_most_believable_program() -> None:
    candidates = [candidate("transpose", ONE, 5), candidate("trim", ONE, 9)]
    verdict = decide(candidates, exhausted=False, examine=doubting("transpose"))
    [best] = verdict.groups
    assert best.programs[0].names == ("trim",)
    assert (best.millibits, best.shortest_millibits) == (9000, 5000)


def test_groups_beyond_those_examined_come_last_and_still_object() -> None:
    grids = [Grid.of([[i]]) for i in range(EXAMINED + 2)]
    candidates = [candidate("trim", grid, 5 + i) for i, grid in enumerate(grids)]
    verdict = decide(candidates, exhausted=False, examine=doubting())
    assert [g.evidence is None for g in verdict.groups] == [False] * EXAMINED + [True] * 2
    assert verdict.outcome is Outcome.AMBIGUOUS


def test_failed_part_of_the_search_makes_any_answer_incomplete() -> None:
    verdict = decide([candidate("transpose", ONE)], exhausted=False, incomplete=True)
    assert verdict.outcome is Outcome.INCOMPLETE


def test_nothing_found_tells_budget_from_exhaustion() -> None:
    assert decide([], exhausted=True).outcome is Outcome.NO_PROGRAM
    assert decide([], exhausted=False).outcome is Outcome.BUDGET
