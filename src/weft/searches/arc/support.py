"""How well an answer is supported, as small integers by name: what confidence is computed from.

    best group, the other groups, guesses, task ──► features, in the order of `FEATURES`

A feature says nothing of its weight: `confidence` has the fitted points. All are integers, and
determined by the task and the programs found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.searches.arc.evidence import Evidence
from weft.searches.arc.invariants import Extrapolation
from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.ops.registry import BY_NAME
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid

FAR = 99
"""Margin in bits where nothing competes."""
BEHAVIOUR = (
    "step_constants", "step_ranges", "output_constants", "output_ranges", "output_changes",
)  # fmt: skip
"""Features from how a program behaves on the tests: `--without behaviour` leaves them out."""
NOVELTY = ("input_constants", "input_ranges", "input_colours")
SUPPORT = (
    "pairs", "tests", "target_bits", "surplus_bits", "found_late", "independent",
    "lists_agree", "lists_differ", *NOVELTY,
)  # fmt: skip
"""Features of how much speaks for it: `--without support` leaves them out."""
BASIC = (
    "family", "bits", "margin_bits", "price_margin_bits", "competitors", "agreeing",
    "loo_lacking", "refuted", "inconsistent", "violated",
)  # fmt: skip
FEATURES = (*BASIC, *BEHAVIOUR, *SUPPORT)
FAMILIES = ("operators", "fitted", "choose", "cells", "canvas", "scanned", "layered")
"""Kinds of programs: by their last rule, all rules that are not learned as one."""


@dataclass(frozen=True, slots=True)
class Competition:
    """What speaks for and against an answer beside its own programs."""

    margin_millibits: int | None
    """How much more the shortest program of any other explanation costs; None without one."""
    price_margin_millibits: int | None
    """How much more the next explanation costs with the doubts of both."""
    groups: int
    """Other explanations."""
    lists_agree: int
    """Guesses (learned lists, long programs) that give the same outputs in another way."""
    lists_differ: int
    """Other outputs that cheaper guesses give."""


def features_of(
    task: ArcTask,
    members: Sequence[ProgramCandidate],
    first: Program,
    evidence: Evidence,
    competition: Competition,
) -> dict[str, int]:
    """Return the features of an answer whose programs are `members`, the shortest first."""
    shortest, target = members[0], target_bits(task.train)
    extrapolation = evidence.extrapolation or Extrapolation()
    found_late = min(candidate.time for candidate in members).bit_length()
    values = {
        "family": FAMILIES.index(family(first)),
        "bits": min(candidate.millibits for candidate in members) // BIT,
        "margin_bits": _bits(competition.margin_millibits),
        "price_margin_bits": _bits(competition.price_margin_millibits),
        "competitors": competition.groups,
        "agreeing": len({candidate.program for candidate in members}).bit_length(),
        "loo_lacking": max(0, evidence.loo_required - evidence.loo_passed),
        "refuted": evidence.refuted,
        "inconsistent": evidence.inconsistent,
        "violated": len(evidence.violated),
        "pairs": len(task.train),
        "tests": len(task.test),
        "target_bits": target.bit_length(),
        "surplus_bits": min(999, max(-99, target - shortest.millibits // BIT - found_late)),
        "found_late": found_late,
        "independent": independent(candidate.program for candidate in members),
        "lists_agree": competition.lists_agree,
        "lists_differ": competition.lists_differ,
        **{name: getattr(extrapolation, name) for name in (*BEHAVIOUR, *NOVELTY)},
    }
    return {name: values[name] for name in FEATURES}


def _bits(margin_millibits: int | None) -> int:
    return FAR if margin_millibits is None else max(-FAR, min(FAR, margin_millibits // BIT))


def family(program: Program) -> str:
    """Return what kind of program it is."""
    if not program.fitted:
        return FAMILIES[0]
    return program.fitted if program.fitted in FAMILIES else FAMILIES[1]


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
