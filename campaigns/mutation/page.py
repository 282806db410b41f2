"""The page docs/benchmarks/mutation.md: the mutants, their outcomes, and the survivors."""

from __future__ import annotations

from typing import Any

INTRODUCTION = """\
# Mutation testing

How strong the tests of model, ledger, storage and coordinator are (row F22 of [faults](faults.md)):
a program makes one small change to their code (a *mutant*), and runs the tests that reach it until
one fails. `python -m campaigns.mutation` tries the mutants, resumes where it stopped, and writes
this page.

A mutant is *noticed* (killed) if a test fails, or takes far longer, that passes without the change.
It is run against the tests that reach its line, fastest first, for a limited time, in a fork of a
process that has collected all tests; a mutant that takes effect at import is run in a fork that has
imported no part of Weft. A mutant that would need more time counts as survived, and so does one
that only tests with packages missing on the machine would notice. About half of the verdicts were
reached with the tests of a few files per module; unexplained survivors of those were tried again
with all tests. `--twin` compares verdicts with those of a new interpreter for each mutant.
Docstrings, annotations, decorators, assertions and the texts of errors are not mutated. Mutants are
ordered by a hash, so that any part of them is a fair sample, until tests are written for its
survivors. A verdict is valid until the function it concerns changes, or, outside functions, the
statement.
"""


def page_of(figures: dict[str, Any]) -> str:
    """Return the whole page."""
    tried, noticed = figures["tried"], figures["noticed"]
    score = f"{100 * noticed / max(tried, 1):.1f} %"
    explained = figures["explained"]
    rest = f"{100 * noticed / max(tried - explained, 1):.1f} %"
    head = (
        f"{figures['date']}, {figures['commit']}: {tried:,} of {figures['changes']:,} mutants"
        f" tried on the current code, {noticed:,} noticed: **{score}** (target: 90 %); {rest}"
        f" without the {explained:,} survivors that need no test."
        f" {figures['tests']:,} tests, {figures['cpu_minutes']:.0f} minutes sequentially;"
        f" {figures['machine']}."
    )
    parts = [INTRODUCTION, head, packages(figures), operators(figures), survivors(figures)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def packages(figures: dict[str, Any]) -> str:
    """Return the score of each package, and the outcomes."""
    lines = ["| package | mutants | noticed |", "|---|---|---|"]
    for name, (tried, noticed) in sorted(figures["packages"].items()):
        lines.append(f"| {name} | {tried:,} | {100 * noticed / tried:.1f} % |")
    outcomes = ", ".join(f"{count:,} {name}" for name, count in figures["outcomes"].items())
    return "\n".join([*lines, "", f"Outcomes: {outcomes}."])


def operators(figures: dict[str, Any]) -> str:
    """Return a table of the operators with their number of mutants."""
    lines = ["## Changes", "", "| operator | change | mutants |", "|---|---|---|"]
    for name, (change, count) in figures["operators"].items():
        lines.append(f"| {name} | {change.replace('|', chr(92) + '|')} | {count:,} |")
    return "\n".join(lines)


def survivors(figures: dict[str, Any]) -> str:
    """Return every mutant that no test noticed: explained ones by reason, then the others."""
    missed = figures["missed"]
    reasons: dict[str, list[str]] = {}
    for entry in missed:
        reasons.setdefault(entry["why"], []).append(entry["mutant"])
    unexplained = reasons.pop("", [])
    lines = [
        "## Survivors", "",
        f"{len(missed):,}, of which {len(missed) - len(unexplained):,} were"
        " reviewed and need no test.",
    ]  # fmt: skip
    for why, mutants in sorted(reasons.items()):
        lines += ["", f"{why[:1].upper()}{why[1:]}:", "", "```", *mutants, "```"]
    if unexplained:
        lines += ["", "Without an explanation:", "", "```", *unexplained, "```"]
    return "\n".join(lines)
