"""Render docs/benchmarks/arc.md from the figures: a section for each part that was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks import (
    arcchains,
    arcconcepts,
    arcmechanisms,
    arcpublished,
    arcreliability,
    arcsymmetries,
    arcworkers,
)
from weft.searches.arc.synthesis.ablation import PARTS

Figures = Mapping[str, Any]
HEADS = (
    "answered", "right", "wrong", "unknown", "precision", "pass@1", "pass@2", "CPU s per task",
    "slowest 5 %", "states/s per core", "MB",
)  # fmt: skip


EARLIER = """\
Earlier versions on all tasks of a split, right / wrong at a least confidence (the default was 0.95
in version 8 and from 13 on, 0.85 in version 9, 0.88 in version 10, 0.9 in version 11, 0.93 in
version 12), and CPU seconds of a task and of the slowest twentieth, in version 8 and from 10 on
with 16 busy cores; before there was a confidence, a price in bits decided:

| version, split | 0.8 | 0.85 | 0.9 | 0.95 | 0.98 | 0.99 | pass@1 | pass@2 | CPU s |
|---|---|---|---|---|---|---|---|---|---|
| 19, evaluation | 127 / 3 | 124 / 3 | 122 / 3 | 113 / 3 | 88 / 1 | 69 / 1 | 184 | 189 \
| 3.50, 11.9 |
| 19, training | 239 / 2 | 234 / 2 | 224 / 2 | 208 / 1 | 179 / 0 | 134 / 0 | 330 | 345 | 1.50, 5.3 |
| 19, ARC-AGI-2, new | 23 / 2 | 21 / 2 | 21 / 1 | 17 / 0 | 10 / 0 | 3 / 0 | 64 | 75 | 5.05, 15.1 |
| 19, ARC-AGI-2 evaluation | 1 / 0 | 1 / 0 | 1 / 0 | 1 / 0 | 1 / 0 | 1 / 0 | 3 | 3 | 3.98, 10.7 |
| 18, evaluation | 125 / 3 | 121 / 3 | 118 / 3 | 111 / 3 | 88 / 1 | 68 / 1 | 181 | 187 \
| 3.25, 10.6 |
| 18, training | 238 / 2 | 234 / 2 | 225 / 2 | 207 / 1 | 179 / 0 | 132 / 0 | 328 | 343 | 2.27, 7.6 |
| 18, ARC-AGI-2, new | 23 / 2 | 21 / 2 | 21 / 1 | 17 / 0 | 10 / 0 | 3 / 0 | 63 | 74 | 3.05, 8.7 |
| 18, ARC-AGI-2 evaluation | 1 / 0 | 1 / 0 | 1 / 0 | 1 / 0 | 1 / 0 | 1 / 0 | 3 | 3 | 5.08, 13.1 |
| 17, evaluation | 120 / 6 | 117 / 6 | 114 / 4 | 107 / 4 | 86 / 2 | 65 / 2 | 176 | 182 | 2.34, 7.6 |
| 17, training | 239 / 2 | 234 / 2 | 223 / 1 | 206 / 1 | 175 / 0 | 132 / 0 | 328 | 342 | 1.53, 5.4 |
| 17, ARC-AGI-2, new | 22 / 2 | 21 / 2 | 21 / 1 | 16 / 0 | 9 / 0 | 2 / 0 | 65 | 78 | 4.00, 10.9 |
| 17, ARC-AGI-2 evaluation | 1 / 0 | 1 / 0 | 1 / 0 | 1 / 0 | 1 / 0 | 1 / 0 | 4 | 4 | 4.53, 12.1 |
| 16, evaluation | 116 / 6 | 114 / 5 | 110 / 5 | 98 / 4 | 71 / 2 | 50 / 2 | 177 | 181 | 2.87, 9.6 |
| 16, training | 233 / 2 | 227 / 2 | 214 / 1 | 194 / 0 | 135 / 0 | 103 / 0 | 321 | 335 | 1.99, 7.4 |
| 16, ARC-AGI-2, new | 20 / 2 | 18 / 2 | 14 / 1 | 11 / 0 | 5 / 0 | 1 / 0 | 57 | 68 | 3.93, 10.6 |
| 16, ARC-AGI-2 evaluation | 1 / 0 | 1 / 0 | 1 / 0 | 1 / 0 | 1 / 0 | 0 / 0 | 4 | 4 | 4.43, 12.4 |
| 15, evaluation | 117 / 6 | 114 / 5 | 110 / 5 | 98 / 3 | 70 / 2 | 48 / 2 | 175 | 179 | 2.68, 8.6 |
| 15, training | 231 / 2 | 224 / 2 | 214 / 1 | 192 / 0 | 136 / 0 | 98 / 0 | 317 | 331 | 1.73, 6.2 |
| 14, evaluation | 117 / 6 | 114 / 5 | 109 / 5 | 93 / 2 | 56 / 2 | 35 / 2 | 169 | 173 | 2.85, 9.4 |
| 14, training | 228 / 3 | 224 / 2 | 207 / 2 | 183 / 0 | 109 / 0 | 69 / 0 | 304 | 323 | 1.83, 6.5 |
| 14, ARC-AGI-2, new | 18 / 2 | 16 / 2 | 13 / 2 | 7 / 1 | 3 / 0 | 1 / 0 | 46 | 55 | 3.78, 9.7 |
| 13, evaluation | 117 / 7 | 113 / 6 | 109 / 5 | 97 / 3 | 66 / 2 | 45 / 2 | 169 | 174 | 4.93, 20.0 |
| 13, training | 228 / 2 | 227 / 1 | 211 / 1 | 181 / 0 | 126 / 0 | 81 / 0 | 301 | 315 | 2.25, 10.4 |
| 12, evaluation | 117 / 6 | 114 / 5 | 107 / 5 | 96 / 2 | 67 / 2 | 47 / 2 | 159 | 168 | 3.75, 14.7 |
| 12, training | 225 / 2 | 223 / 1 | 211 / 1 | 178 / 0 | 118 / 0 | 82 / 0 | 284 | 300 | 2.22, 10.3 |
| 12, ARC-AGI-2, new | 18 / 2 | 17 / 2 | 14 / 1 | 9 / 1 | 3 / 0 | 2 / 0 | 43 | 52 | 5.07, 15.9 |
| 11, evaluation | 111 / 5 | 108 / 5 | 100 / 4 | 87 / 2 | 60 / 2 | 37 / 2 | 154 | 161 | 4.30, 16.3 |
| 11, training | 209 / 3 | 205 / 3 | 195 / 2 | 161 / 0 | 104 / 0 | 60 / 0 | 265 | 281 | 2.41, 10.9 |
| 11, ARC-AGI-2, new | 14 / 2 | 14 / 2 | 11 / 1 | 7 / 1 | 2 / 0 | 1 / 0 | 29 | 38 | 6.03, 16.5 |
| 10, evaluation | 105 / 5 | 104 / 4 | 97 / 3 | 84 / 3 | 52 / 2 | 30 / 2 | 145 | 152 | 3.29, 10.0 |
| 10, training | 207 / 2 | 202 / 1 | 185 / 1 | 158 / 0 | 93 / 0 | 51 / 0 | 260 | 276 | 1.90, 7.8 |
| 10, ARC-AGI-2, new | 8 / 0 | 6 / 0 | 6 / 0 | 4 / 0 | 2 / 0 | 0 / 0 | 18 | 23 | 3.35, 9.0 |
| 9, evaluation | 89 / 4 | 84 / 4 | 78 / 4 | 63 / 2 | 43 / 1 | 27 / 0 | 145 | 152 | 2.42, 6.9 |
| 9, training | 187 / 0 | 176 / 0 | 165 / 0 | 131 / 0 | 98 / 0 | 58 / 0 | 260 | 276 | 1.50 |
| 8, evaluation | 102 / 9 | | 97 / 8 | 90 / 6 | 85 / 4 | 85 / 3 | 145 | 155 | 4.54, 18.7 |
| 8, training | 203 / 1 | | 198 / 1 | 186 / 0 | 173 / 0 | 155 / 0 | 261 | 276 | 2.67, 14.5 |
| price in bits, evaluation | 101 / 4 | | | | | | 149 | 157 | 3.05 |
| price in bits, ARC-AGI-2 evaluation | 1 / 0 | | | | | | 3 | 3 | 4.89 |

