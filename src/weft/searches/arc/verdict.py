"""Turn the programs found into an answer, or UNKNOWN with the reason. Fails closed.

Programs that are right on every training pair are grouped by their test outputs. The price of a
group is that of its best program: its bits plus the cost of its doubts (`evidence`). The cheapest
group is the answer if it is probable enough (`confidence`, from the features in `support`).
Programs longer than the limit are guesses, like learned lists: they come after all explanations
and are never an answer. Among guesses, each doubling of the programs that agree is worth some
bits. If the best explanation is not `LIKELY`, and for all guesses after the first, another order
can be given (`ranking`).

Without a confidence (an ablation) the price decides: it must be within the limit, and the shortest
program of every other group, whatever its doubts, must cost over the margin more. A program that
stands alone is charged extra, less the more programs agree.
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
"""Number of programs examined and shown per group."""
EXAMINED = 4
"""Number of groups examined; more expensive ones follow, unexamined."""
ALONE = 10 * BIT
"""Charge for each doubling by which a group falls short of eight programs."""
DOUBLINGS = 3
VOTE = 6 * BIT
"""The value of each doubling of the programs that agree on a guess."""
MARGIN = 4 * BIT
"""If a competitor costs at most this much more than the best, UNKNOWN is ambiguous, not unsure."""
LIMIT = 100 * BIT
LIKELY = 800
"""Permille from which the best explanation is the first guess, whatever its rank."""
Order = tuple[int, int, ProgramOrder]
Examine = Callable[[Program, tuple[Grid, ...], int | None], Evidence]
Assess = Callable[["Group", Sequence[ProgramCandidate], Competition], "Confidence"]
Rank = Callable[["Group"], int]
"""Return the points of a group; groups with fewer points are guessed first."""


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
    """Cost of the first program, without doubts."""
    shortest_millibits: int
    size: int
    """Number of programs that agree."""
    evidence: Evidence | None = None
    """Evidence on the first program; None if it was not examined."""

    def through(self, view: FittedView, tests: Sequence[Grid]) -> Group:
        """Return the group for a task that a view turns into the one that was searched."""
        programs = tuple(program.through(view) for program in self.programs)
        return replace(self, outputs=view.back(tests, self.outputs), programs=programs)

    @property
    def price_millibits(self) -> int:
        """The cost of the first program, doubts included."""
        return self.millibits + (self.evidence.doubt_millibits if self.evidence else 0)

    @property
    def alone_millibits(self) -> int:
        """The charge if few programs agree."""
        return ALONE * max(0, DOUBLINGS + 1 - self.size.bit_length())


@dataclass(frozen=True, slots=True)
class Examination:
    """A program to gather evidence on, and its test outputs."""

    program: Program
    outputs: tuple[Grid, ...]
    loo_passed: int | None
    """For a decision list: the number of pairs that it predicts in cross-validation."""


@dataclass(frozen=True, slots=True)
class Confidence:
    """The probability that the best group is right, and its basis."""

    permille: int
    features: Mapping[str, int]
    points: Mapping[str, int]
    """Contribution of each feature to the log-odds, in thousandths of a nat, if it is not 0."""


@dataclass(frozen=True, slots=True)
class Weighing:
    """The numbers by which the best group was accepted or refused."""

    price_millibits: int
    alone_millibits: int
    """Charge if few programs agree."""
    limit_millibits: int
    margin_millibits: int | None
    """How much more the strongest competitor costs; None without one."""
    needed_millibits: int | None
    """The margin that must be exceeded; None if none was required.

    If the price decides, None allows no competitor.
    """
    confidence: Confidence | None = None
    needed_permille: int | None = None
    """The least confidence that suffices for an answer."""
    place: int = 0
    """Place of the weighed group among the guesses: not the first if it is unlikely to be right
    and another is ranked before it."""

    @property
    def is_affordable(self) -> bool:
        """Whether the price of the best group is within the limit."""
        return self.price_millibits + self.alone_millibits <= self.limit_millibits

    def is_clear(self, needed_millibits: int | None) -> bool:
        """Whether every competitor costs over `needed_millibits` more."""
        if self.margin_millibits is None:
            return True
        return needed_millibits is not None and self.margin_millibits > needed_millibits


@dataclass(frozen=True, slots=True)
class TaskVerdict:
    """The outcome, the groups in the order of guesses, and the numbers that decided."""

    outcome: Outcome
    groups: tuple[Group, ...]
    weighing: Weighing | None = None

    def through(self, view: FittedView, tests: Sequence[Grid]) -> TaskVerdict:
        """Return the verdict on a task that a view turns into the one that was judged."""
        groups = tuple(group.through(view, tests) for group in self.groups)
        return replace(self, groups=groups)

    @property
    def confidence_permille(self) -> int | None:
        """Probability that the weighed group is right; None if it was not computed."""
        confidence = None if self.weighing is None else self.weighing.confidence
        return None if confidence is None else confidence.permille


def group(
    candidates: Sequence[ProgramCandidate], examine: Examine | None = None
) -> tuple[Group, ...]:
    """Group programs by test outputs: the cheapest group first, unexamined groups last.

    Of groups with equal prices the larger comes first, then the order of programs decides.
    """
    by_outputs = _by_outputs(candidates)
    groups = _unexamined(by_outputs)
    if examine is None:
        return tuple(groups)
    best = [_examined(g, by_outputs[encode_grids(g.outputs)], examine) for g in groups[:EXAMINED]]
    return (*sorted(best, key=_order), *groups[EXAMINED:])


def examinations(candidates: Sequence[ProgramCandidate]) -> list[Examination]:
    """Return the examinations that `group` needs, in its order; they are independent."""
    by_outputs = _by_outputs(candidates)
    return [
        Examination(program, g.outputs, loo_passed)
        for g in _unexamined(by_outputs)[:EXAMINED]
        for program, loo_passed in _witnesses(g, by_outputs[encode_grids(g.outputs)])
    ]


def _by_outputs(candidates: Sequence[ProgramCandidate]) -> dict[bytes, list[ProgramCandidate]]:
    """Return the programs by their test outputs, the shortest first."""
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
    """Yield the programs of a group to examine, each with its result of cross-validation."""
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
    """Judge the programs found; `incomplete` states that a part of the search failed.

    With `assess`, an answer needs a confidence of `needed_permille` and, if given, a margin over
    `margin_millibits`. Without it the price decides, and without a margin no competitor is allowed.
    `rank` defines the order of guesses.
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
    if incomplete:  # the failed part may have found a competitor
        return TaskVerdict(Outcome.INCOMPLETE, groups, weighing)
    return TaskVerdict(_outcome(weighing, exhausted), groups, weighing)


