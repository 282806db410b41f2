"""How well an answer is supported, as small integers by name: what confidence is computed from.

    best group, the other groups, guesses, task ──► features, in the order of `FEATURES`

A feature says nothing of its weight: `confidence` has the fitted points. All are integers, and
determined by the task and the programs found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from weft.searches.arc.codes.fills import SYMMETRY
from weft.searches.arc.evidence import Evidence
from weft.searches.arc.invariants import Extrapolation
from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.ops.registry import BY_NAME
from weft.searches.arc.plausibility import Plausibility
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid, decode_grids

ENOUGH_PAIRS = 4
"""A hidden part that is completed by symmetry is seen in so many pairs, or doubtful."""
FAR = 99
"""Margin in bits where nothing competes."""
MOST_BITS = 400
"""Programs that are longer weigh as little as one of these bits."""
HALVING = 4
"""Bits that halve the weight of a program. It would be one bit if the programs found were drawn at
random; they are variants of each other, so that many of them say less than their number."""
UNIT_BITS = 10
ROOTS = (1024, 1218, 1449, 1723)
"""2^(UNIT_BITS + n/4), rounded up: what a program of `MOST_BITS` - n bits weighs."""
BASIC = (
    "price_bits", "price_margin_bits", "posterior_bits", "competitors", "agreeing",
    "inconsistent", "violated",
)  # fmt: skip
BEHAVIOUR = ("plausible_bits", "step_constants", "output_constants", "output_changes")
"""Features from how a program behaves on the tests: `--without behaviour` leaves them out."""
NOVELTY = ("input_constants", "input_colours")
EXTRAPOLATED = (*BEHAVIOUR[1:], *NOVELTY)
"""Fields of `Extrapolation`."""
SUPPORT = (
    "pairs", "tests", "surplus_bits", "independent", "lists_agree", "lists_differ", *NOVELTY,
    "symmetry_gap", "repeated_outputs",
)  # fmt: skip
"""Features of how much speaks for it: `--without support` leaves them out."""
FEATURES = (*BASIC, *BEHAVIOUR, *SUPPORT)


@dataclass(frozen=True, slots=True)
class Competition:
    """What speaks for and against an answer beside its own programs."""

    price_margin_millibits: int | None
    """How much more the next explanation costs with the doubts of both; None without one."""
    programs: Sequence[ProgramCandidate]
    """All that were found, those that give the answer among them."""
    groups: int
    """Other explanations."""
    lists_agree: int
    """Guesses (learned lists, long programs) that give the same outputs in another way."""
    lists_differ: int
    """Other outputs that cheaper guesses give."""


def features_of(
    task: ArcTask,
    plausibility: Plausibility,
    members: Sequence[ProgramCandidate],
    evidence: Evidence,
    price_millibits: int,
    competition: Competition,
) -> dict[str, int]:
    """Return the features of an answer whose programs are `members`, the shortest first.

    Its price includes all doubts, also what it is charged because few programs agree.
    """
    extrapolation = evidence.extrapolation or Extrapolation()
    margin, outputs = competition.price_margin_millibits, members[0].outputs
    distinct = dict.fromkeys(candidate.outputs for candidate in competition.programs)
    added = {own: plausibility.of(decode_grids(own)).bits for own in distinct}
    values = {
        "price_bits": price_millibits // BIT,
        "price_margin_bits": FAR if margin is None else max(-FAR, min(FAR, margin // BIT)),
        "posterior_bits": outweighs(competition.programs, outputs),
        "plausible_bits": outweighs(competition.programs, outputs, added),
        "competitors": competition.groups,
        "agreeing": len({candidate.program for candidate in members}).bit_length(),
        "inconsistent": evidence.inconsistent,
        "violated": len(evidence.violated),
        "pairs": len(task.train),
        "tests": len(task.test),
        "surplus_bits": surplus_bits(task, members),
        "independent": independent(candidate.program for candidate in members),
        "lists_agree": competition.lists_agree,
        "lists_differ": competition.lists_differ,
        **{name: getattr(extrapolation, name) for name in EXTRAPOLATED},
        "symmetry_gap": symmetry_gap(members[0].program, len(task.train)),
        "repeated_outputs": repeated_outputs(task),
    }
    return {name: values[name] for name in FEATURES}


def symmetry_gap(program: Program, pairs: int) -> int:
    """Return how many pairs are missing, where a program completes grids by their symmetry.

    Many grids are nearly symmetric, and then completing them is right on a few pairs by accident.
    """
    completes = any(BY_NAME[name].kernel == SYMMETRY for name in program.names)
    return max(0, ENOUGH_PAIRS - pairs) if completes else 0


def repeated_outputs(task: ArcTask) -> int:
    """Count pairs whose output an earlier pair has: they show little, however many they are."""
    return len(task.train) - len({pair.output for pair in task.train})


def surplus_bits(task: ArcTask, members: Sequence[ProgramCandidate]) -> int:
    """Return how much more the outputs say than the shortest program and the search for it."""
    searched = min(candidate.time for candidate in members).bit_length()
    return min(999, max(-99, target_bits(task.train) - members[0].millibits // BIT - searched))


def independent(programs: Iterable[Program]) -> int:
    """Count programs no two of which share a kernel or a rule, taken greedily in their order."""
    used: set[str] = set()
    count = 0
    for program in programs:
        parts = {f"kernel {BY_NAME[name].kernel}" for name in program.names} | {program.fitted}
        parts.discard("")
        if not parts & used:
            used |= parts
            count += 1
    return count


def outweighs(
    candidates: Iterable[ProgramCandidate], outputs: bytes, added: Mapping[bytes, int] | None = None
) -> int:
    """Return by how many bits the programs that give some outputs outweigh all others.

    `added` lengthens programs by the outputs that they give. FAR where no other program is left.
    """
    own: list[int] = []
    others: list[int] = []
    for candidate in candidates:
        bits = candidate.millibits // BIT + (added or {}).get(candidate.outputs, 0)
        (own if candidate.outputs == outputs else others).append(bits)
    return max(-FAR, min(FAR, joint_bits(others) - joint_bits(own))) if others else FAR


def joint_bits(bits: Iterable[int]) -> int:
    """Return the bits of one program that weighs as much as programs of so many bits together.

    A program weighs half as much as one that is `HALVING` bits shorter.
    """
    power: int = sum(map(_weight, bits)) ** HALVING
    return MOST_BITS - power.bit_length() + 1 + HALVING * UNIT_BITS


def _weight(bits: int) -> int:
    halvings, rest = divmod(max(0, MOST_BITS - bits), HALVING)
    return ROOTS[rest] << halvings


def shares_operator(one: Program, other: Program) -> bool:
    """Whether a program uses an operator of another, be it in the words of a learned list."""
    text = other.text()
    return any(name in text for name in one.names) or one.fitted == other.fitted != ""


def target_bits(pairs: Sequence[Pair]) -> int:
    """Estimate how much the outputs say that their inputs do not, in bits, rounded down."""
    return sum(map(_pair_bits, pairs))


def _pair_bits(pair: Pair) -> int:
    given, output = pair.input, pair.output
    colours = len(set(output.cells)).bit_length()
    if given.size != output.size:
        return 8 + runs(output) * colours
    cells = len(given.cells)
    changed = sum(a != b for a, b in zip(given.cells, output.cells, strict=True))
    return changed * (colours + (cells // max(1, changed)).bit_length())


def runs(grid: Grid) -> int:
    """Count the runs of one colour along the rows: a plain measure of how much a grid says."""
    return sum(
        c == 0 or grid.at(r, c) != grid.at(r, c - 1)
        for r in range(grid.height)
        for c in range(grid.width)
    )
