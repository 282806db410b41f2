"""The page that compares the engine with others: one section per part measured."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from benchmarks import loads
from benchmarks.enginerun import Figure
from benchmarks.enginetargets import targets
from benchmarks.rivals.table import (
    ACTORS,
    BY_NAME,
    EXECUTOR,
    JOBLIB,
    ON_RAY,
    RIVALS,
    SAME,
    SAME_TASKS,
    WEFT,
    Rival,
)

Part = Mapping[str, Any]


def render(figures: Mapping[str, Part]) -> str:
    """Return the page."""
    parts = [section(figures[name]) for name, section in SECTIONS.items() if name in figures]
    return "\n\n".join(part.strip() for part in (INTRODUCTION, targets(figures), *parts)) + "\n"


INTRODUCTION = """\
# The engine compared with others

`python -m benchmarks engine`. Each measurement runs in its own process. Repeats of the engines are
interleaved, and ratios are computed within one repeat. Figures are medians, with the minimum and
maximum over all repeats in brackets. All results are checked, and every Weft run is verified
afterwards.

*Warm* timing starts when all workers have answered a first task; *cold* timing includes starting
them. The clock stops when the caller has all results. For Weft it stops later, when `weft.run`
returns: every result is durable, the ledger is complete, and the workers have stopped.
"""


def noted(part: Part) -> str:
    """Return the note on a part that was measured on an earlier version; empty if there is none."""
    return f"\n{part['note']}\n" if "note" in part else ""


def compare_section(part: Part) -> str:
    """Render all engines at the same number of workers."""
    figures: list[Figure] = part["figures"]
    memory = [rival for rival in RIVALS if not rival.stores or rival.ours]
    durable = [rival for rival in RIVALS if rival.stores]
    versions = ", ".join(f"{name} {version}" for name, version in part["versions"].items())
    return f"""\
## {part["workers"]} workers, all in one run

{part["machine"]}. {versions}.
{failed(part)}{noted(part)}
![µs per tiny task, warm](engine.svg)

### Tiny tasks, compared with engines that keep results in memory

Start-up is how much longer a cold run takes than the same run warm; the cold column spreads it over
the tasks.

{
        table(
            figures,
            memory,
            (
                "engine",
                "tasks",
                "warm, µs per task",
                f"× {JOBLIB}",
                f"× {EXECUTOR}",
                "cold, µs per task",
                "start-up, s",
            ),
            memory_cells,
        )
    }

### Tiny tasks, compared with engines that store every result

A result counts when it is stored.

{
        table(
            figures,
            durable,
            (
                "engine",
                "tasks",
                "warm, µs per task",
                "Weft is faster, ×",
                "cold, µs per task",
                "start-up, s",
            ),
            durable_cells,
        )
    }

{promises(durable)}

### Tasks of 1 ms

Each task spins for 1 ms of the monotonic clock. Efficiency is the sum of the tasks' time over
workers × time taken.

