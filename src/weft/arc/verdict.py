"""What the found programs amount to: an answer, or UNKNOWN and why. Fails closed.

Programs that are right on every training pair are grouped by what they make of the tests. One
group is an answer. Several are competing explanations: `ambiguous`, with the shortest program of
each as its witness, unless the user accepts a margin in description length. Programs too long to
be believed answer nothing and contradict nothing; they only follow as guesses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from weft.arc.program import Program, order_key
from weft.arc.search.space import Candidate
from weft.arc.values import Grid, Stage, decode

WITNESSES = 3
"""Programs shown of each group."""


class Outcome(StrEnum):
    """How a task ended."""

    SOLVED = "SOLVED"
    AMBIGUOUS = "UNKNOWN/ambiguous"
    BUDGET = "UNKNOWN/budget"
    NO_PROGRAM = "UNKNOWN/no-program"
    INCOMPLETE = "UNKNOWN/incomplete"


@dataclass(frozen=True, slots=True)
class Group:
    """Programs that agree on the tests, shortest first."""

    outputs: tuple[Grid, ...]
    programs: tuple[Program, ...]
    millibits: int
    """Of the shortest."""
    size: int
    """How many programs agreed."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome, and the groups it rests on, best first."""

    outcome: Outcome
    groups: tuple[Group, ...]

    @property
    def answers(self) -> tuple[Grid, ...]:
        """The test outputs, if there is an answer."""
        return self.groups[0].outputs if self.outcome is Outcome.SOLVED else ()


def group(candidates: Sequence[Candidate]) -> tuple[Group, ...]:
    """Group programs by test outputs; groups by their shortest program, then by outputs."""
    found: dict[bytes, list[Candidate]] = {}
    for candidate in candidates:
        found.setdefault(candidate.outputs, []).append(candidate)
    groups = [_group(outputs, members) for outputs, members in found.items()]
    return tuple(sorted(groups, key=lambda g: (g.millibits, order_key(g.programs[0]))))


def decide(
    candidates: Sequence[Candidate],
    guesses: Sequence[Candidate] = (),
    *,
    exhausted: bool,
    incomplete: bool = False,
    margin_millibits: int | None = None,
) -> Verdict:
    """Judge what was found. `incomplete` says that a part of the search failed."""
    believed = group(candidates)
    known = {g.outputs for g in believed}
    groups = (*believed, *(g for g in group(guesses) if g.outputs not in known))
    if incomplete:  # the competitor may have been there
        return Verdict(Outcome.INCOMPLETE, groups)
    if not believed:
        return Verdict(Outcome.NO_PROGRAM if exhausted else Outcome.BUDGET, groups)
    if len(believed) == 1 or _is_clear(believed, margin_millibits):
        return Verdict(Outcome.SOLVED, groups)
    return Verdict(Outcome.AMBIGUOUS, groups)


def _is_clear(groups: Sequence[Group], margin_millibits: int | None) -> bool:
    if margin_millibits is None:
        return False
    return groups[1].millibits - groups[0].millibits > margin_millibits


def _group(outputs: bytes, members: Sequence[Candidate]) -> Group:
    ordered = sorted(members, key=lambda c: (c.millibits, order_key(c.program)))
    programs = tuple(dict.fromkeys(c.program for c in ordered))
    return Group(_grids(outputs), programs[:WITNESSES], ordered[0].millibits, len(programs))


def _grids(outputs: bytes) -> tuple[Grid, ...]:
    grids, at = [], 0
    while at < len(outputs):
        grid, at = decode(Stage.GRID, outputs, at)
        assert isinstance(grid, Grid)
        grids.append(grid)
    return tuple(grids)
