"""Compare the engine with others: tiny tasks, 1 ms tasks, many workers, many rounds.

    python -m benchmarks engine                           the page, about a quarter of an hour
    python -m benchmarks engine --only NAMES --turns 1    some engines, by name or part of it
    python -m benchmarks engine --part same --workers 2   the same 100,000 tasks for each, a minute
    python -m benchmarks engine --part wide,slots,busy --workers 1,2,4,8,16 --json FILE
                                                          elsewhere, with what is installed there
    python -m benchmarks engine --merge FILE              add its figures to the page

A part that is not measured keeps the figures of its last run.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import loads, machine
from benchmarks.enginerun import Bench, MeasurementError, run_json
from benchmarks.rivals import environment
from benchmarks.rivals.table import RIVALS, SAME, SAME_TASKS, WEFT, Rival, can_import

PAGES = Path(__file__).parents[1] / "docs" / "benchmarks"
PARTS = ("compare", "same", "sizes", "rounds", "slots", "busy")
"""Parts that are measured by default; `wide` is for a machine with many cores."""
BY_WORKERS = ("same", "wide")
"""Parts that may be measured with several numbers of workers."""
SAME_TURNS = 3
STARTS = ("cold", "warm")
TURNS = {"tiny": 3, "millisecond": 2}
UNTIL_S = {"tiny": 420, "millisecond": 720}
"""Time limits for further turns, so that on a slow machine the page takes a quarter of an hour."""
SIZES = {1_000: 3, 10_000: 3, 100_000: 2, 1_000_000: 1}
"""By number of tasks in a run: how often it is measured."""
ROUNDS = 10_000
SLOTS = (2, 16, 64, 256, 1_000)
BLOCKS = {32: 100_000, 1: 10_000}
"""By number of tasks in a block: number of tasks in the run."""
SLOT_TURNS = 3
BUSY = {2: 2_000, 16: 16_000, 64: 32_000, 256: 64_000}
"""By number of simulated workers: number of 1 ms tasks."""
WIDE_SHARES = {"tiny": 0.5, "millisecond": 1.5625}
"""Shares of the usual tasks: 50,000 tiny ones, and 50,000 of 1 ms with 16 workers."""
WORKERS = (2,)


def main(argv: Sequence[str] = ()) -> None:
    options = parsed(argv)
    if options.merge:
        measured = json.loads(Path(options.merge).read_text("utf-8"))
        write_page(merged(load_page(), measured))
        return
    with own_state():
        measured, failures = measure(options)
    if options.json:
        Path(options.json).write_text(json.dumps(measured, indent=1) + "\n", "utf-8")
    else:
        write_page(merged(load_page(), measured))
    if failures:
        lines = [f"{name}: {reason}" for name, reason in failures.items()]
        sys.exit("not measured:\n" + "\n".join(lines))


@contextmanager
def own_state() -> Iterator[None]:
    """Keep the heads of measured runs out of the user's heads list."""
    before = os.environ.get("XDG_STATE_HOME")
    with tempfile.TemporaryDirectory() as state:
        os.environ["XDG_STATE_HOME"] = state
        try:
            yield
        finally:
            del os.environ["XDG_STATE_HOME"]
            if before is not None:
                os.environ["XDG_STATE_HOME"] = before


def parsed(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the options; unknown parts and engines are rejected immediately."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks engine")
    parser.add_argument("--workers", type=_counts, default=WORKERS, help="numbers, with commas")
    parser.add_argument("--part", type=_parts, default=PARTS, help=", ".join((*PARTS, "wide")))
    parser.add_argument("--only", type=_engines, default=RIVALS, help="engines, with commas")
    parser.add_argument("--turns", type=int, default=None)
    parser.add_argument("--share", type=float, default=1.0, help="of the tasks, to try it out")
    parser.add_argument("--starts", type=lambda text: text.split(","), default=None)
    parser.add_argument("--json", metavar="FILE", help="write the figures there, and no page")
    parser.add_argument("--merge", metavar="FILE", help="measure nothing; take figures from there")
    options = parser.parse_args(argv)
    if len(options.workers) != 1 and not {*options.part} <= {*BY_WORKERS}:
        parser.error("several numbers of workers belong to --part wide and --part same")
    return options


def _counts(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(","))


def _parts(text: str) -> tuple[str, ...]:
    for word in text.split(","):
        if word not in (*PARTS, "wide"):
            raise argparse.ArgumentTypeError(f"there is no part {word!r}")
    return tuple(text.split(","))


