"""Run the fault campaigns, or go on with them, and write docs/benchmarks/faults.md.

    python -m campaigns                        everything, for hours
    python -m campaigns --minutes 30           stop after half an hour; the same command goes on
    python -m campaigns --rows F1,F13          only these rows
    python -m campaigns --bugs                 only the planted bugs of each row
    python -m campaigns --part 2/4             the second of four shares, one a machine
    python -m campaigns --match 'F1 .*tree'    only cases that match, as --list writes them
    python -m campaigns --untried              only cases that are not on the page as passed
    python -m campaigns --stale                these, and those whose code has changed since
    python -m campaigns --list                 the cases, without running them
    python -m campaigns --from FOLDER          write the page from runs of elsewhere; run nothing

The campaign is a run of a Weft search, in build/campaigns below a folder named by the commit; a
change of the code begins a new one. The page is made from all runs that are there, with --from from
those below the folders named; where a case was tried more than once, the last time counts.
Ends with 0 when every case passed, 1 otherwise, 130 when it was stopped before the end.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import weft
from benchmarks.machine import describe
from campaigns.collect import ROOT, Case, collect, planted_cases
from campaigns.freshness import CodeHistory
from campaigns.page import cases_on, listed_cases, write_page
from campaigns.search import OPTIONAL, VARIABLES, faults

PAGES = ROOT / "docs" / "benchmarks"
RUNS = ROOT / "build" / "campaigns"
MACHINE = ".machine"
"""Suffix of the file beside a run that describes its machine."""


def main(argv: list[str]) -> int:
    """Run the requested campaigns; return the exit code."""
    args = parsed(argv)
    if args.folders:
        return show(args.pages, runs_below(args.folders))
    cases = planted_cases() if args.bugs else collect(args.rows)
    listed = {} if args.bugs else listed_cases(cases)
    cases = chosen(matching(cases, args.match), args.rows, *args.part)
    if (args.untried or args.stale) and cases:
        history = CodeHistory(ROOT) if args.stale else None
        cases = untried(cases, args.pages, history)
        if not cases:
            print("every such case is on the page as passed", file=sys.stderr)
            return 0
    if not cases:
        print("no such row; python -m campaigns --list shows them", file=sys.stderr)
        return 3
    if args.list:
        for case in cases:
            print(case)
        return 0
    commit = commit_of(ROOT)
    out = RUNS / commit / folder_name(args, cases if args.untried or args.stale else [])
    variables = [*VARIABLES, *(name for name in OPTIONAL if name in os.environ)]
    listing = [case.to_dict() for case in cases]
    call = faults(root=str(ROOT), commit=commit, cases=listing, variables=variables)
    code = 0
    out.parent.mkdir(parents=True, exist_ok=True)
    out.with_suffix(MACHINE).write_text(describe(), "utf-8")
    try:
        weft.run(call, out=out, workers=args.workers, wall_limit_s=args.minutes * 60 or None)
    except weft.Interrupted as stopped:
        print(f"weft: {stopped}; the same command goes on", file=sys.stderr)
        code = stopped.exit_code
    page_code = show(args.pages, runs_below([RUNS]), listed)
    return code or page_code


def runs_below(folders: list[Path]) -> list[tuple[weft.Run, str]]:
    """Return all campaign runs below some folders, each with the description of its machine.

    An interrupted case leaves its own runs, some of them damaged, below the run of its campaign;
    these are ignored.
    """
    every = sorted(path.parent for folder in folders for path in folder.rglob("run.toml"))
    outermost = [folder for folder in every if not any(above in folder.parents for above in every)]
    machines = [folder.with_suffix(MACHINE) for folder in outermost]
    texts = [path.read_text("utf-8") if path.exists() else "" for path in machines]
    runs = [(weft.load(folder), text) for folder, text in zip(outermost, texts, strict=True)]
    return [(run, text) for run, text in runs if "cases" in run.args]


def show(
    pages: Path, runs: list[tuple[weft.Run, str]], listed: dict[str, int] | None = None
) -> int:
    """Write the page and print it; return 1 if a case did not pass, else 0."""
    page = write_page(pages, runs, listed, CodeHistory(ROOT))
    print(page.read_text("utf-8"))
    return int("## Not passed" in page.read_text("utf-8"))


def parsed(argv: list[str]) -> argparse.Namespace:
    """Parse the options."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "python -m campaigns", description=__doc__, formatter_class=plain
    )
    add = parser.add_argument
    add("--rows", type=lambda text: text.split(","), default=[], help="rows, such as F1,F13")
    add("--bugs", action="store_true", help="only the planted bugs: does each row notice its own")
    add("--untried", action="store_true", help="leave out cases that are on the page as passed")
    add("--stale", action="store_true",
        help="the same, and keep those whose code has changed since they passed")  # fmt: skip
    add("--minutes", type=float, default=0, help="stop after so long")
    add("--part", type=part, default=(1, 1), metavar="K/N", help="the K-th of N shares")
    add("--workers", type=int, default=1, help="cases at a time; times are held strictly with one")
    add("--pages", type=Path, default=PAGES, help="folder for faults.md and faults.json")
    add("--match", action="append", default=[], metavar="PATTERN",
        help="only cases that match; those of the first pattern come first")  # fmt: skip
    add("--from", dest="folders", type=Path, action="append", default=[], metavar="FOLDER",
        help="only write the page, from the runs below this folder; may be repeated")  # fmt: skip
    add("--list", action="store_true", help="show the cases and run none")
    return parser.parse_args(argv)


