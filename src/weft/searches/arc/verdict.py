"""What the programs found amount to: an answer, or UNKNOWN and why. Fails closed.

Programs that are right on every training pair are grouped by what they make of the tests. A
group claims the answer at the price of its best program: its bits, and what doubts of it cost
(`evidence`). The cheapest claim is the answer if its price is within the limit and every other
group's objection, its shortest program whatever the doubts, costs more than the margin above it.
A program that stands alone is charged for it against the limit, the less the more programs agree;
numbers never decide between answers. Programs longer than the limit are guesses: they answer
nothing and contradict nothing. Among guesses numbers do count: each doubling of those that agree
is worth some bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from weft.searches.arc.evidence import Evidence
from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.program import Program, ProgramOrder, order_key
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.values import Grid, decode_grids, encode_grids

WITNESSES = 3
"""Programs examined and shown of each group."""
EXAMINED = 4
"""Groups examined; those with weaker objections follow behind them, unexamined."""
ALONE = 10 * BIT
"""Charged to a program that stands alone, for each doubling that its group lacks to eight."""
DOUBLINGS = 3
VOTE = 6 * BIT
"""What a doubling of the programs that agree on a guess is worth."""
MARGIN = 4 * BIT
"""How much more every competitor must cost; tuned on the training split."""
LIMIT = 100 * BIT
Order = tuple[int, int, ProgramOrder]
Examine = Callable[[Program, tuple[Grid, ...], int | None], Evidence]


class Outcome(StrEnum):
    """How a task ended."""

    SOLVED = "SOLVED"
    AMBIGUOUS = "UNKNOWN/ambiguous"
    BUDGET = "UNKNOWN/budget"
    NO_PROGRAM = "UNKNOWN/no-program"
    INCOMPLETE = "UNKNOWN/incomplete"


@dataclass(frozen=True, slots=True)
class Group:
    """Programs that agree on the tests, the most credible first."""

    outputs: tuple[Grid, ...]
    programs: tuple[Program, ...]
    millibits: int
    """Of the first program."""
    shortest_millibits: int
    size: int
    """How many programs agreed."""
    evidence: Evidence | None = None
    """On the first program; None where it was not examined."""

    @property
    def price_millibits(self) -> int:
        """What it costs to accept the first program: its bits, and its doubts."""
        return self.millibits + (self.evidence.doubt_millibits if self.evidence else 0)

    @property
    def alone_millibits(self) -> int:
        """What it is charged because few programs agree."""
        return ALONE * max(0, DOUBLINGS + 1 - self.size.bit_length())


@dataclass(frozen=True, slots=True)
class Weighing:
    """The numbers that decided about the best group."""

    price_millibits: int
    alone_millibits: int
    """Charged because few programs agree."""
    limit_millibits: int
    margin_millibits: int | None
    """How much more the strongest competitor costs; None without one."""
    needed_millibits: int | None
    """The margin that it must exceed; None where any competitor is too many."""

    @property
    def is_affordable(self) -> bool:
        """Whether the best group may be accepted at all."""
        return self.price_millibits + self.alone_millibits <= self.limit_millibits

    def is_clear(self, needed_millibits: int | None) -> bool:
        """Whether no competitor comes near."""
        if self.margin_millibits is None:
            return True
        return needed_millibits is not None and self.margin_millibits > needed_millibits


@dataclass(frozen=True, slots=True)
class TaskVerdict:
    """The outcome, the groups it rests on, best first, and what decided about the best."""

    outcome: Outcome
    groups: tuple[Group, ...]
    weighing: Weighing | None = None


def group(
    candidates: Sequence[ProgramCandidate], examine: Examine | None = None
) -> tuple[Group, ...]:
    """Group programs by test outputs; the cheapest claim first, unexamined groups last.

    Of equals the group of more programs comes first, then by the order of programs.
    """
    by_outputs: dict[bytes, list[ProgramCandidate]] = {}
    for candidate in sorted(candidates, key=lambda c: (c.millibits, order_key(c.program))):
        by_outputs.setdefault(candidate.outputs, []).append(candidate)
    groups = [_group(outputs, members) for outputs, members in by_outputs.items()]
    groups.sort(key=_order)
    if examine is None:
        return tuple(groups)
    best = [_examined(g, by_outputs[encode_grids(g.outputs)], examine) for g in groups[:EXAMINED]]
    return (*sorted(best, key=_order), *groups[EXAMINED:])


def decide(
    candidates: Sequence[ProgramCandidate],
    guesses: Sequence[ProgramCandidate] = (),
    *,
    exhausted: bool,
    incomplete: bool = False,
    margin_millibits: int | None = MARGIN,
    limit_millibits: int = LIMIT,
    examine: Examine | None = None,
) -> TaskVerdict:
    """Judge what was found. `incomplete`: a part of the search failed."""
    explanations = group(candidates, examine)
    known = {g.outputs for g in explanations}
    guessed = sorted((g for g in group(guesses) if g.outputs not in known), key=_guess_order)
    groups = (*explanations, *guessed)
    weighing = _weigh(explanations, limit_millibits, margin_millibits) if explanations else None
    if incomplete:  # the competitor may have been there
        return TaskVerdict(Outcome.INCOMPLETE, groups, weighing)
    if weighing is None or not weighing.is_affordable:
        return TaskVerdict(Outcome.NO_PROGRAM if exhausted else Outcome.BUDGET, groups, weighing)
    clear = weighing.is_clear(margin_millibits)
    return TaskVerdict(Outcome.SOLVED if clear else Outcome.AMBIGUOUS, groups, weighing)


def _order(group: Group) -> Order:
    return (group.price_millibits, -group.size, order_key(group.programs[0]))


def _guess_order(group: Group) -> tuple[int, Order]:
    doublings = group.size.bit_length() - 1
    return group.millibits - VOTE * doublings, _order(group)


def _weigh(groups: Sequence[Group], limit: int, needed: int | None) -> Weighing:
    best, *others = groups
    margins = [other.shortest_millibits - best.price_millibits for other in others]
    margin = min(margins, default=None)
    return Weighing(best.price_millibits, best.alone_millibits, limit, margin, needed)


def _group(outputs: bytes, members: Sequence[ProgramCandidate]) -> Group:
    """Make a group of programs that are sorted, the shortest first."""
    programs = tuple(dict.fromkeys(c.program for c in members))
    cost = members[0].millibits
    return Group(decode_grids(outputs), programs[:WITNESSES], cost, cost, len(programs))


def _examined(group: Group, members: Sequence[ProgramCandidate], examine: Examine) -> Group:
    """Put the program first that is cheapest with its doubts; of equals the shorter."""
    costs = {c.program: c.millibits for c in reversed(members)}
    known = {c.program: c.loo_passed for c in reversed(members)}
    evidence = {p: examine(p, group.outputs, known[p]) for p in group.programs}
    first = min(group.programs, key=lambda p: costs[p] + evidence[p].doubt_millibits)
    rest = (program for program in group.programs if program != first)
    return replace(group, programs=(first, *rest), millibits=costs[first], evidence=evidence[first])
