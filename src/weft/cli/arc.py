"""`weft arc solve` and `bench`: search programs for tasks. Parses, calls one function, renders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli import arclook, arcoptions, options, render
from weft.cli.progress import watching
from weft.cli.runs import resumable
from weft.errors import FileInvalid, InputError

if TYPE_CHECKING:
    from weft.arc.data import TaskSet
    from weft.arc.recorded import ArcRun
    from weft.arc.telemetry import SearchTelemetry
    from weft.wiring.outcome import Run

app = typer.Typer(
    name="arc",
    help="Program search for ARC-AGI puzzles: explainable, reproducible, UNKNOWN when in doubt.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def solve(
    out: arcoptions.OutBase,
    tasks: arcoptions.Tasks = None,
    data: arcoptions.Data = "arc-agi-1",
    split: arcoptions.Split = None,
    limit: arcoptions.Limit = None,
    max_programs: arcoptions.MaxPrograms = arcoptions.DEFAULT_PROGRAMS,
    max_depth: arcoptions.MaxDepth = arcoptions.DEFAULT_DEPTH,
    max_states: arcoptions.MaxStates = arcoptions.DEFAULT_STATES,
    competitor_programs: arcoptions.Competitors = arcoptions.DEFAULT_COMPETITORS,
    max_bits: arcoptions.MaxBits = arcoptions.DEFAULT_BITS,
    stop_on_first: arcoptions.StopOnFirst = False,
    no_prune: arcoptions.NoPrune = "",
    margin_bits: arcoptions.Margin = None,
    without: arcoptions.Without = "",
    attempts: arcoptions.Attempts = 2,
    bank: arcoptions.BankFile = None,
    seed: options.Seed = 0,
    submission: arcoptions.Submission = None,
    workers: arcoptions.Jobs = None,
    backend: options.Backend = None,
    ray_address: options.RayAddress = None,
    nodes: options.Nodes = None,
    simulate_nodes: options.SimulateNodes = False,
    placement: options.Placement = None,
    accept: options.Accept = [],  # noqa: B006 - typer copies it
    wall_limit: options.WallLimit = None,
    sign_key: options.SignKey = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Search programs for tasks; answer only where the evidence is sound.

    Exit code 0 when at least one task is SOLVED, 1 when none is.
    """
    values = dict(locals())
    chosen = arcoptions.choose(data, split, tasks, limit)
    if submission is not None and not submission.parent.is_dir():
        raise FileInvalid(f"--submission {submission}: there is no folder {submission.parent}")
    done = _run(chosen, values, sealed=False)
    run = _read(done)
    if submission is not None:
        _write_submission(run, chosen, submission, attempts)
    if as_json:
        more = {"telemetry": _telemetry(run, done).to_dict(), **_results(run)}
        render.print_json({**done.to_dict(), **more})
    else:
        _show_results(run)
        render.show_end(done)
    raise typer.Exit(done.exit_code)


