"""Measure how strong the tests of the core are: change its code, see whether a test notices.

    python -m campaigns.mutation                    all mutants, on all cores
    python -m campaigns.mutation --minutes 8        stop after so long; the same command goes on
    python -m campaigns.mutation --part 2/4         the second of four shares, one a machine
    python -m campaigns.mutation --only ledger/     only files whose path contains this
    python -m campaigns.mutation --again            survivors once more, with the tests of now
    python -m campaigns.mutation --from FILE        take results of elsewhere over; run nothing

A mutant meets only tests that reach its line, fastest first, to the first that fails; what reaches
what is measured once. Mutants come in the order of a hash of their names: a part of them is a fair
sample. What was tried is kept in build/mutation, and counts while the changed file stays as it is.
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
from campaigns.mutation.operators import Mutant, mutants_of
from campaigns.mutation.page import page_of
from campaigns.mutation.reach import Reach, digest_of, load, measure, save, sources_of
from campaigns.mutation.runner import KILLED, Place

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "benchmarks" / "mutation.json"
STATE = ROOT / "build" / "mutation"
AIM_PERCENT = 90


def main(argv: Sequence[str]) -> int:
    """Try what is asked for and print the figures; return the exit code."""
    asked, start_s = parsed(argv), time.monotonic()
    sources = sources_of(ROOT, asked.only)
    mutants = [mutant for path, text in sources.items() for mutant in mutants_of(path, text)]
    mutants.sort(key=lambda mutant: hashlib.sha256(mutant.name.encode()).digest())
    number, count = asked.part
    mutants = mutants[number - 1 :: count]
    asked.state.mkdir(parents=True, exist_ok=True)
    kept = asked.state / "results.jsonl"
    kept.touch()
    records = figures.load_records([kept, *asked.sources], sources)
    tests = 0
    if not asked.sources:
        left = [mutant for mutant in mutants if mutant.name not in records]
        if asked.again:
            left += [m for m in mutants if m.name in records
                     and records[m.name]["outcome"] in figures.MISSED]  # fmt: skip
        deadline_s = start_s + asked.minutes * 60 if asked.minutes else float("inf")
        campaign = Campaign(sources, kept, asked.budget_s, deadline_s)
        tests = campaign.run(left, asked.state, asked.jobs)
        records = figures.load_records([kept], sources)
    body = figures.figures_of(mutants, records, tests)
    body |= {"commit": commit_of(ROOT), "date": time.strftime("%Y-%m-%d", time.gmtime()),
             "machine": describe(), "budget_s": asked.budget_s}  # fmt: skip
    if asked.figures:
        there = json.loads(asked.figures.read_text("utf-8"))
        body |= {name: there[name] for name in ("tests", "budget_s", "date")}
        body["machine"] = f"{there['machine']}; some again on {body['machine']}"
    asked.json.write_text(json.dumps(body, indent=1) + "\n", "utf-8")
    asked.json.with_suffix(".md").write_text(page_of(body), "utf-8")
    print(figures.table(body))
    return 0 if 100 * body["noticed"] >= AIM_PERCENT * max(body["tried"], 1) else 1


def parsed(argv: Sequence[str]) -> argparse.Namespace:
    """Read the options."""
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
    add("--budget-s", type=float, default=20, metavar="S",
        help="seconds of tests for one mutant; one that needs more counts as survived")  # fmt: skip
    add("--state", type=Path, default=STATE, help="folder for what was measured and tried")
    add("--json", type=Path, default=PAGE, help="where the figures go")
    add("--from", dest="sources", type=Path, action="append", default=[], metavar="FILE",
        help="only count, also results.jsonl of elsewhere; may be repeated")  # fmt: skip
    add("--figures", type=Path, metavar="FILE", help="with --from: the mutation.json of elsewhere")
    return parser.parse_args(argv)


class Campaign:
    """Mutants handed to places until none is left or time is up; each verdict is kept at once."""

    def __init__(
        self, sources: dict[str, str], kept: Path, budget_s: float, deadline_s: float
    ) -> None:
        self._sources, self._kept = sources, kept
        self._budget_s, self._deadline_s = budget_s, deadline_s
        self._lock = Lock()
        self._left: list[Mutant] = []
        self._reach = Reach()

    def run(self, left: list[Mutant], state: Path, jobs: int) -> int:
        """Try all mutants; return how many tests there are to notice them."""
        self._left = left[::-1]
        with tempfile.TemporaryDirectory(prefix="wm") as folder, ThreadPoolExecutor(jobs) as pool:
            made = [Path(folder, str(number)) for number in range(jobs)]
            places = list(pool.map(lambda where: Place(ROOT, where), made))
            self._reach = self._measured(places, state, jobs)
            list(pool.map(self._work, places))
            for place in places:
                place.close()
        return len(self._reach.seconds) - len(self._reach.failed)

    def _measured(self, places: list[Place], state: Path, jobs: int) -> Reach:
        """What reaches what, as kept or measured now and tried in forks without a mutant."""
        digest, kept = digest_of(ROOT), state / "reach.json"
        if reach := load(kept, digest):
            return reach
        first, start_s = places[0], time.monotonic()
        scratch = first.folder / "reach"
        scratch.mkdir()
        reach = measure(first.python, first.copy, scratch, jobs)
        shutil.rmtree(scratch)
        print(f"{len(reach.seconds)} tests, reach {time.monotonic() - start_s:.0f} s", flush=True)
        names = sorted(reach.seconds.keys() - reach.failed)
        shares = [(place, names[number::jobs]) for number, place in enumerate(places)]
        with ThreadPoolExecutor(jobs) as pool:
            for passed in pool.map(lambda share: share[0].control(share[1]), shares):
                reach.seconds |= passed
                names = [name for name in names if name not in passed]
        reach.failed |= set(names)
        print(f"control {time.monotonic() - start_s:.0f} s; left out, they fail without a mutant: "
              f"{sorted(reach.failed)}", flush=True)  # fmt: skip
        save(reach, kept, digest)
        return reach

    def _work(self, place: Place) -> None:
        """Try mutants in one place."""
        while (mutant := self._next()) is not None:
            text, start_s = self._sources[mutant.path], time.monotonic()
            verdict = place.try_mutant(mutant, text, self._reach, self._budget_s)
            record = figures.record_of(mutant, text, verdict, time.monotonic() - start_s)
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
