"""Write docs/benchmarks/faults.md and faults.json from the runs of a campaign.

faults.json keeps every case on the page: a later run adds to it, and if a case was tried more than
once, the last time counts. Campaigns on one of the searches have separate rows.
"""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import weft
from campaigns.bugs import CONTROL_CASE, PREFIX, bug_of
from campaigns.collect import Case
from campaigns.freshness import CodeHistory, stale_table
from campaigns.machines import kinds_of
from campaigns.measured import flakiness_table, measured_rows
from campaigns.rows import PLACES, ROWS, is_planted

INTRODUCTION = """\
# Faults

Faults injected on purpose at every point where they could matter, and what happened. A *violation*
is a lost or repeated result, a different ledger, undetected damage, a process left behind, or an
exit without a reason.

`make chaos` runs every row in full, `make test` samples of them. The campaign is a Weft search: its
run folder records which points and seeds were tried, and the same command resumes it. Minutes are
sums over all cases; "20 passed of 100" means that 20 of the row's 100 cases were run. In F3 a call
is *not reached* if the run did not make it this time, and a run *went on* if it finished despite
the fault.

To show that the tests can fail, bugs are planted (`campaigns/bugs.py`) in a copy of the source: the
row's quick test must fail with the bug, and pass in an unchanged copy (case `unchanged`). F21 is a
measurement; F22 is mutation testing.

On `weft arc`, `jobs`, `prng` and `tree`, F1 to F3 skip equivalent system calls, all of which are
tried in the rows of the engine itself. Of SQLite's consecutive writes to one file, the first and
the last are tried: on opening, SQLite ignores an uncommitted transaction and repeats an unfinished
checkpoint. Of calls that repeat in every round or for every object (the same call on the same kind
of file, after the same kind of call), the first, the middle and the last are tried. A recovery is
killed at each call until it starts a worker. Coordinators fork from a process that has imported
their modules; in each case one of them is compared with a command in a process of its own.
"""
FLAKINESS = """\
## Flakiness

`make test` again and again (`python tools/flakiness.py`), and by themselves those of its tests that
wait for processes, signals, ports or browsers. A load is at least four busy processes: those that
do nothing but count, or other whole runs at the same time.
"""
STALE = """\
## Code changed since

Rows with cases that were tried on other code than that of commit {commit}: files of the engine, of
the row's search, or of its tests whose statements have changed since. Comments, docstrings, help
texts, the texts of errors and the names of local variables do not count. `python -m campaigns
--stale` runs these cases again.
"""
CURRENT = """\
## Code changed since

None: the engine, the searches and the tests of every row are in commit {commit} as they were tried.
"""
FOUND = """\
## Found and fixed

| row | what was found | noticed now by |
|---|---|---|
| tests | Ray starts its workers at nice 15: beside a load, on a kernel without autogroups, two \
tests on a cluster took six minutes and two; at normal priority under a minute \
| `tests/ray/conftest.py` |
| F28 | where the planted bug let a second machine in, both waited for the gate of the test until \
its limit of ten minutes: it is noticed in seconds now | `tests/faults/test_two_machines.py` |
| F1 | a kill between the two seals of a finished run was not tried on `weft tree`, where git \
seals objects of its own too | `tests/faults/test_kill_points.py` |
| tests | a test of how long slots of `weft jobs` rest, which runs in campaigns alone, read a \
field that no longer exists | `tests/searches/jobs/test_runs.py` |
| F2 | on `weft jobs` a share failed where a recovery had nothing left to do, and \
so no call to kill it at | `tests/faults/test_points.py` |
| tests | beside a load of 17 a command of a test took longer than the 250 s it was given: 26 more \
limits are for hangs alone | `tests/support/waiting.py` |
| tests | beside a load, an actor may report the end of its worker before \
its node is gone: the lost attempt then has that reason | `tests/ray/test_faults.py` |
| F29 | beside a load of 27, a worker on a Ray node that started after its run \
had been closed made the run's folder again, open to others, and every later run on that node was \
refused | `tests/ray/test_parts.py` |
| F25 | the driver of the campaign starts a process of its own after the command, which failed too \
and was taken for a fault of the command (4 of 4 shares) | `tests/faults/test_exhaustion.py` |
| F3 | on `weft prng` 3 of 33 shares failed for calls that their runs did not reach: such a call \
is now tried once more | `tests/faults/test_io_errors.py` |
| F3 | on `weft tree` faults fell into what the campaign itself reads after the command, and were \
taken for faults of the command (3 of 357) | `tests/faults/test_io_errors.py` |
| F30 | histories of real runtimes were one case that no machine could make, search and end in the \
time of a campaign; now 40, which may be made on one machine and searched on another | \
`tests/searches/prng/zoo/test_zoo.py` |
| F8 | one case flipped 20,000 bits and was stopped each time before it could end | \
`tests/inspect/test_manifest_damage.py` |
| F15 | in a campaign no Unix socket could be planted in a run folder, whose name is too long for \
one there; bytecode of an imported module was taken for a foreign file | \
`tests/cli/test_planted.py` |
| F14 | `weft prng` ended with a traceback on a table whose only row has an empty cell | \
`tests/searches/prng/test_front_door.py` |
| F25 | campaigns ran commands with as many threads as there are cores, where `weft` has one: on \
16 cores NumPy's library ended `weft arc` with a fault of its own | \
`tests/faults/test_exhaustion.py` |
| F22 | tests that reach a new source file of the core were not asked about its mutants | \
`tests/test_mutation.py` |
| tests | beside a load of 18 a job that waits for a test ran into its time limit of a minute | \
`tests/ray/test_faults.py` |
| tests | beside a load of 14 a test waited two minutes for a command that needed longer, and then \
for ever for the process that it had not ended: waits end for hangs alone, after ten minutes | \
`tests/support/waiting.py` |
| tests | a test killed workers sixty times while tasks ran, which beside a load could all end \
before the last kill | `tests/workers/test_killed.py` |
| tests | two tests of `weft tree` looked for processes of the whole machine and found those of \
another test run | `tests/searches/tree/test_hostile.py`, `test_promises.py` |
| tests | five tests of edited modules failed wherever Python may write bytecode: an edit in the \
same second was not seen | `tests/runs/test_stale.py` |
| tests | tests of time limits in `weft tree` gave scorers 3 and 4 s, too little beside a load | \
`tests/searches/tree/test_promises.py`, `test_hostile.py` |
| tests | a test that plants a ledger in order of arrival needed jobs to end out of order, which \
beside a load they may not | `tests/searches/jobs/test_runs.py` |
| tests | a test expected the count of finished tasks never to fall, which it does where a round \
stops early and drops results | `tests/inspect/test_status.py` |
| tests | a test of `weft jobs run --strict` expected short jobs to be cancelled, which may all \
end first beside a load | `tests/searches/jobs/test_page.py` |
| engine | a search that raised lost the results it raised at | `tests/coordinator/test_loop.py` |
| F30 | where two processes had compiled the generators of PHP 5.2.1 and 7.1, a third took the \
twist of one for both, and seeds were lost: compiled functions made of different parts had one \
name | `tests/searches/prng/test_compiled.py` |
| F14 | `weft prng` ended with a traceback on a table whose column has an empty cell | \
`tests/searches/prng/test_front_door.py` |
| F14 | `weft arc` ended with a traceback on a zip file with an entry that has no name | \
`tests/searches/arc/test_data.py` |
| F14 | readers added since had no fuzzer: draws of any form, zip files, pairs and folders of ARC \
tasks, jobs as TOML and lines, results of jobs, signed notes | `tests/faults/test_fuzzing.py` |
| F30 | a test of the grid asked for Java `nextLong` modulo 120, which is documented as out of \
reach; it had never run | `tests/searches/prng/test_attack_lanes.py` |
| F29 | `weft nodes up` inside a command of a run could not mark what it started: `up` took living \
nodes for dead, and `down` left their processes | `tests/ray/test_parts.py` |
| F29 | its cases could not see the GPUs of their own clusters, so none of them had ever run in a \
campaign | `tests/test_campaigns.py` |
| F25 | `weft arc` stopped where the process that loads kernels could not be started, without \
advice, though it can do without | `tests/faults/test_exhaustion.py` |
| F25 | executions of workers that fork from the command were not counted, so that every task of \
`weft prng` seemed lost | `tests/faults/counting/sitecustomize.py` |
| F27 | `weft status` used SQL of which Python 3.12 warns and that 3.14 refuses: every reader \
failed there | `tests/test_purity.py` |
| F27 | one flipped bit in the kind of a round hid its results from every reader, and \
`weft verify` said nothing (2 of 10,000 damages) | `tests/storage/test_manifest_rows.py` |
| F25 | an interpreter with too little memory to raise MemoryError ended as an internal error, \
exit code 70 | `tests/faults/test_exhaustion.py` |
| F25 | a worker that could not be started, for want of processes or memory, was reported with the \
advice to free disk space | `tests/faults/test_exhaustion.py` |
| F25 | a lack of file descriptors was reported with the advice to free disk space | \
`tests/faults/test_exhaustion.py` |
| F14 | five of thirteen fuzzers began with inputs that their readers refuse at once, and none saw \
code that is imported at first use | `test_every_reader_has_beginnings_that_it_reads` |
| F1 | on Ray a command that had ended was run again after a kill of the coordinator | \
`tests/ray/test_paid.py` |

Planted bugs that were not noticed at first, so that the tests of their rows were sharpened:

| row | planted bug | why it was not noticed | noticed now by |
|---|---|---|---|
| F1 | files replaced in place | no sampled kill fell between opening and writing; later, on 16 \
cores, the n-th write of a run was on another file than counted, now the file is named too | \
`test_coordinator_killed_at_a_write_of_each_file_resumes_to_the_same_ledger` |
| F2 | a recovery that writes its checkpoint first | few kills fell into recovery itself | \
`test_recovery_killed_at_its_first_calls_resumes_to_the_same_ledger` |
| F3 | a failed sync ignored | a run that went on and ended well was taken for success | \
`test_sync_that_fails_stops_the_run_with_its_reason_and_resumes` |
| F7 | root not compared | in full, hardly any damage hit the last record, which only the root \
covers | `test_every_byte_of_the_last_record_is_found` |
| F11 | grandchildren left to the end of the run | only the end of the run was looked at | \
`test_processes_left_by_a_command_are_gone_before_the_next_begins` |
| F24 | limits judged before results | every stop came before the limit was watched | \
`test_stopped_coordinator_charges_no_task` |
"""
"""Written by hand: problems found by campaigns since the last release, and fixed."""
OPEN = ""
"""Written by hand: problems found by campaigns and not fixed yet; empty if there are none."""
AREAS = {"bugs": "no bug: the tests that notice the planted ones, in an unchanged copy"}
READERS = "F14"
NOT_RUN = "not run | | | | |"
NOT_COUNTED = ("violations", "seed", "signal", "peak_mb", "workers")
"""Figures that do not count things tried."""


