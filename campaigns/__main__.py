"""Run the fault campaigns, or go on with them, and write docs/benchmarks/faults.md.

    python -m campaigns                        everything, for hours
    python -m campaigns --minutes 30           stop after half an hour; the same command goes on
    python -m campaigns --rows F1,F13          only these rows
    python -m campaigns --part 2/4             the second of four shares, one a machine
    python -m campaigns --list                 the cases, without running them

The campaign is a run of a Weft search, in build/campaigns below a folder named by the commit; a
change of the code begins a new one. The page is made from all parts that are there.
Ends with 0 when every case passed, 1 otherwise, 130 when it was stopped before the end.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import subprocess
import sys
from pathlib import Path

import weft
from benchmarks.machine import describe
from campaigns.collect import ROOT, Case, collect
from campaigns.page import write_page
from campaigns.search import faults

PAGES = ROOT / "docs" / "benchmarks"
RUNS = ROOT / "build" / "campaigns"


def main(argv: list[str]) -> int:
    """Run what the arguments ask for; return the exit code."""
    asked = parsed(argv)
    cases = chosen(collect(), asked.rows, *asked.part)
    if not cases:
        print("no such row; python -m campaigns --list shows them", file=sys.stderr)
        return 3
    if asked.list:
        for case in cases:
            print(f"{case.row:<6}{case.part:>4}/{case.parts:<4}{case.test}")
        return 0
    commit = commit_of(ROOT)
    out = RUNS / commit / folder_name(asked)
    call = faults(root=str(ROOT), commit=commit, cases=[case.to_dict() for case in cases])
    code = 0
    try:
        weft.run(call, out=out, workers=asked.workers, wall_limit_s=asked.minutes * 60 or None)
    except weft.Interrupted as stopped:
        print(f"weft: {stopped}; the same command goes on", file=sys.stderr)
        code = stopped.exit_code
    runs = [weft.load(folder) for folder in sorted(out.parent.iterdir())]
    page = write_page(asked.pages, runs, f"{described(commit)}; {describe()}.")
    print(page.read_text("utf-8"))
    failed = any(result.error or result.value["outcome"] != "passed"
                 for run in runs for result in run.results())  # fmt: skip
    return code or int(failed)


def parsed(argv: list[str]) -> argparse.Namespace:
    """Read the options."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "python -m campaigns", description=__doc__, formatter_class=plain
    )
    add = parser.add_argument
    add("--rows", type=lambda text: text.split(","), default=[], help="rows, such as F1,F13")
    add("--minutes", type=float, default=0, help="stop after so long")
    add("--part", type=part, default=(1, 1), metavar="K/N", help="the K-th of N shares")
    add("--workers", type=int, default=1, help="cases at a time; times are held strictly with one")
    add("--pages", type=Path, default=PAGES, help="folder for faults.md and faults.json")
    add("--list", action="store_true", help="show the cases and run none")
    return parser.parse_args(argv)


def part(text: str) -> tuple[int, int]:
    """Read `2/4`."""
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a part such as 2/4")
    return int(number), int(count)


def chosen(cases: list[Case], rows: list[str], number: int, count: int) -> list[Case]:
    """The cases of some rows, or all, and of those one share."""
    return [case for case in cases if not rows or case.row in rows][number - 1 :: count]


def folder_name(asked: argparse.Namespace) -> str:
    """The folder of what was asked for, so that asking again goes on with it."""
    number, count = asked.part
    return f"{'-'.join(asked.rows) or 'all'}-{number}-of-{count}"


def commit_of(root: Path) -> str:
    """The commit, with a digest of what differs from it."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True,
                              text=True, errors="replace").stdout  # fmt: skip

    changed = git("diff", "HEAD", "--", ":!docs/benchmarks")
    changed += git("ls-files", "--others", "--exclude-standard")
    commit = git("rev-parse", "--short=12", "HEAD").strip()
    return f"{commit}-{hashlib.sha256(changed.encode()).hexdigest()[:8]}" if changed else commit


def described(commit: str) -> str:
    """Commit and date, for people."""
    name, _, changed = commit.partition("-")
    today = datetime.date.today().isoformat()
    return f"Commit {name}{' with changes' if changed else ''}, {today}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