def _engines(text: str) -> tuple[Rival, ...]:
    """Select engines by substrings of their names; ours is always included."""
    words = [word.strip().lower() for word in text.split(",")]
    for word in words:
        if not any(word in rival.name.lower() for rival in RIVALS):
            names = "; ".join(rival.name for rival in RIVALS)
            raise argparse.ArgumentTypeError(f"there is no engine {word!r}, but: {names}")
    return tuple(
        rival for rival in RIVALS
        if rival.name == WEFT or any(word in rival.name.lower() for word in words)
    )  # fmt: skip


# -- measuring ---------------------------------------------------------------------------------


def measure(options: argparse.Namespace) -> tuple[dict[str, Any], dict[str, str]]:
    """Measure the requested parts; return their figures, and the engines that failed."""
    measured: dict[str, Any] = {}
    bench = Bench(sys.executable)
    for part in options.part:
        bench.note(f"-- {part}")
        measured[part] = MEASURES[part](bench, options)
    return measured, bench.failures


def compare(bench: Bench, options: argparse.Namespace) -> dict[str, Any]:
    """Measure all engines with the same number of workers."""
    for rival in options.only:
        if rival.ours and not can_import(rival):
            sys.exit(f"{rival.name}: {rival.package} is not installed; leave it out with --only")
    _use_environment(bench, options.only)
    starts, [workers], place = options.starts or STARTS, options.workers, machine.describe()
    figures = [
        figure for load, turns in TURNS.items()
        for figure in bench.compare(
            options.only, load, starts, workers, options.turns or turns, options.share,
            UNTIL_S[load],
        )
    ]  # fmt: skip
    versions = environment.pinned(environment.REQUIREMENTS.read_text("utf-8"))
    return {"machine": place, "workers": workers, "figures": figures,
            "versions": versions, "failed": dict(bench.failures)}  # fmt: skip


def _use_environment(bench: Bench, rivals: Sequence[Rival]) -> None:
    """Measure engines that are not ours in an environment with their packages."""
    packages = {rival.package for rival in rivals if rival.package and not rival.ours}
    if packages:
        bench.rivals_python = str(environment.prepare(packages))


def wide(bench: Bench, options: argparse.Namespace) -> dict[str, Any]:
    """Measure the engines that can be imported here, by number of workers, and our fixed costs."""
    rivals = [rival for rival in options.only if rival.wide and can_import(rival)]
    bench.note(f"measured here: {'; '.join(rival.name for rival in rivals)}")
    starts, turns = options.starts or ["warm"], options.turns or 2
    parts = {}
    for workers in options.workers:
        place = machine.describe()
        figures = [
            figure for load in TURNS
            for figure in bench.compare(
                rivals, load, starts, workers, turns, WIDE_SHARES[load] * options.share
            )
        ]  # fmt: skip
        ours = [replace(rival, tiny=0) for rival in rivals if rival.name == WEFT]
        parts[str(workers)] = {
            "machine": place, "figures": figures,
            "fixed": bench.compare(ours, "tiny", STARTS, workers, turns),
        }  # fmt: skip
    return parts


def same(bench: Bench, options: argparse.Namespace) -> dict[str, Any]:
    """Measure fast engines with the same number of tasks for each, by number of workers."""
    chosen = [replace(r, tiny=SAME_TASKS) for r in options.only if r.name in SAME]
    _use_environment(bench, [rival for rival in chosen if not can_import(rival)])
    starts, turns = options.starts or STARTS, options.turns or SAME_TURNS
    places = {}
    for workers in options.workers:
        place = machine.describe()
        figures = bench.compare(chosen, "tiny", starts, workers, turns, options.share)
        places[f"{workers} of {machine.cores()}"] = {
            "machine": place, "workers": workers, "figures": figures
        }  # fmt: skip
    return places


def sizes(bench: Bench, options: argparse.Namespace) -> dict[str, Any]:
    """Measure our engine, by size of the run."""
    [workers], figures, place = options.workers, [], machine.describe()
    for n, turns in SIZES.items():
        rival = Rival(WEFT, "weft_round:lazy", n, 0, ours=True)
        figures += bench.compare(
            [rival], "tiny", ["cold"], workers, options.turns or turns, options.share
        )
    return {"machine": place, "workers": workers, "figures": figures}