def part(text: str) -> tuple[int, int]:
    """Parse a share such as `2/4`."""
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a part such as 2/4")
    return int(number), int(count)


def matching(cases: list[Case], patterns: list[str]) -> list[Case]:
    """Return the cases that match a pattern, in order of the patterns; without any, all cases."""
    matches = [case for pattern in patterns for case in cases if re.search(pattern, str(case))]
    return list(dict.fromkeys(matches)) if patterns else cases


def chosen(cases: list[Case], rows: list[str], number: int, count: int) -> list[Case]:
    """Return one share of the cases of some rows, or of all rows."""
    return [case for case in cases if not rows or case.row in rows][number - 1 :: count]


def untried(cases: list[Case], pages: Path, history: CodeHistory | None = None) -> list[Case]:
    """Return the cases that the page does not list as passed, with `history` on current code."""
    passed = {
        e.name
        for e in cases_on(pages)
        if e.value["outcome"] == "passed"
        and not (history and history.changed_for(e.case["test"], e.commit))
    }
    return [case for case in cases if (case.test, case.part, case.parts) not in passed]


def folder_name(asked: argparse.Namespace, left: list[Case]) -> str:
    """Return the folder name for the given options, so that the same command continues its run.

    `left` are the remaining cases, if only untried or stale ones are requested.
    """
    number, count = asked.part
    chosen_by = [*asked.match, *map(str, left)]
    digest = hashlib.sha256("\n".join(chosen_by).encode()).hexdigest()[:8]
    flags = [name for name in ("bugs", "untried", "stale") if getattr(asked, name)]
    rows = [*asked.rows, *flags, *([digest] if chosen_by else [])]
    return f"{'-'.join(rows) or 'all'}-{number}-of-{count}"


def commit_of(root: Path) -> str:
    """Return the commit and a digest of uncommitted changes; without git, a digest of the code."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True,
                              text=True, errors="replace").stdout  # fmt: skip

    try:
        if not (root / ".git").exists():
            raise FileNotFoundError(root / ".git")
        commit = git("rev-parse", "--short=12", "HEAD").strip()
        changed = git("diff", "HEAD", "--", ":!docs/benchmarks")
        changed += git("ls-files", "--others", "--exclude-standard")
    except (OSError, subprocess.CalledProcessError):
        return f"files-{digest_of_files(root)}"
    return f"{commit}-{hashlib.sha256(changed.encode()).hexdigest()[:8]}" if changed else commit


def digest_of_files(root: Path) -> str:
    """Return a digest of the code of a checkout, the same for the same files."""
    digest = hashlib.sha256()
    for folder in ("campaigns", "src", "tests"):
        for path in sorted((root / folder).rglob("*.py")):
            digest.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
