"""`weft arc solve` and `bench`: search programs for tasks. Parses, calls one function, renders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.console import options, render
from weft.console.groups import with_groups
from weft.console.progress import resumable, watching
from weft.errors import FileInvalid, InputError
from weft.searches.arc import clilook as arclook
from weft.searches.arc import options as arcoptions

if TYPE_CHECKING:
    from weft.runs.outcome import Run
    from weft.searches.arc.data import TaskSet
    from weft.searches.arc.recorded import ArcRun
    from weft.searches.arc.telemetry import SearchTelemetry

app = typer.Typer(
    name="arc",
    help="Program search for ARC-AGI puzzles: explainable, reproducible, UNKNOWN when in doubt.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
@with_groups
def solve(
    search: arcoptions.SearchOptions,
    execution: arcoptions.ExecutionOptions,
    attempts: arcoptions.Attempts = 2,
    submission: arcoptions.Submission = None,
) -> None:
    """Search programs for tasks; answer only where the evidence is sound.

    Exit code 0 when at least one task is SOLVED, 1 when none is.
    """
    chosen = arcoptions.choose(search.data, search.split, search.tasks, search.limit)
    if submission is not None and not submission.parent.is_dir():
        raise FileInvalid(f"--submission {submission}: there is no folder {submission.parent}")
    done = _run(chosen, search, execution, sealed=False)
    run = _read(done)
    if submission is not None:
        _write_submission(run, chosen, submission, attempts)
    if execution.as_json:
        more = {"telemetry": _telemetry(run, done).to_dict(), **_results(run)}
        render.print_json({**done.to_dict(), **more})
    else:
        _show_results(run)
        render.show_end(done)
    raise typer.Exit(done.exit_code)


@app.command()
@with_groups
def bench(
    search: arcoptions.SearchOptions,
    execution: arcoptions.ExecutionOptions,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="List evaluation tasks one by one, too.")
    ] = False,
) -> None:
    """Solve tasks whose outputs are known, and count: answered, right, wrong, unknown.

    Of evaluation tasks only totals are shown, unless --reveal is given.
    """
    from weft.searches.arc.score import score  # noqa: PLC0415 - slow to import

    chosen = arcoptions.choose(search.data, search.split, search.tasks, search.limit)
    if any(not task.truth for task in chosen.tasks):
        raise InputError(f"{chosen.source}: some tasks have no known output; bench needs them")
    done = _run(chosen, search, execution, sealed=not reveal)
    run = _read(done)
    bench_score = score(run, {task.digest: task for task in chosen.tasks})
    spent = _telemetry(run, done).to_dict()
    body = {"data": chosen.source, "score": bench_score.to_dict(), "telemetry": spent}
    if execution.as_json:
        per_task = _results(run, reveal=reveal)
        render.print_json({**done.to_dict(), **body, **per_task})
        return
    if execution.verbose:
        _show_results(run, reveal=reveal)
    _show_score(body)
    render.show_end(done)


for _command in (arclook.show, arclook.check, arclook.learn):
    app.command()(_command)


# -- doing ----------------------------------------------------------------------------------


def _run(
    tasks: TaskSet,
    search: arcoptions.SearchOptions,
    execution: arcoptions.ExecutionOptions,
    *,
    sealed: bool,
) -> Run:
    """Turn options into settings, compile what is missing, and run.

    With `sealed`, evaluation tasks get no view of their own, now or later.
    """
    options.check_seconds("--wall-limit", execution.wall_limit)

    from weft.searches.arc.bank import Bank  # noqa: PLC0415 - slow to import
    from weft.searches.arc.compile import compile_kernels  # noqa: PLC0415
    from weft.searches.arc.request import ArcSettings  # noqa: PLC0415
    from weft.searches.arc.request import solve as execute  # noqa: PLC0415
    from weft.searches.arc.synthesis.ablation import parse_without  # noqa: PLC0415
    from weft.searches.arc.synthesis.budget import SearchBudget  # noqa: PLC0415

    budget = SearchBudget(
        max_programs=search.max_programs,
        max_depth=search.max_depth,
        max_states=search.max_states,
        competitor_programs=search.competitor_programs,
        max_millibits=1000 * search.max_bits,
        stop_on_first=search.stop_on_first,
    )
    no_prune = [rule for rule in search.no_prune.split(",") if rule]
    bank = None if search.bank is None else Bank.read(search.bank)
    settings = ArcSettings(
        budget, search.seed, no_prune, search.margin_bits, bank,
        without=parse_without(search.without),
    )  # fmt: skip
    settings.options()
    how = {
        "out": execution.out,
        "workers": execution.workers,
        "backend": execution.backend or "local",
        "nodes": options.read_nodes(
            execution.nodes, simulate=execution.simulate_nodes, backend=execution.backend
        ),
        "ray_address": options.ray_address(
            execution.backend, execution.ray_address, execution.nodes
        ),
        "placement": execution.placement or "greedy",
        "accept": execution.accept,
        "wall_limit_s": execution.wall_limit,
        "sign_key": execution.sign_key,
        "tags": _tags(tasks, search.split, sealed=sealed),
    }
    if not execution.quiet:
        render.message(f"{len(tasks)} tasks of {tasks.source}")
    compile_kernels(render.message)
    with watching(execution.quiet, execution.verbose) as watcher, resumable(execution.out):
        return execute(tasks, settings, {**how, "watcher": watcher})


def _tags(tasks: TaskSet, split: str | None, *, sealed: bool) -> list[str]:
    from weft.searches.arc.heldout import EVALUATION, held_out  # noqa: PLC0415 - slow to import
    from weft.storage.folder import SEALED_VIEWS  # noqa: PLC0415

    if split != EVALUATION and not held_out(tasks.tasks):
        return []
    return [EVALUATION, SEALED_VIEWS] if sealed else [EVALUATION]


def _read(done: Run) -> ArcRun:
    from weft.searches.arc.recorded import read_run  # noqa: PLC0415

    return read_run(done.out)


def _telemetry(run: ArcRun, done: Run) -> SearchTelemetry:
    from weft.inspect.report.view import RunView  # noqa: PLC0415
    from weft.searches.arc.telemetry import telemetry  # noqa: PLC0415

    return telemetry(len(run.items), RunView(done.out, done.search).tasks())


def _write_submission(run: ArcRun, tasks: TaskSet, path: Path, attempts: int) -> None:
    from weft.searches.arc.submission import write  # noqa: PLC0415
    from weft.searches.arc.values import Grid  # noqa: PLC0415

    answer_of = {item.task.digest: item.answer for item in run.items}
    answers: dict[str, list[list[Grid]]] = {}
    for task in tasks.tasks:
        groups = (answer_of[task.digest] or {"groups": []})["groups"][:attempts]
        guesses = [[Grid.of(rows) for rows in group["outputs"]] for group in groups]
        answers[task.name] = [[guess[i] for guess in guesses] for i in range(len(task.test))]
    path.write_bytes(write(tasks.tasks, answers))


# -- saying ---------------------------------------------------------------------------------


def _results(run: ArcRun, *, reveal: bool = False) -> dict[str, Any]:
    """Return the answer of every task, or of a sealed run the totals."""
    if run.sealed and not reveal:
        return {"outcomes": run.outcomes()}
    each = [
        {"name": item.task.name, "digest": item.task.digest, **(item.answer or {})}
        for item in run.items
    ]
    return {"outcomes": run.outcomes(), "results": each}


def _show_results(run: ArcRun, *, reveal: bool = False) -> None:
    if run.sealed and not reveal:
        for name, count in run.outcomes().items():
            render.out(f"{name:24}{count}")
        return
    for item in run.items:
        render.out(f"{item.task.name:12}{item.outcome:22}{_evidence(item.answer)}")


def _evidence(answer: Any) -> str:
    if not answer:
        return ""
    if answer["outcome"] == "SOLVED":
        best = answer["groups"][0]
        lines = best["programs"][0].strip().splitlines()
        return f"{best['millibits'] / 1000:.0f} bits  {'; '.join(lines)}"
    failure = answer.get("failure")
    return "" if failure is None else f"{failure['class']}: {failure['why']}"


def _show_score(body: dict[str, Any]) -> None:
    score, cost = body["score"], body["telemetry"]
    render.out(f"data      {body['data']}")
    precision = "" if score["precision"] is None else f"  precision {score['precision']:.1%}"
    render.out(
        f"answered {score['answered']}  right {score['right']}  wrong {score['wrong']}"
        f"  unknown {score['unknown']}  of {score['tasks']}{precision}"
    )
    render.out(f"top-1     {score['top1']}   top-2  {score['top2']}")
    for name, count in score["outcomes"].items():
        render.out(f"  {name:24}{count}")
    for name, count in score["failures"].items():
        render.out(f"  {name:24}{count}")
    render.out(
        f"cost      {cost['cpu_s_per_task']:.2f} CPU s per task, {cost['programs_per_s']:,}"
        f" programs/s, {cost['states_per_s']:,} states/s; pruned {cost['pruned_share']:.0%},"
        f" repeated {cost['repeated_share']:.0%}, cache hits {cost['cache_hit_share']:.0%}"
    )
