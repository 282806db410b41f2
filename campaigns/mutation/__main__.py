"""Measure how strong the tests of the core are: change its code, see whether a test notices.

    python -m campaigns.mutation                    all mutants, on all cores
    python -m campaigns.mutation --minutes 8        stop after so long; the same command goes on
    python -m campaigns.mutation --part 2/4         the second of four shares, one a machine
    python -m campaigns.mutation --only ledger/     only files whose path contains this
    python -m campaigns.mutation --again            survivors once more, with the tests of now
    python -m campaigns.mutation --from FILE        take results of elsewhere over; run nothing
    python -m campaigns.mutation --twin 40          compare with the slow way on so many; no figures

A mutant meets only tests that reach its line, fastest first, to the first that fails; what reaches
what is measured once. Mutants come in the order of a hash of their names: a part of them is a fair
sample. What was tried is kept in build/mutation, and counts while the changed function stays as it
is.
The figures go into docs/benchmarks/mutation.json and mutation.md. Ends with 1 below the aim.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

from benchmarks.machine import describe
from campaigns.__main__ import commit_of, part
from campaigns.mutation import figures
from campaigns.mutation.channel import KILLED
from campaigns.mutation.mutant import Mutant
from campaigns.mutation.operators import mutants_of
from campaigns.mutation.page import page_of
from campaigns.mutation.reach import Reach, measure, sources_of
from campaigns.mutation.runner import Place

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "benchmarks" / "mutation.json"
STATE = ROOT / "build" / "mutation"
AIM_PERCENT = 90
MEMORY_BYTES = 8 << 30


def main(argv: Sequence[str]) -> int:
    """Try the requested mutants and print the figures; return the exit code."""
    args, start_s = parsed(argv), time.monotonic()
    sources = sources_of(ROOT, args.only)
    mutants = [mutant for path, text in sources.items() for mutant in mutants_of(path, text)]
    mutants.sort(key=lambda mutant: hashlib.sha256(mutant.name.encode()).digest())
    number, count = args.part
    mutants = mutants[number - 1 :: count]
    args.state.mkdir(parents=True, exist_ok=True)
    results = args.state / "results.jsonl"
    results.touch()
    records = figures.load_records([results, *args.sources])
    tests = 0
    if not args.sources:
        remaining = [mutant for mutant in mutants if mutant.name not in records]
        if args.again:
            remaining += [m for m in mutants if m.name in records
                          and records[m.name]["outcome"] in figures.MISSED]  # fmt: skip
        deadline_s = start_s + args.minutes * 60 if args.minutes else float("inf")
        campaign = Campaign(sources, results, args.budget_s, deadline_s)
        if args.twin:
            return campaign.compare(mutants[: args.twin], args.state)
        tests = campaign.run(remaining, args.state, args.jobs)
        records = figures.load_records([results])
    body = figures.figures_of(mutants, records, tests)
    body |= {"commit": commit_of(ROOT), "date": time.strftime("%Y-%m-%d", time.gmtime()),
             "machine": describe(), "budget_s": args.budget_s}  # fmt: skip
    if args.figures:
        published = json.loads(args.figures.read_text("utf-8"))
        body |= {name: published[name] for name in ("tests", "budget_s", "date")}
        body["machine"] = f"{published['machine']}; some again on {body['machine']}"
    args.json.write_text(json.dumps(body, indent=1) + "\n", "utf-8")
    args.json.with_suffix(".md").write_text(page_of(body), "utf-8")
    print(figures.table(body))
    return 0 if 100 * body["noticed"] >= AIM_PERCENT * max(body["tried"], 1) else 1


def parsed(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the options."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "python -m campaigns.mutation", description=__doc__, formatter_class=plain
    )
    add = parser.add_argument
    add("--part", type=part, default=(1, 1), metavar="K/N", help="the K-th of N shares")
    add("--minutes", type=float, default=0, help="begin no mutant after so long")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="mutants at a time")
    add("--only", action="append", default=[], metavar="TEXT", help="files with this in their path")
    add("--again", action="store_true", help="try survivors of earlier again")
    add("--budget-s", type=float, default=12, metavar="S",
        help="seconds of tests for one mutant; one that needs more counts as survived")  # fmt: skip
    add("--state", type=Path, default=STATE, help="folder for what was measured and tried")
    add("--twin", type=int, default=0, metavar="N", help="compare N verdicts with the slow way's")
    add("--json", type=Path, default=PAGE, help="where the figures go")
    add("--from", dest="sources", type=Path, action="append", default=[], metavar="FILE",
        help="only count, also results.jsonl of elsewhere; may be repeated")  # fmt: skip
    add("--figures", type=Path, metavar="FILE", help="with --from: the mutation.json of elsewhere")
    return parser.parse_args(argv)


def scratch_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder for copies and test output, in memory if there is room, to avoid syncs."""
    memory = Path("/dev/shm")
    has_room = memory.is_dir() and shutil.disk_usage(memory).free >= MEMORY_BYTES
    return tempfile.TemporaryDirectory(prefix="wm", dir=memory if has_room else None)