What each version added:

- 10: the search of version 9, with another judgement of answers
- 11: tables over objects; the search on a black background
- 12: richer tables; programs for the parts of a grid
- 13: lists that read what actions make of objects; black areas as objects; the order of guesses
- 14: charts; lines that bounce; tables for outputs of another size; a work limit for large puzzles
- 15: arrangements of objects; rows that continue; a confidence and an order of guesses that weigh
  all programs with the same outputs together
- 16: objects placed into frames; objects completed to symmetric ones; two tables in sequence
- 17: overviews of objects; colours passed on in an order; blocks drawn by a key; lines around
  obstacles; 35 operators fewer
- 18: puzzles on a coloured background exchanged with black; the missing directions of actions and
  layouts; relations between objects in choices; a search that continues behind programs of more
  than 40 bits
- 19: crops at a mark or the middle; repetition by a count; sorting; counts drawn as bars; rows of
  equal objects that continue; rows and blocks compared with others
- 20: guesses by programs that fit all training pairs but one, if nothing fits them all

The default of each version was fixed before it was run on evaluation. Version 16 was run on
evaluation again after its confidence had been capped where two pairs have the same output: 98 / 4
at 0.95, pass@1 177, pass@2 182. Side by side on two cores version 18 takes 1.17 times as long as
version 17 (40 training tasks). CPU seconds on the 16 cores vary from day to day: on the day of
version 18, version 17 took 1.70 s a training task there instead of 1.53. Version 18 was run on
ARC-AGI-2 training, new, on two cores. Version 20 was run on two cores of a faster machine, where
version 19 took 0.86 CPU s a training task and 1.96 a new one of ARC-AGI-2.