@dataclass(slots=True)
class Tally:
    """The summed results of a row's cases."""

    row: str
    cases: int = 0
    ended: dict[str, int] = field(default_factory=dict)
    tried: dict[str, int] = field(default_factory=dict)
    violations: int = 0
    seconds: float = 0.0
    commits: list[str] = field(default_factory=list)
    dates: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    noticed: list[tuple[str, float, str]] = field(default_factory=list)
    """Planted bugs that were noticed, each with the seconds taken and the commit."""

    @property
    def all_commits(self) -> set[str]:
        """The commits of its cases and of its planted bugs."""
        return {*self.commits, *(commit for _, _, commit in self.noticed)}

    def add(self, e: EndedCase) -> None:
        """Count one case."""
        test, outcome = e.case["test"], e.value["outcome"]
        if outcome != "passed":
            self.problems.append(f"{test} ({e.case['part']}/{e.case['parts']}): {outcome}")
        elif is_planted(test):
            self.noticed.append((test, e.seconds, e.commit))
        if test == CONTROL_CASE or not test.startswith(PREFIX):  # a bug tries a test, not the fault
            self._count(e, outcome)

    def _count(self, e: EndedCase, outcome: str) -> None:
        self.cases += 1
        self.seconds += e.seconds
        self.ended[outcome] = self.ended.get(outcome, 0) + 1
        day = datetime.datetime.fromtimestamp(e.finished_at, datetime.UTC).date().isoformat()
        self.commits = sorted({*self.commits, e.commit})
        self.dates = sorted({*self.dates, day})
        if outcome not in ("passed", "skipped") and not e.value["figures"]:
            self.violations += 1
        planted = is_planted(e.case["test"])  # its figures are effects of the bug
        for figures in () if planted else e.value["figures"]:
            self.violations += int(figures.get("violations", 0))
            for name, count in figures.items():
                if name not in NOT_COUNTED and isinstance(count, int):
                    self.tried[name] = self.tried.get(name, 0) + count


