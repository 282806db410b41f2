"""Print how many minutes each area of the tests took.

    python tools/area_times.py build/junit.xml build/junit-core.xml

An area is the first folder under tests/, or the second one in tests/searches; files directly in
tests/ count as `frame`. Minutes are summed over the parallel workers; the last line has the
wall-clock time of the longest JUnit file, which the others ran beside.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree as ET


def area_of(classname: str) -> str:
    """Return the area of a JUnit `classname` such as `tests.ledger.test_merkle.TestProof`."""
    parts = classname.split(".")
    folders = parts[1:] if parts[0] == "tests" else parts
    if not folders or folders[0].startswith("test_"):
        return "frame"
    if folders[0] == "searches" and not folders[1].startswith("test_"):
        return folders[1]
    return folders[0]


def area_times(junits: list[str]) -> tuple[dict[str, tuple[int, float]], float]:
    """Parse JUnit texts; return the tests and seconds of each area, and the wall seconds."""
    counts: dict[str, int] = defaultdict(int)
    seconds: dict[str, float] = defaultdict(float)
    wall_s = 0.0
    for root in map(ET.fromstring, junits):
        for case in root.iter("testcase"):
            area = area_of(case.get("classname", ""))
            counts[area] += 1
            seconds[area] += float(case.get("time", "0"))
        wall_s = max(wall_s, sum(float(s.get("time", "0")) for s in root.iter("testsuite")))
    return {area: (counts[area], seconds[area]) for area in sorted(counts)}, wall_s


def table(areas: dict[str, tuple[int, float]], wall_s: float) -> str:
    """Format the figures, one line per area."""
    lines = [f"{'area':<14}{'tests':>7}{'minutes':>9}"]
    lines += [f"{name:<14}{n:>7}{s / 60:>9.2f}" for name, (n, s) in areas.items()]
    total = sum(n for n, _ in areas.values())
    lines.append(f"{'wall clock':<14}{total:>7}{wall_s / 60:>9.2f}")
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    """Print the table for the junit files named in `argv`."""
    if not argv:
        print("usage: area_times.py JUNIT_XML...", file=sys.stderr)
        return 2
    for name in argv:
        if not Path(name).exists():
            print(f"area_times: {name} is missing, pytest wrote no report", file=sys.stderr)
            return 1
    print(table(*area_times([Path(name).read_text(encoding="utf-8") for name in argv])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
