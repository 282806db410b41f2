"""Print and draw the output of the `weft arc` commands; decides nothing."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from weft.console import render
from weft.console.execution import OutputOptions
from weft.errors import InputError, UsageError
from weft.inspect.report.text import counted
from weft.inspect.report.view import RunView
from weft.model.codec import to_json
from weft.runs.outcome import Run
from weft.searches.arc.bank import Bank
from weft.searches.arc.check import CheckedProgram
from weft.searches.arc.learn import Learned
from weft.searches.arc.recorded import ArcRun, Recorded
from weft.searches.arc.records import AnswerRecord
from weft.searches.arc.runview import to_dict
from weft.searches.arc.score import BenchScore
from weft.searches.arc.telemetry import SearchTelemetry, telemetry
from weft.searches.arc.views import terminal
from weft.searches.arc.views.model import TaskView
from weft.searches.arc.views.png import task_png
from weft.searches.arc.views.svg import task_svg

# -- solve and bench --------------------------------------------------------------------------


def show_solved(done: Run, run: ArcRun, *, as_json: bool) -> None:
    """Print the result of each task, or only the totals of a sealed run."""
    if as_json:
        spent = _telemetry(done, run).to_dict()
        render.print_json({**done.to_dict(), "telemetry": spent, **_results(run)})
        return
    _show_results(run)
    render.show_end(done)


def show_bench(
    done: Run, run: ArcRun, source: str, score: BenchScore, output: OutputOptions, *, reveal: bool
) -> None:
    """Print the score of a run whose true outputs are known, and what it cost."""
    spent = _telemetry(done, run)
    if output.as_json:
        body = {"data": source, "score": score.to_dict(), "telemetry": spent.to_dict()}
        render.print_json({**done.to_dict(), **body, **_results(run, reveal=reveal)})
        return
    if output.verbose:
        _show_results(run, reveal=reveal)
    render.out(f"data      {source}")
    _show_score(score)
    _show_cost(spent.cost.rates())
    render.show_end(done)


def _telemetry(done: Run, run: ArcRun) -> SearchTelemetry:
    return telemetry(len(run.items), RunView(done.out, done.search).tasks())


def _results(run: ArcRun, *, reveal: bool = False) -> dict[str, object]:
    """Return the answer of every task, or only the totals of a sealed run."""
    if run.sealed and not reveal:
        return {"outcomes": run.outcomes()}
    return {"outcomes": run.outcomes(), "results": [_result(item) for item in run.items]}


def _result(item: Recorded) -> dict[str, object]:
    return {"name": item.task.name, "digest": item.task.digest, **(item.answer or {})}


def _show_results(run: ArcRun, *, reveal: bool = False) -> None:
    if run.sealed and not reveal:
        for name, count in run.outcomes().items():
            render.out(f"{name:24}{count}")
        return
    for item in run.items:
        render.out(f"{item.task.name:12}{item.outcome:22}{_evidence(item.answer)}")


def _evidence(answer: AnswerRecord | None) -> str:
    if answer is None:
        return ""
    if answer["outcome"] == "SOLVED":
        best = answer["groups"][0]
        lines = best["programs"][0].strip().splitlines()
        return f"{_sure(answer)}{best['millibits'] / 1000:.0f} bits  {'; '.join(lines)}"
    failure = answer.get("failure")
    return "" if failure is None else f"{_sure(answer)}{failure['class']}: {failure['why']}"


def _sure(answer: AnswerRecord) -> str:
    permille = answer.get("confidence_permille")
    return "" if permille is None else f"{permille / 1000:.3f}  "


def _show_score(score: BenchScore) -> None:
    precision = "" if score.precision is None else f"  precision {score.precision:.1%}"
    render.out(
        f"answered {score.answered}  right {score.right}  wrong {score.wrong}"
        f"  unknown {score.unknown}  of {score.tasks}{precision}"
    )
    render.out(f"top-1     {score.top1}   top-2  {score.top2}")
    render.out(f"outputs   {score.outputs_top2} of {score.outputs} right within two attempts")
    for floor, counts in score.confidences.items():
        render.out(f"  --min-confidence {floor:6} right {counts['right']}  wrong {counts['wrong']}")
    for name, count in (*score.outcomes.items(), *score.failures.items()):
        render.out(f"  {name:24}{count}")


def _show_cost(cost: Mapping[str, float]) -> None:
    render.out(
        f"cost      {cost['cpu_s_per_task']:.2f} CPU s per task,"
        f" {cost['cpu_s_of_slowest']:.2f} of the slowest twentieth; {cost['programs_per_s']:,}"
        f" programs/s, {cost['states_per_s']:,} states/s; pruned {cost['pruned_share']:.0%},"
        f" repeated {cost['repeated_share']:.0%}, cache hits {cost['cache_hit_share']:.0%}"
    )


# -- show -------------------------------------------------------------------------------------


def draw(views: Sequence[TaskView], *, steps: bool) -> None:
    """Draw tasks in the terminal."""
    console = render.console(sys.stdout)
    for i, view in enumerate(views):
        if i:
            console.print()
        terminal.show(view, console, steps=steps)


def print_views(views: Sequence[TaskView], *, is_run: bool) -> None:
    """Print the tasks of a run, or a single task from elsewhere, as JSON."""
    bodies = [to_dict(view) for view in views]
    render.print_json({"tasks": bodies} if is_run else bodies[0])


def write_pictures(views: Sequence[TaskView], svg: Path | None, png: Path | None) -> None:
    """Write the requested pictures of one task; raises `UsageError` if there are several tasks."""
    if svg is None and png is None:
        return
    if len(views) != 1:
        raise UsageError(f"a picture shows one task, not {len(views)}", hint="name one: RUN TASK")
    if svg is not None:
        svg.write_text(task_svg(views[0]), "utf-8")
    if png is not None:
        png.write_bytes(task_png(views[0]))


def show_totals(run: ArcRun, *, as_json: bool, asked_more: bool) -> None:
    """Print the totals of a sealed run; raises `InputError` if more was asked for."""
    if asked_more:
        raise InputError(
            f"{run.path} is a bench on evaluation tasks: only its totals are shown",
            hint="--reveal shows them; what is learned from that can no longer be measured on them",
        )
    if as_json:
        render.print_json({"sealed": True, "outcomes": run.outcomes()})
        return
    render.out(
        f"{len(run.items)} evaluation tasks; only totals are shown, unless --reveal is given"
    )
    for name, count in run.outcomes().items():
        render.out(f"  {name:24}{count}")


def show_bank(bank: Bank, *, as_json: bool) -> None:
    """List the concepts of a bank."""
    if as_json:
        render.print_json({"digest": bank.digest(), **to_json(bank)})
        return
    for concept in bank.concepts:
        tasks = counted(len(concept.tasks), "task")
        render.out(f"{concept.name}  {concept.millibits / 1000:.1f} bits, from {tasks}")
        for name in concept.concepts:
            render.out(f"    contains {name}")
    render.out(f"{counted(len(bank.concepts), 'concept')}, digest {bank.digest()}")


# -- check and learn --------------------------------------------------------------------------


def show_checks(checks: Sequence[CheckedProgram], *, as_json: bool) -> None:
    """Print the programs that do not match their claims, and how many do."""
    wrong = [item for item in checks if not item.exact]
    exact = len(checks) - len(wrong)
    if as_json:
        names = [item.name for item in wrong]
        render.print_json({"checked": len(checks), "exact": exact, "wrong": names})
        return
    for item in wrong:
        same = "" if item.outputs_same else ", and other test outputs than recorded"
        counts = f"{item.train_right} of {item.train} pairs{same}"
        render.out(f"WRONG   {item.name}: {item.problem or counts}")
    render.out(f"checked {counted(len(checks), 'program')}, {exact} exact")


def show_learned(learned: Learned, path: Path, *, as_json: bool) -> None:
    """Print the learned concepts, what they save, and where they were written."""
    if as_json:
        render.print_json({"bank": str(path), "digest": learned.bank.digest(), **learned.to_dict()})
        return
    for concept in learned.bank.concepts:
        uses = f"used by {len(concept.tasks)} of {counted(learned.programs, 'program')}"
        render.out(f"{concept.name}  {concept.millibits / 1000:.1f} bits, {uses}")
    render.out(
        f"{counted(len(learned.bank.concepts), 'concept')}; {counted(learned.candidates, 'chain')}"
        f" repeated, {learned.recombined} joined of parts,"
        f" {learned.simplified} dropped for shorter ones that do the same"
    )
    before, after = learned.before_millibits / 1000, learned.after_millibits / 1000
    programs = counted(learned.programs, "program")
    render.out(f"description of {programs}: {before:.1f} → {after:.1f} bits")
    render.out(f"bank    {path}  {learned.bank.digest()}")