@dataclass(frozen=True, slots=True)
class EndedCase:
    """A case that was tried, with its outcome, duration, commit and time."""

    case: dict[str, Any]
    value: dict[str, Any]
    seconds: float
    commit: str
    finished_at: float

    @property
    def name(self) -> tuple[str, int, int]:
        """The identity of the case."""
        return self.case["test"], self.case["part"], self.case["parts"]

    @property
    def row(self) -> str:
        """Its line of the table: the row, with the search or Ray if the case names one."""
        return line_of(self.case["row"], self.case["test"])


def line_of(row: str, test: str) -> str:
    """Return the line of the table of a test: its row, with the search or Ray if it names one."""
    parameters = test.partition("[")[2].rstrip("]").split("-")
    named = tuple(PLACES) if row != READERS else ()  # its parameters are readers of files
    search = next((name for name in named if name in parameters), "")
    return f"{row} {search}".strip()


def listed_cases(cases: Iterable[Case]) -> dict[str, int]:
    """Return the total number of cases of each line of the table."""
    counted = [c for c in cases if c.test == CONTROL_CASE or not c.test.startswith(PREFIX)]
    return dict(Counter(line_of(case.row, case.test) for case in counted))


def tally(runs: Iterable[weft.Run]) -> dict[str, Tally]:
    """Return the results of some runs by row, without cases that were not tried."""
    return tally_of(last_of(e for run in runs for e in cases_of(run)))


