"""`weft arc`: search for programs, show tasks and runs, check programs, learn concepts.

Each command parses, calls one function, and renders.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from weft.console import options
from weft.console import render as console
from weft.console.execution import OutputOptions, ViewOptions
from weft.console.groups import with_groups
from weft.console.progress import resumable, watching
from weft.errors import FileInvalid, InputError, UsageError
from weft.lazy_imports import lazy_imports
from weft.searches.arc import options as arcoptions

with lazy_imports():
    from weft.runs import durable, outcome
    from weft.runs import execution as executions
    from weft.searches.arc import bank as banks
    from weft.searches.arc import check as checks
    from weft.searches.arc import data as datasets
    from weft.searches.arc import (
        heldout,
        livescore,
        program,
        recorded,
        render,
        request,
        runview,
        submission,
        truth,
    )
    from weft.searches.arc import learn as learning
    from weft.searches.arc import score as scoring
    from weft.searches.arc.views import model as views

SEARCH = "arc.solve"
"""The search whose kernels workers need; they are preloaded while tasks are read."""
NOT_EXACT = 1
NO_CONCEPT = 1

What = Annotated[
    str | None,
    typer.Argument(metavar="TASK|RUN", help="A task's name or file, or a run's folder."),
]
TaskOfRun = Annotated[
    str | None, typer.Argument(metavar="TASK", help="Only this task of the run, with steps.")
]
_file = partial(typer.Option, metavar="FILE")
ListedBank = Annotated[Path | None, _file("--bank", help="List the concepts of a bank.")]
Steps = Annotated[bool, typer.Option("--steps", help="Draw every step of the programs.")]
Svg = Annotated[Path | None, _file("--svg", help="Draw one task to an SVG file.")]
Png = Annotated[Path | None, _file("--png", help="Draw one task to a PNG file.")]
RevealBench = Annotated[
    bool, typer.Option("--reveal", help="Also list evaluation tasks one by one.")
]
RevealRun = Annotated[
    bool, typer.Option("--reveal", help="Show the evaluation tasks of a bench one by one.")
]
RunOrProgram = Annotated[
    Path, typer.Argument(metavar="RUN|PROGRAM", help="A run's folder, or a program's file.")
]
TaskOfProgram = Annotated[
    str | None, typer.Argument(metavar="TASK", help="For a program: a task's name.")
]
Runs = Annotated[
    list[Path], typer.Argument(metavar="RUNS...", help="Finished runs on training tasks.")
]
WrittenBank = Annotated[Path, _file("--bank", help="Where to write the concepts.")]

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
    out: arcoptions.OutBase,
    execution: arcoptions.ArcExecutionOptions,
    output: OutputOptions,
    attempts: arcoptions.Attempts = 2,
    submission_file: arcoptions.Submission = None,
) -> None:
    """Search for programs that solve tasks; answer only if the evidence is sound.

    Exit code 0 if at least one task is SOLVED, 1 otherwise.
    """
    with executions.preloaded(execution.execution(out), SEARCH) as how:
        tasks = search.choose()
        if submission_file is not None and not submission_file.parent.is_dir():
            where = submission_file.parent
            raise FileInvalid(f"--submission {submission_file}: there is no folder {where}")
        tagged = replace(how, tags=_tags(tasks, search.split))
        result = _run(tasks, search, tagged, output)
    run = recorded.read_run(result.out)
    if submission_file is not None:
        submission_file.write_bytes(submission.of_run(run, tasks.tasks, attempts))
    render.show_solved(result, run, as_json=output.as_json)
    raise typer.Exit(result.exit_code)


@app.command()
@with_groups
def bench(
    search: arcoptions.SearchOptions,
    out: arcoptions.OutBase,
    execution: arcoptions.ArcExecutionOptions,
    output: OutputOptions,
    reveal: RevealBench = False,
) -> None:
    """Solve tasks with known outputs and count: answered, right, wrong, unknown.

    Shows running counts; the report has expected grids, differences, and confidence against truth.
    For evaluation tasks only totals are shown, unless --reveal is given.
    """
    with executions.preloaded(execution.execution(out), SEARCH) as how:
        tasks = search.choose()
        if any(not task.truth for task in tasks.tasks):
            raise InputError(f"{tasks.source}: some tasks have no known output; bench needs them")
        tagged = replace(how, tags=_tags(tasks, search.split, sealed=not reveal))
        is_sealed = executions.SEALED_VIEWS in tagged.tags
        known = {} if is_sealed else {task.digest: task.truth for task in tasks.tasks}
        live_score = livescore.LiveScore(out, known)
        result = _run(tasks, search, tagged, output, str if is_sealed else live_score.words)
    run = recorded.read_run(result.out)
    if not run.sealed:
        truth.write(result.out, tasks.tasks)
    score = scoring.score(run, {task.digest: task for task in tasks.tasks})
    render.show_bench(result, run, tasks.source, score, output, reveal=reveal)


@app.command()
@with_groups
def show(
    what: What = None,
    task: TaskOfRun = None,
    data: arcoptions.Data = "arc-agi-1",
    split: arcoptions.Split = None,
    bank: ListedBank = None,
    steps: Steps = False,
    svg: Svg = None,
    png: Png = None,
    reveal: RevealRun = False,
    *,
    output: ViewOptions,
) -> None:
    """Draw a task, or the tasks of a run with outcome, answers, programs and their steps."""
    if bank is not None:
        render.show_bank(banks.Bank.read(bank), as_json=output.as_json)
        return
    if what is None:
        raise UsageError("name a task, a file or a run", hint="weft arc show 007bbfb7")
    is_run = (Path(what) / "run.toml").is_file()
    if is_run:
        run = recorded.read_run(Path(what))
        if run.sealed and not reveal:
            render.show_totals(run, as_json=output.as_json, asked_more=bool(task or svg or png))
            return
        items = run.items if task is None else (run.find(task),)
        viewed_tasks = [runview.view_of(item) for item in items]
    else:
        viewed_tasks = [_view_of_task(what, task, data, split)]
    render.write_pictures(viewed_tasks, svg, png)
    if output.as_json:
        render.print_views(viewed_tasks, is_run=is_run)
    elif svg is None and png is None:
        render.draw(viewed_tasks, steps=steps or task is not None)


@app.command()
@with_groups
def check(
    run: RunOrProgram,
    task: TaskOfProgram = None,
    data: arcoptions.Data = "arc-agi-1",
    split: arcoptions.Split = None,
    *,
    output: ViewOptions,
) -> None:
    """Rerun programs with the slow reference operators and compare the outputs.

    Exit code 0 if every output matches, 1 if any differs.
    """
    if run.is_dir():
        checked = list(checks.check_run(recorded.read_run(run)))
    else:
        text = options.read_file(run, "program").decode("utf-8", "replace")
        if task is None:
            raise UsageError("a program is checked against a task", hint="weft arc check FILE TASK")
        chosen = arcoptions.choose(data, split, [task]).tasks[0]
        checked = [checks.check_program(chosen, program.parse(text, str(run)), None)]
    render.show_checks(checked, as_json=output.as_json)
    raise typer.Exit(0 if all(item.exact for item in checked) else NOT_EXACT)


@app.command()
@with_groups
def learn(runs: Runs, bank: WrittenBank, *, output: ViewOptions) -> None:
    """Learn concepts: chains of operators shared by solved programs.

    Exit code 0 if the bank has a concept, 1 if no chain shortens the description.
    """
    if bank.exists():
        banks.Bank.read(bank)  # a file that is not a bank is not overwritten
    elif not bank.parent.is_dir():
        raise FileInvalid(f"--bank {bank}: there is no folder {bank.parent}")
    corpus = learning.corpus_of([recorded.read_run(path) for path in runs])
    learned = learning.learn(corpus)
    durable.replace_file(bank, learned.bank.to_json().encode())
    render.show_learned(learned, bank, as_json=output.as_json)
    raise typer.Exit(0 if learned.bank.concepts else NO_CONCEPT)


def _run(
    tasks: datasets.TaskSet,
    search: arcoptions.SearchOptions,
    execution: executions.Execution,
    output: OutputOptions,
    more: Callable[[], str] = str,
) -> outcome.Run:
    """Turn options into a request and run it; the text from `more` ends the progress line."""
    arc_request = search.request(tasks)
    if not output.quiet:
        console.message(f"{len(tasks)} task{'s' * (len(tasks) != 1)} of {tasks.source}")
    with watching(output.quiet, output.verbose, more) as watcher, resumable(execution.out):
        return request.solve(arc_request, execution, watcher)


def _tags(tasks: datasets.TaskSet, split: str | None, *, sealed: bool = False) -> tuple[str, ...]:
    """Return the tags of a run on evaluation tasks; a sealed run shows only totals."""
    if split != heldout.EVALUATION and not heldout.held_out(tasks.tasks):
        return ()
    evaluation = heldout.EVALUATION
    return (evaluation, executions.SEALED_VIEWS) if sealed else (evaluation,)


def _view_of_task(what: str, task: str | None, data: str, split: str | None) -> views.TaskView:
    path = Path(what)
    if path.is_dir():
        raise InputError(
            f"{what} is a folder, but not a run", hint=f"weft arc show TASK --data {what}"
        )
    if task is not None:
        raise UsageError(f"{what} is not a run, so {task} cannot be one of its tasks")
    if not path.is_file():
        return views.TaskView.of(arcoptions.choose(data, split, [what]).tasks[0])
    tasks = arcoptions.choose(what, split, ())
    if len(tasks) > 1:
        raise InputError(f"{what} contains {len(tasks)} tasks", hint=f"... TASK --data {what}")
    return views.TaskView.of(tasks.tasks[0])
