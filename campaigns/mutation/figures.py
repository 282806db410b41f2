"""What was tried, kept line by line, and the figures that the page of faults shows."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from campaigns.mutation.operators import OPERATORS, Mutant
from campaigns.mutation.runner import KILLED, SURVIVED, TIMED_OUT, UNREACHED, Verdict

NOTICED = (KILLED, TIMED_OUT)
MISSED = (SURVIVED, UNREACHED)
EXPLAINED = Path(__file__).with_name("explained.toml")
"""Survivors that were looked at and need no test, each with its reason."""

Record = dict[str, Any]


def record_of(mutant: Mutant, text: str, verdict: Verdict, seconds: float) -> Record:
    """A mutant and how it ended, as a line of JSON holds it."""
    return {
        "name": mutant.name, "source": source_digest(text), "outcome": verdict.outcome,
        "by": verdict.by, "run": verdict.run, "reaching": verdict.reaching,
        "seconds": round(seconds, 2),
    }  # fmt: skip


def source_digest(text: str) -> str:
    """Names a version of a file."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def load_records(paths: Iterable[Path], sources: dict[str, str]) -> dict[str, Record]:
    """What was tried on files as they are now, by mutant; the last time counts."""
    current = {path: source_digest(text) for path, text in sources.items()}
    records: dict[str, Record] = {}
    for path in paths:
        for line in path.read_text("utf-8").splitlines():
            record = json.loads(line)
            if current.get(record["name"].partition(":")[0]) == record["source"]:
                records[record["name"]] = record
    return records


def explanations() -> dict[str, str]:
    """Reasons by what `place_of` says of a mutant."""
    entries = tomllib.loads(EXPLAINED.read_text("utf-8"))["survivor"]
    return {
        f"{e['file']} {e['operator']}: {e['before']} -> {e['after']}": e["why"] for e in entries
    }


def place_of(mutant: Mutant) -> str:
    """A mutant without its line, which changes with every edit above it."""
    before, after = (" ".join(part.split()) for part in (mutant.before, mutant.after))
    return f"{mutant.path.removeprefix('src/weft/')} {mutant.operator}: {before} -> {after}"


def figures_of(mutants: Sequence[Mutant], records: dict[str, Record], tests: int) -> Record:
    """The counts, and every survivor with its place."""
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
        "explained": sum(place_of(mutant) in reasons for mutant in missed),
        "cpu_minutes": round(sum(records[m.name]["seconds"] for m in tried) / 60, 1),
        "operators": {name: [what, sum(m.operator == name for m in mutants)]
                      for name, what in OPERATORS.items()},
        "missed": [str(mutant) + (f" ({why})" if (why := reasons.get(place_of(mutant))) else "")
                   for mutant in missed],
    }  # fmt: skip


def table(figures: Record) -> str:
    """The figures for a person at a terminal."""
    lines = [*(f"not noticed: {name}" for name in figures["missed"]), ""]
    lines.append(f"{'package':<14}{'mutants':>9}{'noticed':>9}")
    for package, (tried, noticed) in sorted(figures["packages"].items()):
        lines.append(f"{package:<14}{tried:>9}{100 * noticed / tried:>8.1f}%")
    tried, noticed = figures["tried"], figures["noticed"]
    lines.append(f"{'all':<14}{tried:>9}{100 * noticed / max(tried, 1):>8.1f}%")
    lines.append(
        f"of {figures['changes']}; {figures['outcomes']}; explained {figures['explained']}"
    )
    return "\n".join(lines)