def last_of(ended: Iterable[EndedCase]) -> list[EndedCase]:
    """Return each case as it ended last, ordered by name.

    Results of a test that was divided differently before no longer count.
    """
    last = {e.name: e for e in sorted(ended, key=lambda e: e.finished_at)}
    parts = {e.case["test"]: e.case["parts"] for e in last.values()}
    return [last[name] for name in sorted(last) if parts[name[0]] == name[2]]


def tally_of(ended: Iterable[EndedCase]) -> dict[str, Tally]:
    """Sum the results of cases by row."""
    tallies: dict[str, Tally] = {}
    for e in ended:
        tallies.setdefault(e.row, Tally(e.row)).add(e)
    return tallies


def cases_of(run: weft.Run) -> Iterator[EndedCase]:
    """Yield each case of a run that ended."""
    cases, commit = run.args["cases"], run.args["commit"]
    for result in run.results():
        value = result.value if result.ok else broken(str(result.error))
        how = result.how
        yield EndedCase(cases[result.index], value, how.run_s or 0.0, commit, how.finished_at or 0)


def kept_cases(body: Mapping[str, Any]) -> list[EndedCase]:
    """Return the cases stored in faults.json."""
    return [EndedCase(**case) for case in body.get("cases", [])]


def cases_on(folder: Path) -> list[EndedCase]:
    """Return the cases on the page in a folder, if there is one."""
    path = folder / "faults.json"
    return kept_cases(json.loads(path.read_text("utf-8"))) if path.exists() else []


