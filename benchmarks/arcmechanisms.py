"""Page sections based on recorded evidence: the order of guesses, the worth of each mechanism."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Figures = Mapping[str, Any]
FEW = 12
"""Maximum number of operators or rules that a sentence names."""


def ranking(part: Figures) -> str:
    """Return the section on the order of guesses."""
    weights = ", ".join(
        f"{name.replace('_', ' ')} {points / 1000:+.2f}" for name, points in part["weights"].items()
    )
    return f"""\
## Order of guesses

`python tools/fit_arc_ranking.py`, on the puzzles of the section before, and on those that no
program explains. Weights fitted on one half of the bases, measured on the other, both ways: first
guesses right / one of two right, by half. `possible`: the right outputs are among all guesses;
`lost`: they are ranked third / fourth / after that, so better ranking could still win these.

| puzzles | number | by cost | ranked | possible | lost |
|---|---|---|---|---|---|
{_kinds(part["kinds"])}
Weights fitted on both halves, in nats (positive: later): {weights}. Kinds of rules, views, numbers
of steps, how many programs agree, the size that most guesses share, how near the other outputs are,
and a second guess of another kind than the first were tried and did not help on both halves.
"""


def _kinds(kinds: Mapping[str, Sequence[Figures]]) -> str:
    whole = [_sum([halves[half] for halves in kinds.values()]) for half in (0, 1)]
    return "".join(_kind(name, halves) for name, halves in {**kinds, "all": whole}.items())


def _sum(parts: Sequence[Figures]) -> Figures:
    lists = {
        key: [sum(column) for column in zip(*(part[key] for part in parts), strict=True)]
        for key in ("cost", "ranked", "later")
    }
    return {**lists, **{key: sum(p[key] for p in parts) for key in ("puzzles", "possible")}}


def _kind(name: str, halves: Sequence[Figures]) -> str:
    counts = " and ".join(str(half["puzzles"]) for half in halves)
    cells = [_slashed(halves, key) for key in ("cost", "ranked")]
    cells.append(", ".join(str(half["possible"]) for half in halves))
    return f"| {name} | {counts} | {' | '.join(cells)} | {_slashed(halves, 'later')} |\n"


def _slashed(halves: Sequence[Figures], key: str) -> str:
    return ", ".join(" / ".join(map(str, half[key])) for half in halves)


def mechanisms(part: Figures) -> str:
    """Return the section on what each mechanism is worth."""
    return """\
## What each mechanism is worth

`python tools/count_arc_mechanisms.py`: all programs of one mechanism left out of the recorded
evidence, the rest judged again. The search is not run again, so what it would find instead does not
count. By halves, at the default confidence; rows that change nothing are left out.

""" + "\n".join(
        _earnings(own) if name == "earnings" else _set(name, own)
        for name, own in part.items()
        if isinstance(own, Mapping)
    )


def _earnings(kinds: Figures) -> str:
    """State how many operators and rules earn something, over both sets."""
    keys = ("number", "needed", "needed_in_both_halves", "used", "recorded", "nothing")
    rows = [
        f"| {kind} | {' | '.join(str(own[key]) for key in keys)} |" for kind, own in kinds.items()
    ]
    return f"""\
What earns something, on both sets together. `needed`: in every right program that was recorded of
a solved task, so that the task has no other explanation; `used`: in a right program of a solved
task beside others without it; `other puzzles`: in right programs of other recorded puzzles alone
(tasks cut, mirrored, recoloured, or searched without half of the operators); `nothing`: in no right
program at all.

| | there are | needed | of these in both halves | used | other puzzles | nothing |
|---|---|---|---|---|---|---|
{chr(10).join(rows)}

{"".join(_most_needed(kind, own["tasks"]) for kind, own in kinds.items())}"""


def _most_needed(kind: str, tasks: Mapping[str, Sequence[int]]) -> str:
    """Name the operators or rules that the most tasks need."""
    most = sorted(tasks, key=lambda name: (-sum(tasks[name]), name))[:FEW]
    named = ", ".join(f"`{name}` {tasks[name][0]} + {tasks[name][1]}" for name in most)
    return f"Most needed {kind}, tasks by half: {named}.\n" if most else ""


def _set(name: str, own: Figures) -> str:
    rows = own["mechanisms"]
    whole = rows["nothing"]
    tasks = sum(half["tasks"] for half in whole)
    lines = [
        f"| {left_out} | {' | '.join(_cells(halves))} |"
        for left_out, halves in rows.items()
        if left_out == "nothing" or halves != whole
    ]
    idle = [f"{name}" for name, halves in rows.items() if name != "nothing" and halves == whole]
    nothing = f"Nothing changes without: {', '.join(idle)}.\n" if idle else ""
    return f"""\
{name}, {tasks} tasks:

| left out | pass@1 | pass@2 | right | wrong |
|---|---|---|---|---|
{chr(10).join(lines)}

{nothing}{_operators(own)}"""


def _cells(halves: Sequence[Figures]) -> Iterator[str]:
    for key in ("pass@1", "pass@2", "right", "wrong"):
        values = [half.get(key, 0) for half in halves]
        yield f"{sum(values)} ({values[0]} + {values[1]})"


def _operators(own: Figures) -> str:
    needed = ", ".join(f"{n}: {count}" for n, count in own["operators_needed"].items())
    unused = own["used_by_no_task"]
    return f"""\
Solved tasks by how many operators their shortest set needs (those in the words of learned rules
count; 0: the rule reads the input alone): {needed}. Of {own["operators"]} operators
{own["needed_by_a_task"]} are in every right program of some task, {own["used_in_both_halves"]} in
right programs of both halves, {len(unused)} in none{_named(unused)}.
"""


def _named(names: Sequence[str]) -> str:
    if not names or len(names) > FEW:
        return ""
    return ": " + ", ".join(f"`{name}`" for name in names)
