"""What `weft prng pipeline` says: each step when it begins, and the summary at the end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.cli import render
from weft.prng.pipeline.steps import TITLES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weft.model.slots import Node
    from weft.model.tasks import Milestone
    from weft.wiring.outcome import Run


def headline(
    nodes: Sequence[Node], placement: str, pause_at: str | None
) -> Callable[[Milestone], None]:
    """Announce a step and, with nodes, where its tasks will run; not one that is not begun."""

    def say(milestone: Milestone) -> None:
        if milestone.name == pause_at:
            return
        render.message(
            f"step {milestone.name}  {TITLES[milestone.name]}, about {milestone.tasks} tasks"
        )
        for line in _plan_lines(nodes, placement, milestone):
            render.message(f"  {line}")

    return say


def _plan_lines(nodes: Sequence[Node], placement: str, milestone: Milestone) -> list[str]:
    """Where a step's tasks go: every round is dealt anew."""
    from weft.jobs.plan import place_of, spread  # noqa: PLC0415 - slow to import
    from weft.model.slots import Deal, slots_of  # noqa: PLC0415

    if not nodes:
        return []
    slots = slots_of(nodes)
    if placement != "static":
        cpus = sum(slot.gpu is None for slot in slots)
        words = "greedy: the next to the first free slot"
        return [f"PARALLEL: {milestone.tasks} tasks for {cpus} CPU slots | {words}"]
    deal = Deal.of(slots, gpu=False)
    dealt = [deal.slot(ordinal, size) for size in milestone.rounds for ordinal in range(size)]
    plans = spread([place_of(slots[number]) for number in dealt if number is not None], nodes)
    return [plan.line() for plan in plans]


def finish(out: Path, done: Run | None, *, json_export: bool, as_json: bool) -> None:
    """Write the files of a run that has come so far, and print its summary."""
    from weft.prng.pipeline.search import NAME  # noqa: PLC0415 - slow to import
    from weft.prng.pipeline.summary import end_line, steps_of  # noqa: PLC0415
    from weft.report.view import RunView  # noqa: PLC0415
    from weft.wiring import prngpipe  # noqa: PLC0415

    view = RunView(out, NAME)
    steps = steps_of(view)
    predictions = None if done is None else prngpipe.write_predictions(done)
    written = [] if predictions is None else [predictions]
    if json_export and steps[2].done:
        written += prngpipe.export(out)
    if as_json:
        head = {"status": "paused", "out": str(out)} if done is None else done.to_dict()
        more = {"steps": [step.to_dict() for step in steps], "files": [str(p) for p in written]}
        render.print_json({**head, **more})
        return
    sign, cross = ("✓", "✗") if _writes(sys.stdout) else ("ok", "--")
    for step in steps:
        render.out(step.line(sign, cross))
    _show_streams(done)
    _show_power(done)
    for path in written:
        render.out(f"{'file':8}{path}")
    if done is None:
        render.out(f"PAUSED  go on with: {render.command('resume', out)}")
        return
    render.show_end(done)
    render.out(end_line(view))


def _show_streams(done: Run | None) -> None:
    if done is None or done.status != "answered":
        return
    for one in done.answer["streams"]:
        name = f"stream {one['stream']}" if one["stream"] else "draws"
        hypothesis = one["hypothesis"]
        render.out(
            f"{name}: {hypothesis['family']} seed {hypothesis['seed']}, skip"
            f" {hypothesis['skips']['between'][0]}, since draw {one['first_draw'] + 1}"
        )
        render.out(f"  next    {' '.join(str(number) for number in one['next'])}")
        hits = [f"{h['hits']}/{h['draws']} in {h['k']}" for h in one["hit_at"]]
        render.out(f"  holdout {', '.join(hits)}")


def _show_power(done: Run | None) -> None:
    """Without a signal: what would have been found, and what was not looked for."""
    if done is None or done.status == "answered" or not isinstance(done.answer.detail, dict):
        return
    power = done.answer.detail["power"]
    render.out(f"searched {power['searched']}: {power['tried']:,} hypotheses")
    render.out(f"would have been found: {power['would_be_found']}")
    render.out(f"not covered: {power['not_covered']}")


def _writes(stream: Any) -> bool:
    return (getattr(stream, "encoding", None) or "").lower().replace("-", "") == "utf8"