class Campaign:
    """Passes mutants to places until none is left or time is up, storing each verdict at once."""

    def __init__(
        self, sources: dict[str, str], kept: Path, budget_s: float, deadline_s: float
    ) -> None:
        self._sources, self._kept = sources, kept
        self._budget_s, self._deadline_s = budget_s, deadline_s
        self._lock = Lock()
        self._left: list[Mutant] = []
        self._reach = Reach()

    def run(self, left: list[Mutant], state: Path, jobs: int) -> int:
        """Try all mutants; return the number of tests that can notice them."""
        self._left = left[::-1]
        with scratch_folder() as folder, ThreadPoolExecutor(jobs) as pool:
            folders = [Path(folder, str(number)) for number in range(jobs)]
            places = list(pool.map(lambda where: Place(ROOT, where), folders))
            self._reach = self._measured(places[0], state, jobs)
            list(pool.map(self._work, places))
            for place in places:
                place.close()
        return len(self._reach.seconds) - len(self._reach.failed)

    def compare(self, mutants: list[Mutant], state: Path) -> int:
        """Try each mutant in forks and in a new interpreter; return 1 if verdicts differ."""
        differing = 0
        with scratch_folder() as folder:
            place = Place(ROOT, Path(folder, "0"))
            reach = self._measured(place, state, 1)
            for mutant in mutants:
                text = self._sources[mutant.path]
                verdicts = [
                    way(mutant, text, reach, self._budget_s).outcome in figures.NOTICED
                    for way in (place.try_mutant, place.try_plainly)
                ]
                differing += len(set(verdicts)) > 1
                print(f"{verdicts} {mutant}", flush=True)
            place.close()
        print(f"{differing} of {len(mutants)} verdicts differ")
        return 1 if differing else 0

    def _measured(self, place: Place, state: Path, jobs: int) -> Reach:
        """Return the reach of the tests, from stored measurements and new ones."""
        start_s, scratch = time.monotonic(), place.folder / "reach"
        scratch.mkdir()
        reach = measure(place.python, place.copy, scratch, jobs, state / "reach.json")
        shutil.rmtree(scratch)
        print(f"{len(reach.seconds)} tests, reach {time.monotonic() - start_s:.0f} s; "
              f"they fail without a mutant: {sorted(reach.failed)}", flush=True)  # fmt: skip
        return reach

    def _work(self, place: Place) -> None:
        """Try mutants in one place."""
        while (mutant := self._next()) is not None:
            text, start_s = self._sources[mutant.path], time.monotonic()
            verdict = place.try_mutant(mutant, text, self._reach, self._budget_s)
            record = figures.record_of(mutant, verdict, time.monotonic() - start_s)
            with self._lock:
                if verdict.outcome == KILLED:
                    self._reach.note_killer(mutant.path, verdict.by)
                with self._kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(record) + "\n")

    def _next(self) -> Mutant | None:
        with self._lock:
            late = time.monotonic() > self._deadline_s
            if len(self._left) % 500 == 0:
                print(f"{len(self._left)} left", flush=True)
            return None if late or not self._left else self._left.pop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
