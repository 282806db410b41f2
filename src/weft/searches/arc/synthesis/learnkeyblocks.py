"""Learn whether one block of a divided grid, the key, says how all blocks are drawn, and which one.

Tried if lines divide every grid into equal blocks. Criteria that select the same blocks are tried
once. Such programs are guesses, and qualify as answers if every pair is predicted by the first rule
that fits the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from weft.searches.arc.fitted.choose import Criterion
from weft.searches.arc.fitted.keyblock import (
    CRITERIA,
    DRAWINGS,
    DividedGrid,
    KeyBlock,
    divided,
    parameters,
)
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.crossvalidation import each_predicted
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.sample import GridVector
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.values import Grid, decode_grids, encode_grids

Rule = tuple[Criterion, str]


def learn_key_blocks(
    problem: EncodedTask, vector: GridVector, time: int = 0
) -> Iterator[ProgramCandidate]:
    """Yield the programs that draw the blocks of a vector by a key block as the targets show it."""
    grids, targets = decode_grids(vector.content), problem.targets_plain
    divisions = _divisions(grids, targets)
    if divisions is None:
        return
    keys = [division.keys() for division in divisions]

    @cache
    def drawn(pair: int, key: int, drawing: str) -> Grid | None:
        return divisions[pair].drawn(key, drawing)

    def explains(rule: Rule, pair: int) -> bool:
        key = keys[pair].get(rule[0])
        return key is not None and drawn(pair, key, rule[1]) == targets[pair]

    rules: dict[bytes, Rule] = {}
    for rule in _rules():
        if all(explains(rule, pair) for pair in range(len(targets))):
            tests = _tests(divisions[len(targets) :], keys[len(targets) :], rule)
            if tests is not None:
                rules.setdefault(encode_grids(tests), rule)  # of equal outputs, the first rule
    passes = bool(rules) and each_predicted(_rules(), explains, len(targets))
    for content, rule in rules.items():
        program = Program(vector.chain, KeyBlock.name, parameters(*rule))
        loo_passed = len(targets) if passes else 0
        yield ProgramCandidate(program, program.millibits(), content, time, loo_passed)


def _divisions(grids: Sequence[Grid], targets: Sequence[Grid]) -> list[DividedGrid] | None:
    """Return all grids divided; None if one cannot be divided, or a target has another size."""
    if any(a.size != b.size for a, b in zip(grids, targets, strict=False)):
        return None
    divisions = []
    for grid in grids:
        division = divided(grid)
        if division is None:
            return None
        divisions.append(division)
    return divisions


def _rules() -> list[Rule]:
    return [(criterion, drawing) for drawing in DRAWINGS for criterion in CRITERIA]


def _tests(
    divisions: Sequence[DividedGrid], keys: Sequence[dict[Criterion, int]], rule: Rule
) -> list[Grid] | None:
    """Return a rule's outputs for the tests; None if one has no such key or cannot be drawn."""
    criterion, drawing = rule
    outputs = [
        division.drawn(own[criterion], drawing)
        for division, own in zip(divisions, keys, strict=True)
        if criterion in own
    ]
    grids = [output for output in outputs if output is not None]
    return grids if len(grids) == len(divisions) else None