def ordered(
    groups: Sequence[Group], rank: Rank | None, weighing: Weighing | None = None
) -> tuple[Group, ...]:
    """Return groups, given in the order of their costs, in the order of guesses.

    An explanation that is likely right, or qualifies as an answer, stays first. Without `rank` the
    order stays, but a group of another kind than the first may become the second.
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
    """Move up to second place the next group whose program ends with another rule than the first.

    It may cost at most `MARGIN` more than the second. Guesses of one kind are often wrong together.
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
    """Compute the confidence in the best group from what agrees and disagrees with it."""
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
    """Build a group from programs that are sorted, the shortest first."""
    programs = tuple(dict.fromkeys(c.program for c in members))
    cost = members[0].millibits
    return Group(decode_grids(outputs), programs[:WITNESSES], cost, cost, len(programs))


def _examined(group: Group, members: Sequence[ProgramCandidate], examine: Examine) -> Group:
    """Examine a group; put the cheapest program first, doubts included, or the shorter in a tie."""
    costs = {c.program: c.millibits for c in reversed(members)}
    evidence = {p: examine(p, group.outputs, loo) for p, loo in _witnesses(group, members)}
    first = min(group.programs, key=lambda p: costs[p] + evidence[p].doubt_millibits)
    rest = (program for program in group.programs if program != first)
    return replace(group, programs=(first, *rest), millibits=costs[first], evidence=evidence[first])
