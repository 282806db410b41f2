"""What the programs found amount to: an answer, or UNKNOWN and why. Fails closed.

Programs that are right on every training pair are grouped by what they make of the tests. A
group claims the answer at the price of its best program: its bits, and what doubts of it cost
(`evidence`). The cheapest claim is the answer if it is probable enough (`confidence`, from what
`support` counts). Programs longer than the limit are guesses, as learned lists are; they come
after all explanations and answer nothing. Among guesses each doubling of those that agree is worth
some bits. Where the best explanation is not `LIKELY`, and for all guesses after the first, another
order can be asked for (`ranking`).

Where no confidence is asked for (an ablation), a price decides: it must be within the limit, and
every other group's objection, its shortest program whatever the doubts, must cost more than the
margin above it. A program that stands alone is charged for it, the less the more programs agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from weft.searches.arc.confidence import SURE
from weft.searches.arc.evidence import Evidence
from weft.searches.arc.normal.registry import FittedView
from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.program import Program, ProgramOrder, order_key
from weft.searches.arc.support import Competition, shares_operator
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
"""Competitors that cost no more than this above the best make an answer ambiguous, not unsure."""
LIMIT = 100 * BIT
LIKELY = 800
"""Permille from which the best explanation is the first guess, whatever the ranking says."""
Order = tuple[int, int, ProgramOrder]
Examine = Callable[[Program, tuple[Grid, ...], int | None], Evidence]
Assess = Callable[["Group", Sequence[ProgramCandidate], Competition], "Confidence"]
Rank = Callable[["Group"], int]
"""Points of a group: the fewer, the sooner it is guessed."""


class Outcome(StrEnum):
    """How a task ended."""

    SOLVED = "SOLVED"
    AMBIGUOUS = "UNKNOWN/ambiguous"
    UNSURE = "UNKNOWN/unsure"
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

    def through(self, view: FittedView, tests: Sequence[Grid]) -> Group:
        """Return the group for a task that a view shows as the one its programs were found for."""
        programs = tuple(program.through(view) for program in self.programs)
        return replace(self, outputs=view.back(tests, self.outputs), programs=programs)

    @property
    def price_millibits(self) -> int:
        """What it costs to accept the first program: its bits, and its doubts."""
        return self.millibits + (self.evidence.doubt_millibits if self.evidence else 0)

    @property
    def alone_millibits(self) -> int:
        """What it is charged because few programs agree."""
        return ALONE * max(0, DOUBLINGS + 1 - self.size.bit_length())


@dataclass(frozen=True, slots=True)
class Examination:
    """A program to gather evidence on, and what it makes of the tests."""

    program: Program
    outputs: tuple[Grid, ...]
    loo_passed: int | None
    """Of a decision list: the pairs that it predicts in cross-validation."""


@dataclass(frozen=True, slots=True)
class Confidence:
    """How probable it is that the best group is right, and what that rests on."""

    permille: int
    features: Mapping[str, int]
    points: Mapping[str, int]
    """What each feature adds to the log-odds, in thousandths of a nat; those of 0 left out."""


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
    confidence: Confidence | None = None
    needed_permille: int | None = None
    """The confidence that is enough."""
    place: int = 0
    """Place among the guesses of the group that was weighed: later than first where it is unlikely
    to be right and another is ranked before it."""

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

    def through(self, view: FittedView, tests: Sequence[Grid]) -> TaskVerdict:
        """Return the verdict on a task that a view shows as the one that was judged."""
        groups = tuple(group.through(view, tests) for group in self.groups)
        return replace(self, groups=groups)

    @property
    def confidence_permille(self) -> int | None:
        """Probability that the weighed group is right; None where it was not computed."""
        confidence = None if self.weighing is None else self.weighing.confidence
        return None if confidence is None else confidence.permille


def group(
    candidates: Sequence[ProgramCandidate], examine: Examine | None = None
) -> tuple[Group, ...]:
    """Group programs by test outputs; the cheapest claim first, unexamined groups last.

    Of equals the group of more programs comes first, then by the order of programs.
    """
    by_outputs = _by_outputs(candidates)
    groups = _unexamined(by_outputs)
    if examine is None:
        return tuple(groups)
    best = [_examined(g, by_outputs[encode_grids(g.outputs)], examine) for g in groups[:EXAMINED]]
    return (*sorted(best, key=_order), *groups[EXAMINED:])


def examinations(candidates: Sequence[ProgramCandidate]) -> list[Examination]:
    """Return what `group` examines, in its order; each can be examined by itself."""
    by_outputs = _by_outputs(candidates)
    return [
        Examination(program, g.outputs, loo_passed)
        for g in _unexamined(by_outputs)[:EXAMINED]
        for program, loo_passed in _witnesses(g, by_outputs[encode_grids(g.outputs)])
    ]


def _by_outputs(candidates: Sequence[ProgramCandidate]) -> dict[bytes, list[ProgramCandidate]]:
    """Programs by their test outputs, the shortest first."""
    by_outputs: dict[bytes, list[ProgramCandidate]] = {}
    for candidate in sorted(candidates, key=lambda c: (c.millibits, order_key(c.program))):
        by_outputs.setdefault(candidate.outputs, []).append(candidate)
    return by_outputs


def _unexamined(by_outputs: Mapping[bytes, Sequence[ProgramCandidate]]) -> list[Group]:
    groups = [_group(outputs, members) for outputs, members in by_outputs.items()]
    return sorted(groups, key=_order)


def _witnesses(
    group: Group, members: Sequence[ProgramCandidate]
) -> Iterator[tuple[Program, int | None]]:
    """The programs of a group that are examined, with what cross-validation said of each."""
    known = {c.program: c.loo_passed for c in reversed(members)}
    for program in group.programs:
        yield program, known[program]


def decide(
    candidates: Sequence[ProgramCandidate],
    guesses: Sequence[ProgramCandidate] = (),
    *,
    exhausted: bool,
    incomplete: bool = False,
    margin_millibits: int | None = None,
    limit_millibits: int = LIMIT,
    needed_permille: int = SURE,
    examine: Examine | None = None,
    assess: Assess | None = None,
    rank: Rank | None = None,
) -> TaskVerdict:
    """Judge what was found. `incomplete`: a part of the search failed.

    With `assess` the answer needs that confidence, and over `margin_millibits` where it is given;
    without it the price decides, and no competitor is allowed where there is no margin. With `rank`
    that is the order of guesses.
    """
    explanations = group(candidates, examine)
    known = {g.outputs for g in explanations}
    guessed = sorted((g for g in group(guesses) if g.outputs not in known), key=_guess_order)
    groups = (*explanations, *guessed)
    if not explanations:
        return TaskVerdict(_nothing(exhausted, incomplete), ordered(groups, rank))
    weighing = _weigh(explanations, limit_millibits, margin_millibits)
    if assess is not None:
        confidence = _assessed(explanations, candidates, guesses, assess)
        weighing = replace(weighing, confidence=confidence, needed_permille=needed_permille)
    groups = ordered(groups, rank, weighing)
    weighing = replace(weighing, place=groups.index(explanations[0]))
    if incomplete:  # the competitor may have been there
        return TaskVerdict(Outcome.INCOMPLETE, groups, weighing)
    return TaskVerdict(_outcome(weighing, exhausted), groups, weighing)


def ordered(
    groups: Sequence[Group], rank: Rank | None, weighing: Weighing | None = None
) -> tuple[Group, ...]:
    """Put groups in the order of guesses; they come in the order of what they cost.

    An explanation that is likely right, or enough for an answer, stays first. Without `rank` the
    order stays, except that the second is of another kind than the first.
    """
    if rank is None:
        return with_other_kind_second(groups)
    first, rest = (groups[:1], groups[1:]) if _is_likely(weighing) else ((), groups)
    return (*first, *sorted(rest, key=rank))


def _is_likely(weighing: Weighing | None) -> bool:
    if weighing is None or weighing.confidence is None or weighing.needed_permille is None:
        return False
    return weighing.confidence.permille >= min(LIKELY, weighing.needed_permille)


def with_other_kind_second(groups: Sequence[Group]) -> tuple[Group, ...]:
    """Put a group second whose program ends with another rule than the first one's.

    It may cost `MARGIN` more than the second. Two guesses of one kind are often wrong together.
    """
    first, rest = groups[:1], list(groups[1:])
    other = next((g for g in rest if g.programs[0].fitted != first[0].programs[0].fitted), None)
    if other is not None and other.millibits <= rest[0].millibits + MARGIN:
        rest.remove(other)
        rest.insert(0, other)
    return (*first, *rest)


def _nothing(exhausted: bool, incomplete: bool) -> Outcome:
    if incomplete:
        return Outcome.INCOMPLETE
    return Outcome.NO_PROGRAM if exhausted else Outcome.BUDGET


def _outcome(weighing: Weighing, exhausted: bool) -> Outcome:
    needed = weighing.needed_millibits
    if weighing.confidence is None:
        if not weighing.is_affordable:
            return _nothing(exhausted, False)
        return Outcome.SOLVED if weighing.is_clear(needed) else Outcome.AMBIGUOUS
    assert weighing.needed_permille is not None
    enough = weighing.confidence.permille >= weighing.needed_permille
    if enough and (needed is None or weighing.is_clear(needed)):
        return Outcome.SOLVED
    return Outcome.UNSURE if weighing.is_clear(MARGIN) else Outcome.AMBIGUOUS


def _assessed(
    explanations: Sequence[Group],
    candidates: Sequence[ProgramCandidate],
    guesses: Sequence[ProgramCandidate],
    assess: Assess,
) -> Confidence:
    """Compute the confidence in the best group, with what agrees and disagrees with it."""
    best, *others = explanations
    outputs = encode_grids(best.outputs)
    members = sorted(
        (c for c in candidates if c.outputs == outputs),
        key=lambda c: (c.millibits, order_key(c.program)),
    )
    same = [c for c in guesses if c.outputs == outputs]
    limit = min((c.millibits for c in same), default=LIMIT)
    competition = Competition(
        min((g.price_millibits - best.price_millibits for g in others), default=None),
        tuple({c.program: c for c in (*candidates, *guesses)}.values()),
        len(others),
        sum(not shares_operator(best.programs[0], c.program) for c in same),
        len({c.outputs for c in guesses if c.outputs != outputs and c.millibits < limit}),
    )
    return assess(best, members, competition)


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
    evidence = {p: examine(p, group.outputs, loo) for p, loo in _witnesses(group, members)}
    first = min(group.programs, key=lambda p: costs[p] + evidence[p].doubt_millibits)
    rest = (program for program in group.programs if program != first)
    return replace(group, programs=(first, *rest), millibits=costs[first], evidence=evidence[first])
