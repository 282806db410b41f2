"""`weft arc`: solve, bench, show, check, learn. Parses, calls one function each, renders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli import options, render
from weft.cli.progress import watching
from weft.cli.runs import resumable
from weft.errors import InputError, UsageError

if TYPE_CHECKING:
    from weft.arc.data import TaskSet
    from weft.arc.recorded import ArcRun
    from weft.wiring.outcome import Run

NOT_EXACT = 1
DATA = "Tasks"
BUDGET = "What decides the outcome"

app = typer.Typer(
    name="arc",
    help="Program search for ARC-AGI puzzles: explainable, reproducible, UNKNOWN when in doubt.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Tasks = Annotated[
    list[str] | None,
    typer.Argument(metavar="[TASK]...", help="Names or digests of tasks; all without any."),
]
Data = Annotated[
    str,
    typer.Option(
        "--data",
        "--arc_root",
        metavar="SET|PATH",
        help="arc-agi-1, arc-agi-1-2019, arc-agi-2; or a clone, a folder, a file.",
        rich_help_panel=DATA,
    ),
]
Split = Annotated[
    str | None,
    typer.Option(metavar="training|evaluation", help="Which half.", rich_help_panel=DATA),
]
Limit = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="The first N tasks by name.", rich_help_panel=DATA),
]
MaxPrograms = Annotated[
    int,
    typer.Option(
        "--max-programs",
        "--max_programs",
        min=1,
        metavar="N",
        help="Programs tried per task.",
        rich_help_panel=BUDGET,
    ),
]
MaxDepth = Annotated[
    int,
    typer.Option(
        "--max-depth", "--max_depth", min=1, metavar="N", help="Operators in a row.",
        rich_help_panel=BUDGET,
    ),
]  # fmt: skip
MaxStates = Annotated[
    int,
    typer.Option(min=1, metavar="N", help="Vectors kept per search.", rich_help_panel=BUDGET),
]
Competitors = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="Programs tried after the first right one, looking for others that disagree.",
        rich_help_panel=BUDGET,
    ),
]
StopOnFirst = Annotated[
    bool,
    typer.Option("--stop-on-first", help="End at the first right program.", rich_help_panel=BUDGET),
]
NoPrune = Annotated[
    str,
    typer.Option(metavar="RULES", help="Switch off: shape,palette,stage.", rich_help_panel=BUDGET),
]
Margin = Annotated[
    int | None,
    typer.Option(
        "--margin-bits",
        min=0,
        metavar="N",
        help="Answer despite competitors that need more than N bits more.",
        rich_help_panel=BUDGET,
    ),
]
Attempts = Annotated[
    int,
    typer.Option(min=1, max=2, metavar="1|2", help="Guesses per test that are written out."),
]
BankFile = Annotated[
    Path | None,
    typer.Option("--bank", metavar="FILE", help="Concepts to use.", rich_help_panel=BUDGET),
]
Submission = Annotated[
    Path | None,
    typer.Option("--submission", metavar="FILE", help="Write answers in the ARC Prize form."),
]
OutBase = Annotated[
    Path,
    typer.Option(
        "--out", "--out_base", metavar="DIR", help="The run's folder.",
        rich_help_panel=options.CARRIES_OUT,
    ),
]  # fmt: skip
Jobs = Annotated[
    int | None,
    typer.Option(
        "--workers",
        "--jobs",
        metavar="N",
        help="Worker processes: 1 at first, as before on resume.",
        rich_help_panel=options.CARRIES_OUT,
    ),
]
DEFAULT_PROGRAMS, DEFAULT_DEPTH, DEFAULT_STATES, DEFAULT_COMPETITORS = 60_000, 4, 40_000, 6_000


@app.command()
def solve(
    out: OutBase,
    tasks: Tasks = None,
    data: Data = "arc-agi-1",
    split: Split = None,
    limit: Limit = None,
    max_programs: MaxPrograms = DEFAULT_PROGRAMS,
    max_depth: MaxDepth = DEFAULT_DEPTH,
    max_states: MaxStates = DEFAULT_STATES,
    competitor_programs: Competitors = DEFAULT_COMPETITORS,
    stop_on_first: StopOnFirst = False,
    no_prune: NoPrune = "",
    margin_bits: Margin = None,
    attempts: Attempts = 2,
    bank: BankFile = None,
    seed: options.Seed = 0,
    submission: Submission = None,
    workers: Jobs = None,
    backend: options.Backend = None,
    nodes: options.Nodes = None,
    simulate_nodes: options.SimulateNodes = False,
    placement: options.Placement = "greedy",
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
    chosen = _choose(data, split, tasks, limit)
    done = _run(chosen, values)
    run = _read(done)
    if submission is not None:
        _write_submission(run, chosen, submission, attempts)
    if as_json:
        render.print_json({**done.to_dict(), "results": _results(run)})
    else:
        _show_results(run)
        _show_end(done)
    raise typer.Exit(done.exit_code)


@app.command()
def bench(
    out: OutBase,
    tasks: Tasks = None,
    data: Data = "arc-agi-1",
    split: Split = None,
    limit: Limit = None,
    max_programs: MaxPrograms = DEFAULT_PROGRAMS,
    max_depth: MaxDepth = DEFAULT_DEPTH,
    max_states: MaxStates = DEFAULT_STATES,
    competitor_programs: Competitors = DEFAULT_COMPETITORS,
    stop_on_first: StopOnFirst = False,
    no_prune: NoPrune = "",
    margin_bits: Margin = None,
    bank: BankFile = None,
    seed: options.Seed = 0,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="List evaluation tasks one by one, too.")
    ] = False,
    workers: Jobs = None,
    backend: options.Backend = None,
    nodes: options.Nodes = None,
    simulate_nodes: options.SimulateNodes = False,
    placement: options.Placement = "greedy",
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
    from weft.arc.score import cost, score  # noqa: PLC0415 - slow to import
    from weft.report.view import RunView  # noqa: PLC0415

    values = dict(locals())
    chosen = _choose(data, split, tasks, limit)
    if any(not task.truth for task in chosen.tasks):
        raise InputError(f"{chosen.source}: some tasks have no known output; bench needs them")
    done = _run(chosen, values)
    run = _read(done)
    found = score(run, {task.digest: task for task in chosen.tasks})
    spent = cost(len(run.items), RunView(done.out, done.search).tasks())
    body = {"data": chosen.source, "score": found.to_dict(), "cost": spent.to_dict()}
    shown = reveal or split != "evaluation"
    if as_json:
        per_task = {"results": _results(run)} if shown else {}
        render.print_json({**done.to_dict(), **body, **per_task})
        return
    if shown and verbose:
        _show_results(run)
    _show_score(body)
    _show_end(done)


@app.command()
def check(
    run: Annotated[
        Path, typer.Argument(metavar="RUN|PROGRAM", help="A run's folder, or a program's file.")
    ],
    task: Annotated[
        str | None, typer.Argument(metavar="[TASK]", help="For a program: a task's name.")
    ] = None,
    data: Data = "arc-agi-1",
    split: Split = None,
    as_json: options.AsJson = False,
) -> None:
    """Run programs again by their slow definitions and compare with what they claim.

    Exit code 0 when everything is exact, 1 when anything differs.
    """
    from weft.arc.check import check_program, check_run  # noqa: PLC0415 - slow to import
    from weft.arc.program import parse  # noqa: PLC0415
    from weft.arc.recorded import read_run  # noqa: PLC0415

    if run.is_dir():
        found = list(check_run(read_run(run)))
    else:
        if task is None:
            raise UsageError("a program is checked against a task", hint="weft arc check FILE TASK")
        text = options.read_file(run, "program").decode("utf-8", "replace")
        chosen = _choose(data, split, [task], None).tasks[0]
        found = [check_program(chosen, parse(text, str(run)), None)]
    wrong = [item for item in found if not item.exact]
    if as_json:
        render.print_json({"checked": len(found), "exact": len(found) - len(wrong),
                           "wrong": [item.name for item in wrong]})  # fmt: skip
    else:
        for item in wrong:
            same = "" if item.outputs_same else ", and other test outputs than recorded"
            render.out(f"WRONG   {item.name}: {item.train_right} of {item.train} pairs{same}")
        render.out(f"checked {len(found)} programs, {len(found) - len(wrong)} exact")
    raise typer.Exit(NOT_EXACT if wrong else 0)


# -- doing ----------------------------------------------------------------------------------


def _choose(data: str, split: str | None, names: list[str] | None, limit: int | None) -> TaskSet:
    from weft.arc.data import load  # noqa: PLC0415 - slow to import

    return load(data, split).select(tuple(names or ()), limit)


def _run(tasks: TaskSet, values: dict[str, Any]) -> Run:
    """Turn options into settings, compile what is missing, and run."""
    options.check_seconds("--wall-limit", values["wall_limit"])

    from weft.arc.bank import Bank  # noqa: PLC0415 - slow to import
    from weft.arc.search.budget import SearchBudget  # noqa: PLC0415
    from weft.wiring.arcrun import Settings  # noqa: PLC0415
    from weft.wiring.arcrun import solve as carry_out  # noqa: PLC0415
    from weft.wiring.kernels import compile_arc_kernels  # noqa: PLC0415

    budget = SearchBudget(
        max_programs=values["max_programs"],
        max_depth=values["max_depth"],
        max_states=values["max_states"],
        competitor_programs=values["competitor_programs"],
        stop_on_first=values["stop_on_first"],
    )
    no_prune = [rule for rule in values["no_prune"].split(",") if rule]
    bank = None if values["bank"] is None else Bank.read(values["bank"])
    settings = Settings(budget, values["seed"], no_prune, values["margin_bits"], bank)
    settings.options()
    execution = {
        "out": values["out"],
        "workers": values["workers"],
        "backend": values["backend"] or "local",
        "nodes": options.read_nodes(values["nodes"], simulate=values["simulate_nodes"]),
        "placement": values["placement"],
        "accept": values["accept"],
        "wall_limit_s": values["wall_limit"],
        "sign_key": values["sign_key"],
    }
    if not values["quiet"]:
        render.message(f"{len(tasks)} tasks of {tasks.source}")
    compile_arc_kernels(render.message)
    with watching(values["quiet"], values["verbose"]) as watcher, resumable(values["out"]):
        return carry_out(tasks, settings, {**execution, "watcher": watcher})


def _read(done: Run) -> ArcRun:
    from weft.arc.recorded import read_run  # noqa: PLC0415

    return read_run(done.out)


def _write_submission(run: ArcRun, tasks: TaskSet, path: Path, attempts: int) -> None:
    from weft.arc.submission import write  # noqa: PLC0415
    from weft.arc.values import Grid  # noqa: PLC0415

    found = {item.task.digest: item.answer for item in run.items}
    answers: dict[str, list[list[Grid]]] = {}
    for task in tasks.tasks:
        groups = (found[task.digest] or {"groups": []})["groups"][:attempts]
        guesses = [[Grid.of(rows) for rows in group["outputs"]] for group in groups]
        answers[task.name] = [[guess[i] for guess in guesses] for i in range(len(task.test))]
    path.write_bytes(write(tasks.tasks, answers))


# -- saying ---------------------------------------------------------------------------------


def _results(run: ArcRun) -> list[dict[str, Any]]:
    return [
        {"name": item.task.name, "digest": item.task.digest, **(item.answer or {})}
        for item in run.items
    ]


def _show_results(run: ArcRun) -> None:
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
    score, cost = body["score"], body["cost"]
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


def _show_end(done: Run) -> None:
    render.out(f"tasks     {done.completed} completed, {done.failed} failed")
    verify = render.command("verify", done.out)
    render.out(f"head      {done.size} {done.head}  verified by: {verify}")