@app.command()
def bench(
    out: arcoptions.OutBase,
    tasks: arcoptions.Tasks = None,
    data: arcoptions.Data = "arc-agi-1",
    split: arcoptions.Split = None,
    limit: arcoptions.Limit = None,
    max_programs: arcoptions.MaxPrograms = arcoptions.DEFAULT_PROGRAMS,
    max_depth: arcoptions.MaxDepth = arcoptions.DEFAULT_DEPTH,
    max_states: arcoptions.MaxStates = arcoptions.DEFAULT_STATES,
    competitor_programs: arcoptions.Competitors = arcoptions.DEFAULT_COMPETITORS,
    max_bits: arcoptions.MaxBits = arcoptions.DEFAULT_BITS,
    stop_on_first: arcoptions.StopOnFirst = False,
    no_prune: arcoptions.NoPrune = "",
    margin_bits: arcoptions.Margin = None,
    without: arcoptions.Without = "",
    bank: arcoptions.BankFile = None,
    seed: options.Seed = 0,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="List evaluation tasks one by one, too.")
    ] = False,
    workers: arcoptions.Jobs = None,
    backend: options.Backend = None,
    ray_address: options.RayAddress = None,
    nodes: options.Nodes = None,
    simulate_nodes: options.SimulateNodes = False,
    placement: options.Placement = None,
    accept: options.Accept = [],  # noqa: B006
    wall_limit: options.WallLimit = None,
    sign_key: options.SignKey = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Solve tasks whose outputs are known, and count: answered, right, wrong, unknown.

    Of evaluation tasks only totals are shown, unless --reveal is given.
    """
    values = dict(locals())

    from weft.arc.score import score  # noqa: PLC0415 - slow to import

    chosen = arcoptions.choose(data, split, tasks, limit)
    if any(not task.truth for task in chosen.tasks):
        raise InputError(f"{chosen.source}: some tasks have no known output; bench needs them")
    done = _run(chosen, values, sealed=not reveal)
    run = _read(done)
    bench_score = score(run, {task.digest: task for task in chosen.tasks})
    spent = _telemetry(run, done).to_dict()
    body = {"data": chosen.source, "score": bench_score.to_dict(), "telemetry": spent}
    if as_json:
        per_task = _results(run, reveal=reveal)
        render.print_json({**done.to_dict(), **body, **per_task})
        return
    if verbose:
        _show_results(run, reveal=reveal)
    _show_score(body)
    render.show_end(done)


for _command in (arclook.show, arclook.check, arclook.learn):
    app.command()(_command)


# -- doing ----------------------------------------------------------------------------------


def _run(tasks: TaskSet, values: dict[str, Any], *, sealed: bool) -> Run:
    """Turn options into settings, compile what is missing, and run.

    With `sealed`, evaluation tasks get no view of their own, now or later.
    """
    options.check_seconds("--wall-limit", values["wall_limit"])

    from weft.arc.bank import Bank  # noqa: PLC0415 - slow to import
    from weft.arc.search.ablation import parse_without  # noqa: PLC0415
    from weft.arc.search.budget import SearchBudget  # noqa: PLC0415
    from weft.wiring.arcrun import ArcSettings  # noqa: PLC0415
    from weft.wiring.arcrun import solve as execute  # noqa: PLC0415
    from weft.wiring.kernels import compile_arc_kernels  # noqa: PLC0415

    budget = SearchBudget(
        max_programs=values["max_programs"],
        max_depth=values["max_depth"],
        max_states=values["max_states"],
        competitor_programs=values["competitor_programs"],
        max_millibits=1000 * values["max_bits"],
        stop_on_first=values["stop_on_first"],
    )
    no_prune = [rule for rule in values["no_prune"].split(",") if rule]
    bank = None if values["bank"] is None else Bank.read(values["bank"])
    settings = ArcSettings(
        budget, values["seed"], no_prune, values["margin_bits"], bank,
        without=parse_without(values["without"]),
    )  # fmt: skip
    settings.options()
    execution = {
        "out": values["out"],
        "workers": values["workers"],
        "backend": values["backend"] or "local",
        "nodes": options.read_nodes(
            values["nodes"], simulate=values["simulate_nodes"], backend=values["backend"]
        ),
        "ray_address": options.ray_address(
            values["backend"], values["ray_address"], values["nodes"]
        ),
        "placement": values["placement"] or "greedy",
        "accept": values["accept"],
        "wall_limit_s": values["wall_limit"],
        "sign_key": values["sign_key"],
        "tags": _tags(tasks, values["split"], sealed=sealed),
    }
    if not values["quiet"]:
        render.message(f"{len(tasks)} tasks of {tasks.source}")
    compile_arc_kernels(render.message)
    with watching(values["quiet"], values["verbose"]) as watcher, resumable(values["out"]):
        return execute(tasks, settings, {**execution, "watcher": watcher})


def _tags(tasks: TaskSet, split: str | None, *, sealed: bool) -> list[str]:
    from weft.arc.heldout import EVALUATION, held_out  # noqa: PLC0415 - slow to import
    from weft.storage.folder import SEALED_VIEWS  # noqa: PLC0415

    if split != EVALUATION and not held_out(tasks.tasks):
        return []
    return [EVALUATION, SEALED_VIEWS] if sealed else [EVALUATION]


def _read(done: Run) -> ArcRun:
    from weft.arc.recorded import read_run  # noqa: PLC0415

    return read_run(done.out)


def _telemetry(run: ArcRun, done: Run) -> SearchTelemetry:
    from weft.arc.telemetry import telemetry  # noqa: PLC0415
    from weft.report.view import RunView  # noqa: PLC0415

    return telemetry(len(run.items), RunView(done.out, done.search).tasks())


def _write_submission(run: ArcRun, tasks: TaskSet, path: Path, attempts: int) -> None:
    from weft.arc.submission import write  # noqa: PLC0415
    from weft.arc.values import Grid  # noqa: PLC0415

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
