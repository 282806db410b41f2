"""Learn rules whose parameters the pairs propose: crops at a mark, copies by a count, sorting.

    grids of a vector, inputs, targets ──► parameters that give every target ──► programs

Most targets are rejected by their sizes or colours alone. Of parameters that agree on the tests the
first are kept. Such programs are guesses, and qualify as answers if every pair is predicted by the
first parameters that the others propose.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from weft.searches.arc.fitted.cropat import CropAt
from weft.searches.arc.fitted.onecolour import OneColour
from weft.searches.arc.fitted.repeat import Repeat
from weft.searches.arc.fitted.rule import Examples, Proposed
from weft.searches.arc.fitted.sort import Sort
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learnlists import FEW_PAIRS
from weft.searches.arc.synthesis.sample import GridVector
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.values import Grid, decode_grids, encode_grids

RESIZING: tuple[Proposed, ...] = (CropAt(), Repeat())
"""Tried if targets differ in size from inputs."""
REPEATING: tuple[Proposed, ...] = (Repeat(),)
"""Tried on grids that fit into targets several times."""
PAINTING: tuple[Proposed, ...] = (OneColour(),)
"""Tried on grids of the targets' size."""
KEEPING: tuple[Proposed, ...] = (Sort(),)
"""Tried if every target has the size of its input."""
MOST = 6
"""Most parameters kept of one rule."""


def learn_proposed(
    problem: EncodedTask, vector: GridVector, rules: Sequence[Proposed], time: int = 0
) -> Iterator[ProgramCandidate]:
    """Yield the programs that give the targets by one of the rules on a vector's grids."""
    grids = decode_grids(vector.content)
    examples = Examples(grids, problem.inputs, problem.targets_plain)
    for rule in rules:
        texts: dict[bytes, str] = {}
        for text in islice(rule.proposed(examples), 4 * MOST):
            tests = _tests(rule, text, examples)
            if tests is not None and len(texts) < MOST:
                texts.setdefault(encode_grids(tests), text)
        loo_passed = problem.train if texts and _loo_passes(rule, examples) else 0
        for content, text in texts.items():
            program = Program(vector.chain, rule.name, text)
            yield ProgramCandidate(program, program.millibits(), content, time, loo_passed)


def _tests(rule: Proposed, text: str, examples: Examples) -> list[Grid] | None:
    """Return the test outputs for parameters of a rule; None if they fail."""
    train = len(examples.expected)
    tests = zip(examples.values[train:], examples.given[train:], strict=True)
    outputs = [rule.apply(text.encode(), value, given) for value, given in tests]
    known = [output for output in outputs if output is not None]
    return known if len(known) == len(outputs) else None


def _loo_passes(rule: Proposed, examples: Examples) -> bool:
    """Whether every pair is predicted by the first parameters that the others propose."""
    pairs = len(examples.expected)
    return pairs > FEW_PAIRS and all(_predicts(rule, examples, left) for left in range(pairs))


def _predicts(rule: Proposed, examples: Examples, left: int) -> bool:
    others = [n for n in range(len(examples.expected)) if n != left]
    training = Examples(
        *(tuple(grids[n] for n in others) for grids in (examples.values, examples.given,
                                                         examples.expected))
    )  # fmt: skip
    text = next(rule.proposed(training), None)
    if text is None:
        return False
    value, given = examples.values[left], examples.given[left]
    return rule.apply(text.encode(), value, given) == examples.expected[left]