def kept_rows(body: Mapping[str, Any]) -> dict[str, Tally]:
    """Return the rows of a page whose cases were not stored."""
    rows = body.get("rows", {}) if "cases" not in body else body.get("earlier", {})
    return {name: Tally(**row) for name, row in rows.items()}


def broken(said: str) -> dict[str, Any]:
    """Return the value of a case that could not be run."""
    return {"outcome": "broken", "figures": [], "said": said}


def table(
    found: dict[str, Tally], measured: Mapping[str, str], listed: Mapping[str, int] | None = None
) -> str:
    """Return the rows as a Markdown table, areas last; `listed` has the total cases of each."""
    heads = ("row", "fault", "cases", "tried", "violations", "minutes", "commit", "date")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    all_cases = listed or {}
    for name in in_order(found, all_cases):
        row = found.get(name)
        if name in measured or row is None or not row.cases:
            cells = measured.get(name, NOT_RUN)
        else:
            cells = cells_of(row, all_cases.get(name, 0))
        lines.append(f"| {name} | {fault_of(name)} | {cells} |")
    return "\n".join(lines)


def cells_of(row: Tally, all_cases: int) -> str:
    """Return the cells of a row, from `cases` to `date`."""
    cases = ", ".join(f"{n} {how}" for how, n in sorted(row.ended.items()))
    cases += f" of {all_cases}" if row.cases < all_cases else ""
    tried = ", ".join(f"{n:,} {what.replace('_', ' ')}" for what, n in row.tried.items() if n)
    when = f"{', '.join(row.commits)} | {', '.join(row.dates)}"
    return f"{cases} | {tried} | {row.violations} | {row.seconds / 60:.1f} | {when}"


def fault_of(name: str) -> str:
    """Return the fault described by a line of the table."""
    if search := name.partition(" ")[2]:
        return f"the same on {PLACES[search]}"
    faults = {row.name: row.fault for row in ROWS}
    return faults.get(name) or AREAS.get(name, f"campaigns of {name}")


def in_order(found: Mapping[str, Tally], listed: Mapping[str, int]) -> list[str]:
    """Return the names of all rows, each followed by those of its searches; areas last."""
    faults = [row.name for row in ROWS]
    areas = sorted(n for n in found if n.partition(" ")[0] not in faults and found[n].cases)
    known = sorted({*found, *listed})
    of = {name: [n for n in known if n.startswith(f"{name} ")] for name in faults}
    return [*(n for name in faults for n in (name, *of[name])), *areas]


def planted_table(found: dict[str, Tally]) -> str:
    """Return a table of the planted bugs that were noticed, in the order of the rows."""
    lines = ["| row | planted bug | seconds until noticed | commit |", "|---|---|---|---|"]
    order = {row.name: place for place, row in enumerate(ROWS)}
    for name in sorted(found, key=lambda name: (order.get(name, len(order)), name)):
        for test, seconds, commit in found[name].noticed:
            lines.append(f"| {name} | {described(test)} | {seconds:.0f} | {commit} |")
    return "\n".join(lines)


def described(test: str) -> str:
    """Return the description of a planted bug, or else one derived from the test's name."""
    bug = bug_of(test)
    return bug.what if bug else test.rpartition("::")[2].removeprefix("test_").replace("_", " ")