{
        table(
            figures,
            RIVALS,
            ("engine", "tasks", "warm, efficiency", "cold, efficiency", "stored"),
            millisecond_cells,
        )
    }
{beside_ray(figures)}"""


def failed(part: Part) -> str:
    """List what could not be measured, with the reasons."""
    lines = [f"Not measured: {name} ({reason})." for name, reason in part["failed"].items()]
    return "".join(f"\n{line}\n" for line in lines)


def promises(rivals: Iterable[Rival]) -> str:
    """List what durable engines store, once for all engines that share it."""
    names: dict[str, list[str]] = {}
    for rival in rivals:
        names.setdefault(rival.stores, []).append(rival.name)
    return "\n".join(f"- **{'; '.join(group)}.** {text}" for text, group in names.items())


Cells = Callable[[Sequence[Figure], Rival], list[str]]


def table(
    figures: Sequence[Figure], rivals: Iterable[Rival], head: Sequence[str], cells: Cells
) -> str:
    """Render one row for each engine that has figures."""
    present = {figure["engine"] for figure in figures}
    rows = [[r.name, *cells(figures, r)] for r in rivals if r.name in present]
    return grid(head, rows)


def grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Render a Markdown table; all columns but the first are numeric."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))


def memory_cells(figures: Sequence[Figure], rival: Rival) -> list[str]:
    mine = pick(figures, rival.name, "tiny", "warm")
    ratios = [ratio(mine, pick(figures, other, "tiny", "warm")) for other in (JOBLIB, EXECUTOR)]
    return [*_cost_cells(mine), *map(times, ratios), *_cold_cells(figures, rival)]


def durable_cells(figures: Sequence[Figure], rival: Rival) -> list[str]:
    mine = pick(figures, rival.name, "tiny", "warm")
    faster = [] if rival.ours else ratio(mine, pick(figures, WEFT, "tiny", "warm"))
    return [*_cost_cells(mine), times(faster), *_cold_cells(figures, rival)]


def _cost_cells(figure: Figure | None) -> list[str]:
    if figure is None:
        return ["", ""]
    return [f"{figure['n']:,}", spread(costs_us(figure), cost)]


def _cold_cells(figures: Sequence[Figure], rival: Rival) -> list[str]:
    warm, cold = (pick(figures, rival.name, "tiny", start) for start in ("warm", "cold"))
    if cold is None:
        return ["", ""]
    return [spread(costs_us(cold), cost), start_up(cold, warm) if warm else ""]


def start_up(cold: Figure, warm: Figure) -> str:
    """Format how many seconds longer a cold run takes."""
    more_s = statistics.median(cold["seconds"]) - statistics.median(warm["seconds"])
    return f"{more_s:.1f}" if more_s >= 0.05 else "< 0.1"


def millisecond_cells(figures: Sequence[Figure], rival: Rival) -> list[str]:
    warm, cold = (pick(figures, rival.name, "millisecond", start) for start in ("warm", "cold"))
    some = warm or cold
    shares = [spread(efficiency(f), percent) if f else "" for f in (warm, cold)]
    return [f"{some['n']:,}" if some else "", *shares, "yes" if rival.stores else "no"]


def beside_ray(figures: Sequence[Figure]) -> str:
    """State the time of our Ray backend relative to a plain pool of actors."""
    mine, bare = (pick(figures, name, "millisecond", "warm") for name in (ON_RAY, ACTORS))
    ratios = ratio(mine, bare)
    if not ratios:
        return ""
    return f"\nOn Ray, Weft takes {times(ratios)} × the time of a plain actor pool, warm.\n"


def same_section(part: Part) -> str:
    """Render the engines with equal numbers of tasks: a table per machine and worker count."""
    tables = [_same_table(place, body) for place, body in part.items()]
    return "\n\n".join([f"""\
## The same {SAME_TASKS:,} tasks for each

Elsewhere on this page slow engines get fewer tasks than Weft, and fast ones more. Here all get the
same, cold and warm; × {JOBLIB} is the ratio with the same start.""", *tables])  # fmt: skip


def _same_table(place: str, body: Part) -> str:
    workers, _, cores = place.partition(" of ")
    head = ("engine", "tasks", "warm, µs per task", f"× {JOBLIB}", "cold, µs per task",
            f"× {JOBLIB}", "start-up, s")  # fmt: skip
    rows = table(body["figures"], [BY_NAME[name] for name in SAME], head, same_cells)
    return f"{workers} workers on {cores} cores ({body['machine']}):\n\n{rows}"


def same_cells(figures: Sequence[Figure], rival: Rival) -> list[str]:
    warm, cold = (pick(figures, rival.name, "tiny", start) for start in ("warm", "cold"))
    ratios = [
        ratio(mine, pick(figures, JOBLIB, "tiny", start))
        for mine, start in ((warm, "warm"), (cold, "cold"))
    ]
    cold_us, start_up_s = _cold_cells(figures, rival)
    return [*_cost_cells(warm), times(ratios[0]), cold_us, times(ratios[1]), start_up_s]


def wide_section(part: Part) -> str:
    """Render µs per tiny task and efficiency with 1 ms tasks, by number of workers."""
    machines = sorted({body["machine"] for body in part.values()})
    return f"""\