def rounds(bench: Bench, options: argparse.Namespace) -> dict[str, Any]:
    """Compare our engine with ProcessPoolExecutor on many consecutive rounds."""
    seconds, count, place = {}, int(options.share * ROUNDS), machine.describe()
    for engine in ("weft", "executor"):
        argv = (sys.executable, "-m", "benchmarks.enginerounds", engine, str(count), "2")
        seconds[engine] = _figure(bench, f"{count} rounds, {engine}", *argv).get("seconds")
        bench.note(f"{engine}: {count} rounds in {seconds[engine]} s")
    return {"machine": place, "rounds": count, "seconds": seconds}


def slots(bench: Bench, options: argparse.Namespace) -> dict[str, Any]:
    """Measure our engine with workers that do nothing; keep the minimum of several turns."""
    place, turns = machine.describe(), options.turns or SLOT_TURNS
    costs: list[dict[str, float]] = [
        {"slots": count, "block": block, "n": int(options.share * most)}
        for block, most in BLOCKS.items() for count in SLOTS
    ]  # fmt: skip
    for _ in range(turns):
        for cost in costs:
            words = [str(cost[name]) for name in ("slots", "block", "n")]
            argv = (sys.executable, "-m", "benchmarks.idleworkers", *words)
            figures = _figure(bench, f"{cost['slots']} slots", *argv)
            cost |= {name: min(value, cost.get(name, value)) for name, value in figures.items()}
            bench.note(f"{cost['slots']} slots, blocks of {cost['block']}: {figures}")
    return {"machine": place, "turns": turns, "costs": costs}


def busy(bench: Bench, options: argparse.Namespace) -> dict[str, Any]:
    """Measure our engine with simulated workers."""
    shares, place, task_us = [], machine.describe(), int(1e6 * loads.TASK_S)
    for count, most in BUSY.items():
        n = max(count, int(options.share * most))
        words = (str(count), str(task_us), str(n))
        argv = (sys.executable, "-m", "benchmarks.simulatedworkers", *words)
        figures = _figure(bench, f"{count} simulated workers", *argv)
        shares.append({"slots": count, "n": n, **figures})
        bench.note(f"{count} simulated workers: {figures}")
    return {"machine": place, "shares": shares}


def _figure(bench: Bench, name: str, *argv: str) -> dict[str, float]:
    """Return the figures of a process; if it fails, record the failure and return none."""
    try:
        return run_json(*argv)
    except MeasurementError as failure:
        bench.failures[name] = str(failure)
        return {}


MEASURES = {
    "compare": compare, "same": same, "wide": wide, "sizes": sizes, "rounds": rounds,
    "slots": slots, "busy": busy,
}  # fmt: skip


# -- figures and page --------------------------------------------------------------------------


def load_page() -> dict[str, Any]:
    """Return the stored figures by part; empty if there are none."""
    path = PAGES / "engine.json"
    stored: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return {part: body for part, body in stored.items() if part in MEASURES}


def merged(stored: Mapping[str, Any], measured: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stored figures with measured parts replaced; BY_WORKERS merge by worker count."""
    unknown = [part for part in measured if part not in MEASURES]
    if unknown:
        sys.exit(f"{unknown[0]!r} is not a part of this page")
    figures = {**stored, **measured}
    for part in BY_WORKERS:
        if part in figures:
            counts = {**stored.get(part, {}), **measured.get(part, {})}
            figures[part] = {count: counts[count] for count in sorted(counts, key=_by_size)}
    return {part: figures[part] for part in MEASURES if part in figures}


def _by_size(place: str) -> list[int]:
    """Return the sort key of `16` or `16 of 16`: cores, then workers."""
    return [int(word) for word in reversed(place.split(" of "))]


def other_pages() -> dict[str, Any]:
    """Return the figures of other pages that the engine's targets refer to."""
    paths = {name: PAGES / f"{name}.json" for name in ("big", "jobs")}
    return {
        name: json.loads(path.read_text("utf-8")) for name, path in paths.items() if path.exists()
    }


def write_page(figures: Mapping[str, Any]) -> None:
    """Write the JSON, the Markdown and the chart."""
    from benchmarks import enginechart, enginepage  # noqa: PLC0415 - not needed to measure

    (PAGES / "engine.json").write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    if "compare" in figures:
        chart = enginechart.draw(enginepage.warm_costs(figures["compare"]))
        (PAGES / "engine.svg").write_text(chart, "utf-8")
    page = enginepage.render({**figures, **other_pages()})
    (PAGES / "engine.md").write_text(page, "utf-8")
    print(page)
