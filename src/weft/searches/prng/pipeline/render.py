"""Output of `weft prng pipeline`: a headline at each step and a summary at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from weft.console import render
from weft.console.nodeplan import place_of, spread
from weft.inspect.report.text import counted
from weft.inspect.report.view import RunView
from weft.model.codec import from_json
from weft.model.slots import Deal, Node, slots_of
from weft.model.tasks import Milestone
from weft.runs.execution import Execution
from weft.runs.outcome import Run
from weft.searches.prng.pipeline.run import export, write_predictions
from weft.searches.prng.pipeline.search import NAME
from weft.searches.prng.pipeline.steps import TITLES
from weft.searches.prng.pipeline.summary import end_line, steps_of
from weft.searches.prng.pipeline.verdict import Power
from weft.searches.prng.pipeline.vote import StreamPrediction


def headline(execution: Execution) -> Callable[[Milestone], None]:
    """Return a function that announces each started step and, with nodes, the task placement."""

    def say(milestone: Milestone) -> None:
        if milestone.name == execution.pause_at:
            return
        tasks = counted(milestone.tasks, "task")
        render.message(f"step {milestone.name}  {TITLES[milestone.name]}, about {tasks}")
        for line in _plan_lines(execution.nodes, execution.placement, milestone):
            render.message(f"  {line}")

    return say


def _plan_lines(nodes: Sequence[Node], placement: str, milestone: Milestone) -> list[str]:
    """Describe where a step's tasks will run; every round is dealt separately."""
    if not nodes:
        return []
    slots = slots_of(nodes)
    if placement != "static":
        cpus = sum(slot.gpu is None for slot in slots)
        words = "greedy: the next to the first free slot"
        tasks, slots_here = counted(milestone.tasks, "task"), counted(cpus, "CPU slot")
        return [f"PARALLEL: {tasks} for {slots_here} | {words}"]
    deal = Deal.of(slots, gpu=False)
    dealt = [deal.slot(ordinal, size) for size in milestone.rounds for ordinal in range(size)]
    places = [place_of(slots[number]) for number in dealt if number is not None]
    plans = spread(places, nodes)
    return [plan.line() for plan in plans]


def finish(out: Path, done: Run | None, *, json_export: bool, as_json: bool) -> None:
    """Write the files of a finished or paused run, and print its summary."""
    view = RunView(out, NAME)
    steps = steps_of(view)
    predictions = None if done is None else write_predictions(done)
    written = [] if predictions is None else [predictions]
    if json_export and steps[2].done:
        written += export(out)
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
        render.out(f"PAUSED  continue with: {render.command('resume', out)}")
        return
    render.show_end(done)
    render.out(end_line(view))


def _show_streams(done: Run | None) -> None:
    if done is None or done.status != "answered":
        return
    for raw in done.answer["streams"]:
        prediction = from_json(StreamPrediction, raw)
        name = f"stream {prediction.stream}" if prediction.stream else "draws"
        hypothesis = prediction.hypothesis
        render.out(
            f"{name}: {hypothesis.family} seed {hypothesis.seed}, skip"
            f" {hypothesis.skips.between[0]}, since draw {prediction.first_draw + 1}"
        )
        render.out(f"  next    {' '.join(str(number) for number in prediction.next)}")
        hits = [f"{h.hits}/{h.draws} in {h.k}" for h in prediction.hit_at]
        render.out(f"  holdout {', '.join(hits)}")


def _show_power(done: Run | None) -> None:
    """Without a signal, print what would have been found and what was not covered."""
    if done is None or done.status == "answered" or not isinstance(done.answer.detail, dict):
        return
    power = from_json(Power, done.answer.detail["power"])
    render.out(f"searched {power.searched}: {power.tried:,} hypotheses")
    render.out(f"would have been found: {power.would_be_found}")
    render.out(f"not covered: {power.not_covered}")


def _writes(stream: TextIO) -> bool:
    """Whether a stream can encode the signs for success and failure."""
    return (getattr(stream, "encoding", None) or "").lower().replace("-", "") == "utf8"