## From {next(iter(part))} to {list(part)[-1]} workers

{"; ".join(machines)}. Each number of workers is measured separately, warm. This machine has no
network, so only engines that could be copied to it are measured.

µs per tiny task:

{_wide_table(part, "tiny", lambda figure: spread(costs_us(figure), cost))}

Efficiency with 1 ms tasks:

{_wide_table(part, "millisecond", lambda figure: spread(efficiency(figure), percent))}

Tasks of these Weft runs, their duration, and that of a run with one tiny task per worker. Warm, it
is the fixed cost of a run: the last commit, the seal, stopping the workers.

{_length_table(part)}
"""


def _length_table(part: Part) -> str:
    """Render the seconds of our runs by number of workers; unmeasured cells are empty."""
    rows = [
        [f"{name}, number", *(_number(body["figures"], load) for body in part.values())]
        for name, load in (("tiny tasks", "tiny"), ("1 ms tasks", "millisecond"))
    ]
    rows += [
        [name, *(_length(body.get(group, ()), load, start) for body in part.values())]
        for name, group, load, start in (
            ("tiny tasks, s", "figures", "tiny", "warm"),
            ("1 ms tasks, s", "figures", "millisecond", "warm"),
            ("one tiny task each, warm, s", "fixed", "tiny", "warm"),
            ("one tiny task each, cold, s", "fixed", "tiny", "cold"),
        )
    ]
    return grid(["run", *(_workers(count) for count in part)], rows)


def _workers(count: str) -> str:
    return f"{count} worker" if count == "1" else f"{count} workers"


def _number(figures: Sequence[Figure], load: str) -> str:
    figure = pick(figures, WEFT, load, "warm")
    return f"{figure['n']:,}" if figure else ""


def _length(figures: Sequence[Figure], load: str, start: str) -> str:
    figure = pick(figures, WEFT, load, start)
    return spread(figure["seconds"], "{:.2f}".format) if figure else ""


def _wide_table(part: Part, load: str, cell: Callable[[Figure], str]) -> str:
    rows = []
    for name in BY_NAME:
        mine = [pick(body["figures"], name, load, "warm") for body in part.values()]
        if any(mine):
            rows.append([name, *(cell(figure) if figure else "" for figure in mine)])
    return grid(["engine", *(_workers(count) for count in part)], rows)


def sizes_section(part: Part) -> str:
    rows = [
        [f"{f['n']:,}", str(len(f["seconds"])), spread(costs_us(f), cost)] for f in part["figures"]
    ]
    return f"""\
## Weft by size of the run

One lazy round of tiny tasks, {part["workers"]} workers, cold; {part["machine"]}.
In small runs, starting the workers dominates.

{grid(("tasks", "repeats", "µs per task"), rows)}
"""


def rounds_section(part: Part) -> str:
    names = {"weft": "weft", "executor": EXECUTOR}
    rows = [
        [names[engine], "failed" if seconds is None else f"{1e3 * seconds / part['rounds']:.2f}"]
        for engine, seconds in part["seconds"].items()
    ]
    return f"""\
## Many rounds

{part["rounds"]:,} rounds of one tiny task, each needing the value of the one before, 2 workers,
cold; {part["machine"]}.

{grid(("engine", "ms per round"), rows)}
"""


def slots_section(part: Part) -> str:
    rows = [
        [str(c["slots"]), str(c["block"]), f"{c['n']:,}", *_slot_costs(c)] for c in part["costs"]
    ]
    return f"""\
## The coordinator's cost by number of slots