"""
NAMES = {
    "splits": "splits", "confidence": "confidence", "ranking": "the order of guesses",
    "mechanisms": "mechanisms", "start": "the start", "ablation": "parts left out",
    "budgets": "budgets", "symmetries": "symmetries", "transfer": "concepts",
    "scaling": "two workers", "workers": "workers", "concepts": "concept puzzles",
}  # fmt: skip
"""Names of the parts in the sentence on their versions."""
OLDER_COUNT = """\
These runs were counted before each test had attempts of its own: pass@2 has only tasks for which
one guess is right on all tests, so counting again can only raise it.

"""
SPLITS = ("evaluation", "training", "ARC-AGI-2 evaluation", "ARC-AGI-2 training, new")
"""The splits, in the order of the tables."""
AIMS = {"right": 95, "precision": 0.97, "cpu_s_per_task": 3.0, "cpu_s_of_slowest": 10.0}
"""Targets on evaluation at the default confidence: two minimums, then two maximums."""
AIM_WORDS = {
    "right": "right answers", "precision": "precision", "cpu_s_per_task": "CPU s per task",
    "cpu_s_of_slowest": "CPU s of the slowest",
}  # fmt: skip


def render(body: Figures) -> str:
    """Return the page."""
    found = [section(body[part]) for part, section in SECTIONS.items() if part in body]
    return f"# weft arc in figures\n\n{_versions(body)}\n" + "\n".join(found)


def _versions(body: Figures) -> str:
    """State which version each part was measured with."""
    by_version: dict[int, list[str]] = {}
    for part, name in NAMES.items():
        by_version.setdefault(body.get(part, {}).get("version", 0), []).append(name)
    clauses = [
        f"with version {version}: {', '.join(by_version[version])}"
        for version in sorted(by_version, reverse=True)
        if version
    ]
    clauses += ["all else with earlier versions"] if by_version.get(0) else []
    return f"Measured {'; '.join(clauses)}.\n"


def _table(first: str, runs: Mapping[str, Figures]) -> str:
    head = " | ".join((first, *HEADS))
    rows = [f"| {name} | {_row(run)} |" for name, run in runs.items()]
    return "\n".join([f"| {head} |", "|---" * (len(HEADS) + 1) + "|", *rows]) + "\n"


def _row(run: Figures) -> str:
    return (
        f"{run['answered']} | {run['right']} | {run['wrong']} | {run['unknown']}"
        f" | {_percent(run['precision'])} | {run['top1']} | {run['top2']}"
        f" | {run['cpu_s_per_task']:.2f} | {_seconds(run)}"
        f" | {run['states_per_s']:,} | {run['memory_mb'] or ''}"
    )


def _seconds(run: Figures) -> str:
    """Return the CPU seconds of the slowest twentieth; empty for older runs."""
    slowest_s = run.get("cpu_s_of_slowest")
    return "" if slowest_s is None else f"{slowest_s:.1f}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _splits(part: Figures) -> str:
    runs = {name: part["runs"][name] for name in SPLITS if name in part["runs"]}
    data = "; ".join(run["data"] for run in runs.values())
    return f"""\
