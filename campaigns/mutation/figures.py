"""Records of the mutants tried, one per line, and the figures that the page of faults shows."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from campaigns.mutation.channel import KILLED, SURVIVED, TIMED_OUT, UNREACHED
from campaigns.mutation.mutant import Mutant
from campaigns.mutation.operators import OPERATORS
from campaigns.mutation.runner import Verdict

NOTICED = (KILLED, TIMED_OUT)
MISSED = (SURVIVED, UNREACHED)
EXPLAINED = Path(__file__).with_name("explained.toml")
"""Reviewed survivors that need no test, each with its reason."""

Record = dict[str, Any]


def record_of(mutant: Mutant, verdict: Verdict, seconds: float) -> Record:
    """Return a mutant and its verdict as a record, one line of JSON."""
    return {
        "name": mutant.name, "outcome": verdict.outcome, "by": verdict.by, "run": verdict.run,
        "reaching": verdict.reaching, "seconds": round(seconds, 2),
    }  # fmt: skip


def load_records(paths: Iterable[Path]) -> dict[str, Record]:
    """Return the records by mutant; the last one of each counts."""
    lines = (line for path in paths for line in path.read_text("utf-8").splitlines())
    return {record["name"]: record for record in map(json.loads, lines)}


@dataclass(frozen=True, slots=True)
class Explanation:
    """The reason why survivors in one function, or those of some changes, need no test."""

    file: str
    function: str
    """Empty for module-level code."""
    why: str
    operator: str = ""
    before: str = ""
    """Part of the changed text."""

    def is_of(self, mutant: Mutant) -> bool:
        """Whether it applies to a mutant."""
        return (
            mutant.path == f"src/weft/{self.file}"
            and mutant.function == self.function
            and self.operator in ("", mutant.operator)
            and self.before in " ".join(mutant.before.split())
        )


def explanations() -> list[Explanation]:
    """Return the explanations in `explained.toml`."""
    entries = tomllib.loads(EXPLAINED.read_text("utf-8"))["survivor"]
    return [Explanation(**entry) for entry in entries]


def reason_of(mutant: Mutant, reasons: Sequence[Explanation]) -> str:
    """Return why a survivor needs no test; empty if there is no explanation."""
    return next((reason.why for reason in reasons if reason.is_of(mutant)), "")


def idle_of(mutants: Sequence[Mutant], reasons: Sequence[Explanation]) -> list[str]:
    """Return explanations that match no mutant any more, for files with mutants only."""
    files = {mutant.path for mutant in mutants}
    about = [reason for reason in reasons if f"src/weft/{reason.file}" in files]
    idle = [reason for reason in about if not any(map(reason.is_of, mutants))]
    return [f"{r.file} {r.function} {r.operator} {r.before}".rstrip() for r in idle]


def figures_of(mutants: Sequence[Mutant], records: dict[str, Record], tests: int) -> Record:
    """Return the counts, and every survivor with its position."""
    tried = [mutant for mutant in mutants if mutant.name in records]
    outcomes = Counter(records[mutant.name]["outcome"] for mutant in tried)
    reasons = explanations()
    missed = [m for m in tried if records[m.name]["outcome"] in MISSED]
    packages: dict[str, list[int]] = {}
    for mutant in tried:
        count = packages.setdefault(mutant.path.split("/")[2], [0, 0])
        count[0] += 1
        count[1] += records[mutant.name]["outcome"] in NOTICED
    return {
        "changes": len(mutants), "tried": len(tried), "tests": tests,
        "noticed": sum(outcomes[name] for name in NOTICED),
        "outcomes": dict(sorted(outcomes.items())), "packages": packages,
        "explained": sum(bool(reason_of(mutant, reasons)) for mutant in missed),
        "cpu_minutes": round(sum(records[m.name]["seconds"] for m in tried) / 60, 1),
        "operators": {name: [what, sum(m.operator == name for m in mutants)]
                      for name, what in OPERATORS.items()},
        "idle": idle_of(mutants, reasons),
        "missed": [{"mutant": str(m).removeprefix("src/weft/"), "why": reason_of(m, reasons)}
                   for m in sorted(missed, key=lambda m: (m.path, m.line, m.column))],
    }  # fmt: skip


def table(figures: Record) -> str:
    """Return the figures as text for a terminal."""
    lines = [*(f"not noticed: {m['mutant']} {m['why']}".rstrip() for m in figures["missed"])]
    lines += [*(f"explains nothing any more: {name}" for name in figures["idle"]), ""]
    lines.append(f"{'package':<14}{'mutants':>9}{'noticed':>9}")
    for package, (tried, noticed) in sorted(figures["packages"].items()):
        lines.append(f"{package:<14}{tried:>9}{100 * noticed / tried:>8.1f}%")
    tried, noticed = figures["tried"], figures["noticed"]
    lines.append(f"{'all':<14}{tried:>9}{100 * noticed / max(tried, 1):>8.1f}%")
    lines.append(
        f"of {figures['changes']}; {figures['outcomes']}; explained {figures['explained']}"
    )
    return "\n".join(lines)
