"""Ambiguity: when competing programs make an answer UNKNOWN."""

from __future__ import annotations

from weft.arc.program import Program
from weft.arc.search.space import Candidate
from weft.arc.values import Grid, Stage, encode
from weft.arc.verdict import WITNESSES, Outcome, decide

ONE, TWO = Grid.of([[1]]), Grid.of([[2]])
NAMES = ("mirror_rows", "mirror_columns", "transpose", "rotate_90", "rotate_180")


def candidate(name: str, grid: Grid, bits: int = 5) -> Candidate:
    return Candidate(Program((name,)), bits * 1000, encode(Stage.GRID, grid), 1)


def test_different_outputs_are_ambiguous_with_a_witness_each() -> None:
    verdict = decide(
        [candidate("mirror_rows", ONE, 7), candidate("transpose", TWO, 6)], exhausted=False
    )
    assert verdict.outcome is Outcome.AMBIGUOUS
    assert [g.outputs for g in verdict.groups] == [(TWO,), (ONE,)]
    assert [g.programs[0].names for g in verdict.groups] == [("transpose",), ("mirror_rows",)]
    assert verdict.answers == ()


def test_same_output_of_several_programs_is_an_answer() -> None:
    found = [candidate(name, ONE, 5 + i) for i, name in enumerate(NAMES)]
    verdict = decide(found, exhausted=False)
    assert verdict.outcome is Outcome.SOLVED
    assert verdict.answers == (ONE,)
    assert verdict.groups[0].size == len(NAMES)
    assert len(verdict.groups[0].programs) == WITNESSES
    assert verdict.groups[0].programs[0].names == ("mirror_rows",)


def test_single_program_is_an_answer() -> None:
    assert decide([candidate("transpose", ONE)], exhausted=False).outcome is Outcome.SOLVED


def test_margin_answers_only_when_it_is_exceeded() -> None:
    found = [candidate("transpose", ONE, 5), candidate("mirror_rows", TWO, 9)]
    assert decide(found, exhausted=False, margin_millibits=4000).outcome is Outcome.AMBIGUOUS
    assert decide(found, exhausted=False, margin_millibits=3999).outcome is Outcome.SOLVED


def test_failed_part_of_the_search_makes_any_answer_incomplete() -> None:
    verdict = decide([candidate("transpose", ONE)], exhausted=False, incomplete=True)
    assert verdict.outcome is Outcome.INCOMPLETE
    assert verdict.answers == ()


def test_nothing_found_tells_budget_from_exhaustion() -> None:
    assert decide([], exhausted=True).outcome is Outcome.NO_PROGRAM
    assert decide([], exhausted=False).outcome is Outcome.BUDGET