`python -m benchmarks arc --parts splits`, default budget, on {part["machine"]}.
Data: {data}.

Operators, costs and the confidence rule were designed and tuned on the training split and the new
tasks of ARC-AGI-2 training; for evaluation splits only these totals were ever seen. `answered`
counts SOLVED tasks; `pass@1` and `pass@2` also count guesses for UNKNOWN tasks: a task counts if
the outputs for all its tests are right, each within so many attempts. States are single grids; MB
is the largest process.

{_table("split", runs)}
{_outputs(runs)}{_halves(part["halves"])}
{_confidences(runs)}{EARLIER}{_aims(runs["evaluation"])}\
Why training tasks are UNKNOWN: {_counted(runs["training"]["failures"])}.

| figure, training | measured | target |
|---|---|---|
| single-grid states per second per core | {runs["training"]["states_per_s"]:,} | 250,000 |
| programs per second per core | {runs["training"]["programs_per_s"]:,} | |
| share of applicable operations that were pruned | {runs["training"]["pruned_share"]:.0%} | |
| results that had been reached before | {runs["training"]["repeated_share"]:.0%} | |
| expansions found in the cache | {runs["training"]["cache_hit_share"]:.1%} | |
| balance of slices (mean / longest) | {_percent(runs["training"]["slice_balance"])} | |

{arcpublished.section(part.get("version"), runs)}"""


def _outputs(runs: Mapping[str, Figures]) -> str:
    """Return the counts of single outputs, or how runs without them counted tasks."""
    if any("outputs" not in run for run in runs.values()):
        return OLDER_COUNT
    counts = [f"{name} {run['outputs_top2']} of {run['outputs']}" for name, run in runs.items()]
    return f"Outputs right within two attempts: {'; '.join(counts)}.\n\n"


def _halves(halves: list[Figures]) -> str:
    clauses = [
        f"half {i}: {half['right']} right, {half['wrong']} wrong of {half['tasks']} tasks,"
        f" pass@2 {half['top2']}"
        for i, half in enumerate(halves)
    ]
    return f"Training by halves (parity of the task's digest): {'; '.join(clauses)}.\n"


def _confidences(runs: Mapping[str, Figures]) -> str:
    """Return the table of counts at other confidences; empty unless all runs have them."""
    if any("confidences" not in run for run in runs.values()):
        return ""
    asked = sorted(runs["training"]["confidences"], key=float)
    head = [f"| split | {' | '.join(asked)} |", "|---" * (len(asked) + 1) + "|"]
    lines = ["With other `--min-confidence`, right / wrong:", "", *head]
    for name, run in runs.items():
        counts = [run["confidences"][least] for least in asked]
        cells = [f"{count['right']} / {count['wrong']}" for count in counts]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n\n"


def _aims(run: Figures) -> str:
    """State which targets on evaluation are met."""
    least = ("right", "precision")
    missed = [
        AIM_WORDS[name]
        for name, aim in AIMS.items()
        if name in run and (run[name] < aim if name in least else run[name] > aim)
    ]
    met = "All are met." if not missed else f"Missed: {', '.join(missed)}."
    return f"""\
Targets on evaluation: at least 97% of answers right, at least 95 right answers, at most 3 CPU s
per task and 10 for the slowest 5 %. {met}

"""


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in counts.items())


def _ablation(part: Figures) -> str:
    runs = part["runs"]
    named = {name if name == "nothing" else f"{name}: {PARTS[name]}": runs[name] for name in runs}
    return f"""\
## What each part is worth

{_tasks(part)}, `--without` one part at a time, on {part["machine"]}.

{_table("left out", named)}"""


def _budgets(part: Figures) -> str:
    named = {f"{int(name):,}": run for name, run in sorted(part["runs"].items(), key=_programs)}
    return f"""\
## Solved tasks against the budget

{_tasks(part)}, on {part["machine"]}.

![Training tasks solved by budget](../images/arc-budget.svg)