A real run whose workers answer at once, inside the coordinator's process, at about 1 µs per task;
{part["machine"]}.
With blocks of 1, a slot holds one task at a time, as with long tasks. Each figure is the minimum of
{part.get("turns", 1)} interleaved repeats.

{grid(("slots", "tasks in a block", "tasks", "µs per task", "CPU µs per task"), rows)}
"""


def _slot_costs(entry: Mapping[str, float]) -> list[str]:
    if "seconds" not in entry:
        return ["failed", "failed"]
    return [cost(1e6 * entry[name] / entry["n"]) for name in ("seconds", "cpu_s")]


def busy_section(part: Part) -> str:
    rows = [[str(s["slots"]), f"{s['n']:,}", *_busy_share(s)] for s in part["shares"]]
    return f"""\
## How busy one coordinator keeps many workers

Tasks of 1 ms in simulated time (`benchmarks/simulatedworkers.py`). The coordinator is real; each
simulated worker, like the coordinator, has its own core. So this is the limit that the coordinator
sets, not what a machine achieves; {part["machine"]}.
The cost of the simulation counts as the coordinator's and is about as large.

{grid(("workers", "tasks", "efficiency", "coordinator's CPU µs per task"), rows)}
"""


def _busy_share(entry: Mapping[str, float]) -> list[str]:
    if "efficiency" not in entry:
        return ["failed", "failed"]
    return [f"{100 * entry['efficiency']:.1f} %", cost(1e6 * entry["cpu_s"] / entry["n"])]


SECTIONS: dict[str, Callable[[Part], str]] = {
    "compare": compare_section, "same": same_section, "wide": wide_section,
    "sizes": sizes_section, "rounds": rounds_section, "slots": slots_section,
    "busy": busy_section,
}  # fmt: skip


# -- figures -----------------------------------------------------------------------------------


def pick(figures: Sequence[Figure], engine: str, load: str, start: str) -> Figure | None:
    """Return the figure of an engine, if it was measured."""
    key = (engine, load, start)
    return next((f for f in figures if (f["engine"], f["load"], f["start"]) == key), None)


def costs_us(figure: Figure) -> list[float]:
    """Return µs per task, turn by turn."""
    return [1e6 * seconds / figure["n"] for seconds in figure["seconds"]]


def efficiency(figure: Figure) -> list[float]:
    """Return the share of the workers' time that tasks took, turn by turn."""
    return [loads.TASK_S * figure["n"] / figure["workers"] / s for s in figure["seconds"]]


def ratio(mine: Figure | None, other: Figure | None) -> list[float]:
    """Return the cost relative to another engine's, turn by turn; empty if one is missing."""
    if mine is None or other is None:
        return []
    return [a / b for a, b in zip(costs_us(mine), costs_us(other), strict=True)]


def warm_costs(part: Part) -> list[tuple[Rival, float]]:
    """Return the median cost of a tiny task for each engine, cheapest first."""
    costs = [
        (BY_NAME[f["engine"]], statistics.median(costs_us(f))) for f in part["figures"]
        if (f["load"], f["start"]) == ("tiny", "warm")
    ]  # fmt: skip
    return sorted(costs, key=lambda pair: (pair[1], pair[0].name))


def cost(value_us: float) -> str:
    """Format a cost with about three digits."""
    return f"{value_us:,.1f}" if value_us < 99.95 else f"{value_us:,.0f}"


def percent(value: float) -> str:
    return f"{100 * value:.1f} %" if value >= 0.0995 else f"{100 * value:.2f} %"


def times(ratios: Sequence[float]) -> str:
    """Format the median ratio."""
    if not ratios:
        return ""
    value = statistics.median(ratios)
    return f"{value:,.0f}" if value >= 99.5 else f"{value:.3g}"


def spread(values: Sequence[float], form: Callable[[float], str]) -> str:
    """Format the median, with the range in brackets if there are several values."""
    middle = form(statistics.median(values))
    if len(values) == 1:
        return middle
    return f"{middle} ({form(min(values))}–{form(max(values))})"