def page_of(
    found: dict[str, Tally],
    where: str,
    measured: Mapping[str, str],
    repeated: str = "",
    listed: Mapping[str, int] | None = None,
    stale: str = "",
) -> str:
    """Return the whole page; `where` describes the machines, `repeated` is the flakiness table.

    `stale` lists the rows whose code has changed since they were tried.
    """
    problems = [problem for row in found.values() for problem in row.problems]
    rows, bugs = table(found, measured, listed), planted_table(found)
    parts = [INTRODUCTION, where, rows, "## Planted bugs", bugs]
    parts += [FLAKINESS, repeated] if repeated else []
    parts += [stale, OPEN, FOUND]
    if problems:
        parts += ["## Not passed", "\n".join(f"- `{problem}`" for problem in problems)]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def write_page(
    folder: Path,
    runs: Sequence[tuple[weft.Run, str]],
    listed: Mapping[str, int] | None = None,
    history: CodeHistory | None = None,
) -> Path:
    """Write faults.md and faults.json into a folder, from an existing faults.json and new runs.

    `listed` has the total number of cases per line of the table, if known. `history` finds the code
    that has changed since.
    """
    path = folder / "faults.json"
    body = json.loads(path.read_text("utf-8")) if path.exists() else {}
    ended = last_of([*kept_cases(body), *(e for run, _ in runs for e in cases_of(run))])
    earlier, tallies = kept_rows(body), tally_of(ended)
    rows = joined(earlier, tallies)
    commits = {commit for row in rows.values() for commit in row.all_commits}
    lines = [f"- {run.args['commit']}: {text}" for run, text in runs if text]
    machines = dict.fromkeys([*body.get("where", "").splitlines(), *lines])
    where = "\n".join(m for m in machines if m[2:].partition(":")[0] in commits)
    left_over = {name: asdict(left_of(row, tallies.get(name))) for name, row in earlier.items()}
    counts = {**body.get("listed", {}), **(listed or {})}
    text = json.dumps({"where": where, "cases": [asdict(e) for e in ended], "earlier": left_over,
                       "listed": counts}, indent=1, sort_keys=True)  # fmt: skip
    path.write_text(text + "\n", "utf-8")
    repeated = flakiness_table(folder)
    stale = stale_section(ended, history) if history else ""
    kinds = kinds_of(where.splitlines())
    page = page_of(rows, kinds, measured_rows(folder), repeated, counts, stale)
    (folder / "faults.md").write_text(page, "utf-8")
    return folder / "faults.md"


def stale_section(ended: Iterable[EndedCase], history: CodeHistory) -> str:
    """Return the section on rows with cases whose code has changed since, and the files."""
    changed: dict[str, set[str]] = {}
    cases: Counter[str] = Counter()
    for e in ended:
        if files := history.changed_for(e.case["test"], e.commit):
            changed.setdefault(e.row, set()).update(files)
            cases[e.row] += 1
    if not changed:
        return CURRENT.format(commit=history.commit)
    names = [row.name for row in ROWS]
    order = {name: (names.index(base) if (base := name.partition(" ")[0]) in names else len(names))
             for name in changed}  # fmt: skip
    rows = {name: changed[name] for name in sorted(changed, key=lambda name: (order[name], name))}
    return STALE.format(commit=history.commit) + "\n" + stale_table(rows, cases)


def left_of(row: Tally, now: Tally | None) -> Tally:
    """Return the part of an earlier row that still counts: if tried again, only planted bugs."""
    return Tally(row.row, noticed=row.noticed) if now is not None and now.cases else row


def joined(earlier: Mapping[str, Tally], found: Mapping[str, Tally]) -> dict[str, Tally]:
    """Replace earlier rows with current ones; planted bugs that were not tried again stay."""
    rows = {**earlier, **found}
    for name in earlier.keys() & found.keys():
        now = {test for test, _, _ in found[name].noticed}
        old = [tuple(entry) for entry in earlier[name].noticed if entry[0] not in now]
        row = rows[name] if found[name].cases else earlier[name]
        noticed = sorted([*old, *found[name].noticed])
        rows[name] = replace(row, noticed=noticed, problems=found[name].problems)
    return rows