{_table("programs per task", named)}"""


def _tasks(part: Figures) -> str:
    """State which tasks a part was measured on."""
    number = next(iter(part["runs"].values()))["tasks"]
    every = part.get("every", 1)
    return "Training split" if every == 1 else f"{number} training tasks, 1 in {every} by digest"


def _programs(item: tuple[str, Figures]) -> int:
    return int(item[0])


def _transfer(part: Figures) -> str:
    runs = {}
    for half, found in enumerate(part["halves"]):
        learned = f"{found['concepts']} concepts of half {half}"
        runs[f"half {1 - half}, no bank"] = found["without"]
        runs[f"half {1 - half}, {learned}"] = found["with"]
    gains = [found["with"]["top2"] - found["without"]["top2"] for found in part["halves"]]
    right = [found["with"]["right"] - found["without"]["right"] for found in part["halves"]]
    helps = min(gains) > 0 and min(right) >= 0
    verdict = (
        "Concepts help on both halves."
        if helps
        else "Concepts do not help on both halves, so no bank ships with Weft."
    )
    return f"""\
## Concepts learned on one half, used on the other

Training split, equal budgets, on {part["machine"]}. {verdict}

{_table("measured on", runs)}"""


def _scaling(part: Figures) -> str:
    return f"""\
## Workers

On {part["machine"]}: 1 and 2 workers in turn, start-up and shutdown included. The ledgers
of the compared runs were identical.

| figure | measured | target |
|---|---|---|
| 50 tasks, 2 workers over 1 | {part["fifty"]["speed_up"]:.2f} × | 1.85 × |
| one hard task alone, 2 workers over 1 | {part["hard"]["speed_up"]:.2f} × | 1.6 × |
"""


def _workers(part: Figures) -> str:
    return f"""\
## Workers on few hard puzzles

`python -m benchmarks arc --parts workers`, on {part["machine"]}. Start-up and shutdown are
included; the ledgers were identical. Targets: at least 8 × as fast with 16 workers as with 1, and
at least 1.8 × with 2.

{_hard(part)}{_chains(part)}{_busy(part)}{_compiled(part)}"""


RULE = "The five of the 633 training puzzles that took the most CPU time with version 14"


def _hard(part: Figures) -> str:
    """Return the table of the hard puzzles; empty if they were not measured."""
    if "hard" not in part:
        return ""
    rows = [
        f"| {workers} | {seconds:.1f} s | {speed_up} |"
        for workers, seconds, speed_up in arcworkers.rows(part["hard"])
    ]
    return f"""\
{RULE}: {", ".join(part["hard"]["puzzles"])}.

| workers | wall clock | speed-up |
|---|---|---|
{chr(10).join(rows)}

"""


def _chains(part: Figures) -> str:
    return arcchains.section(part["chains"]) if "chains" in part else ""


def _busy(part: Figures) -> str:
    """State how busy a larger set keeps the workers; empty if it was not measured."""
    if "busy" not in part:
        return ""
    busy = part["busy"]
    return f"""\
{busy["puzzles"]} training puzzles with {busy["workers"]} workers: {busy["wall_s"]:.1f} s from the
start of the first task to the end of the last one,
{busy["busy"]:.1f} of {busy["workers"]} workers busy on average (target: 14 of 16),
{busy["cpu_s_per_task"]:.2f} s of work per puzzle,
{busy["slowest_s"]:.1f} s for the slowest 5 % (targets: 3 and 10, on evaluation).
"""


def _compiled(part: Figures) -> str:
    """State how long compiling the kernels takes; empty if it was not measured."""
    if "compile_s" not in part:
        return ""
    return f"""\
Kernels compiled in {part["compile_s"]:.0f} s of wall clock, {part["compile_cpu_s"]:.0f} CPU s
(target: 30 s on two cores).
"""


def _start(part: Figures) -> str:
    return f"""\
From the start of a process, with compiled kernels, to the end of its first search:
{part["warm_start_s"]:.2f} s (target: 1 s), on
{part["machine"]}.
"""


SECTIONS: dict[str, Callable[[Figures], str]] = {
    "splits": _splits,
    "confidence": arcreliability.section,
    "ranking": arcmechanisms.ranking,
    "mechanisms": arcmechanisms.mechanisms,
    "concepts": arcconcepts.section,
    "start": _start,
    "ablation": _ablation,
    "budgets": _budgets,
    "symmetries": arcsymmetries.section,
    "transfer": _transfer,
    "scaling": _scaling,
    "workers": _workers,
}
"""The sections, in the order of the page."""
