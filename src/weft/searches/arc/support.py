"""The features from which confidence is computed: how well an answer is supported.

    best group, the other groups, guesses, task ──► features, in the order of `FEATURES`

Features are small integers by name, determined by the task and the programs found. They have no
weights here: `confidence` has the fitted points.
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
"""Pairs below which completing a hidden part by symmetry is doubtful."""
FAR = 99
"""Margin in bits if nothing competes."""
MOST_BITS = 400
"""Longer programs have the same weight as one with this many bits."""
HALVING = 4
"""Bits that halve the weight of a program. It would be one bit if the programs found were
independent; they are variants of each other, so that many say less than their number suggests."""
UNIT_BITS = 10
ROOTS = (1024, 1218, 1449, 1723)
"""2^(UNIT_BITS + n/4), rounded up: the weight of a program of `MOST_BITS` - n bits."""
BASIC = (
    "price_bits", "price_margin_bits", "posterior_bits", "competitors", "agreeing",
    "inconsistent", "violated",
)  # fmt: skip
BEHAVIOUR = ("plausible_bits", "step_constants", "output_constants", "output_changes")
"""Features of a program's behaviour on the tests; `--without behaviour` leaves them out."""
NOVELTY = ("input_constants", "input_colours")
EXTRAPOLATED = (*BEHAVIOUR[1:], *NOVELTY)
"""Fields of `Extrapolation`."""
SUPPORT = (
    "pairs", "tests", "surplus_bits", "independent", "lists_agree", "lists_differ", *NOVELTY,
    "symmetry_gap", "repeated_outputs",
)  # fmt: skip
"""Features of how much supports an answer; `--without support` leaves them out."""
FEATURES = (*BASIC, *BEHAVIOUR, *SUPPORT)


@dataclass(frozen=True, slots=True)
class Competition:
    """What supports and contradicts an answer, besides its own programs."""

    price_margin_millibits: int | None
    """How much more the next explanation costs, doubts of both included; None without one."""
    programs: Sequence[ProgramCandidate]
    """All programs found, including those that give the answer."""
    groups: int
    """Number of other explanations."""
    lists_agree: int
    """Number of guesses (learned lists, long programs) with the same outputs in another way."""
    lists_differ: int
    """Number of other outputs that cheaper guesses give."""


def features_of(
    task: ArcTask,
    plausibility: Plausibility,
    members: Sequence[ProgramCandidate],
    evidence: Evidence,
    price_millibits: int,
    competition: Competition,
) -> dict[str, int]:
    """Return the features of an answer whose programs are `members`, the shortest first.

    The price includes all doubts, and the charge if few programs agree.
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
    """Return how many pairs a program that completes grids by symmetry falls short of enough.

    Many grids are nearly symmetric, so that completing them is right on a few pairs by accident.
    """
    completes = any(BY_NAME[name].kernel == SYMMETRY for name in program.names)
    return max(0, ENOUGH_PAIRS - pairs) if completes else 0


def repeated_outputs(task: ArcTask) -> int:
    """Count the pairs whose output is that of an earlier pair: such pairs show little."""
    return len(task.train) - len({pair.output for pair in task.train})


def surplus_bits(task: ArcTask, members: Sequence[ProgramCandidate]) -> int:
    """Return the bits of the outputs minus those of the shortest program and the search for it."""
    searched = min(candidate.time for candidate in members).bit_length()
    return min(999, max(-99, target_bits(task.train) - members[0].millibits // BIT - searched))


def independent(programs: Iterable[Program]) -> int:
    """Count programs that share no kernel and no rule, chosen greedily in the given order."""
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
    """Return by how many bits the programs that give `outputs` outweigh all others.

    `added` maps outputs to bits added to the programs that give them. `FAR` without other programs.
    """
    own: list[int] = []
    others: list[int] = []
    for candidate in candidates:
        bits = candidate.millibits // BIT + (added or {}).get(candidate.outputs, 0)
        (own if candidate.outputs == outputs else others).append(bits)
    return max(-FAR, min(FAR, joint_bits(others) - joint_bits(own))) if others else FAR


def joint_bits(bits: Iterable[int]) -> int:
    """Return the bits of one program with the joint weight of programs with the given `bits`.

    A program has half the weight of one that is `HALVING` bits shorter.
    """
    power: int = sum(map(_weight, bits)) ** HALVING
    return MOST_BITS - power.bit_length() + 1 + HALVING * UNIT_BITS


def _weight(bits: int) -> int:
    halvings, rest = divmod(max(0, MOST_BITS - bits), HALVING)
    return ROOTS[rest] << halvings


def shares_operator(one: Program, other: Program) -> bool:
    """Whether a program uses an operator of another, even within the text of a learned list."""
    text = other.text()
    return any(name in text for name in one.names) or one.fitted == other.fitted != ""


def target_bits(pairs: Sequence[Pair]) -> int:
    """Estimate the information that outputs add to their inputs, in bits, rounded down."""
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
    """Count the runs of one colour along the rows: a simple measure of a grid's information."""
    return sum(
        c == 0 or grid.at(r, c) != grid.at(r, c - 1)
        for r in range(grid.height)
        for c in range(grid.width)
    )
