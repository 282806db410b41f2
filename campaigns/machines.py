"""Summarise the machines of a campaign: one line per kind, for any number of runs.

`benchmarks.machine.describe` writes one line per run, which faults.json keeps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_RUN = re.compile(
    r"- [^:]+: (?P<cores>\d+ cores?), load (?P<load>[\d.]+) before, (?P<python>Python [\d.]+),"
    r" (?P<sync>\d+) µs a disk sync"
)


def kinds_of(lines: Iterable[str]) -> str:
    """Return one line per number of cores and Python version; other lines are unchanged."""
    kinds: dict[str, list[tuple[float, int]]] = {}
    others: list[str] = []
    for line in lines:
        if match := _RUN.fullmatch(line):
            name = f"{match['cores']}, {match['python']}"
            kinds.setdefault(name, []).append((float(match["load"]), int(match["sync"])))
        else:
            others.append(line)
    return "\n".join([*(_line(name, kinds[name]) for name in sorted(kinds)), *others])


def _line(name: str, runs: list[tuple[float, int]]) -> str:
    loads, syncs = zip(*runs, strict=True)
    load = _span(f"{min(loads):.1f}", f"{max(loads):.1f}")
    sync = _span(f"{min(syncs):,}", f"{max(syncs):,}")
    count = "one run" if len(runs) == 1 else f"{len(runs)} runs"
    return f"- {name}: {count}; load before {load}, {sync} µs a disk sync"


def _span(least: str, most: str) -> str:
    return least if least == most else f"{least} to {most}"
