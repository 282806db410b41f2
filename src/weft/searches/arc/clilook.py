"""`weft arc show`, `check` and `learn`: look at tasks and runs, test programs, mine concepts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.console import options, render
from weft.errors import FileInvalid, InputError, UsageError
from weft.searches.arc import options as arcoptions

if TYPE_CHECKING:
    from weft.searches.arc.learn import Learned
    from weft.searches.arc.recorded import ArcRun
    from weft.searches.arc.views.model import TaskView

NOT_EXACT = 1
NO_CONCEPT = 1


def show(
    what: Annotated[
        str | None,
        typer.Argument(metavar="TASK|RUN", help="A task's name or file, or the folder of a run."),
    ] = None,
    task: Annotated[
        str | None, typer.Argument(metavar="TASK", help="Of a run: this task only, with steps.")
    ] = None,
    data: arcoptions.Data = "arc-agi-1",
    split: arcoptions.Split = None,
    bank: Annotated[
        Path | None, typer.Option("--bank", metavar="FILE", help="List the concepts of a bank.")
    ] = None,
    steps: Annotated[
        bool, typer.Option("--steps", help="Draw what every step of the programs gives.")
    ] = False,
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Draw one task into an SVG file.")
    ] = None,
    png: Annotated[
        Path | None, typer.Option("--png", metavar="FILE", help="Draw one task into a PNG file.")
    ] = None,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Show the evaluation tasks of a bench one by one.")
    ] = False,
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,  # noqa: ARG001 - main looks for -vv
) -> None:
    """Draw a task, or the tasks of a run with outcome, answers, programs and their steps."""
    if bank is not None:
        _show_bank(bank, as_json=as_json)
        return
    if what is None:
        raise UsageError("name a task, a file or a run", hint="weft arc show 007bbfb7")
    views: list[TaskView] = []
    if _is_run(what):
        run = _read_run(Path(what))
        if run.sealed and not reveal:
            _show_totals(run, as_json=as_json, asked_more=bool(task or svg or png))
            return
        views = _views_of(run, task)
    else:
        views = [_view_of_task(what, task, data, split)]
    _write_pictures(views, svg, png)
    if as_json:
        _print_views(views, is_run=_is_run(what))
    elif svg is None and png is None:
        _draw(views, steps=steps or task is not None)


def check(
    run: Annotated[
        Path, typer.Argument(metavar="RUN|PROGRAM", help="A run's folder, or a program's file.")
    ],
    task: Annotated[
        str | None, typer.Argument(metavar="TASK", help="For a program: a task's name.")
    ] = None,
    data: arcoptions.Data = "arc-agi-1",
    split: arcoptions.Split = None,
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,  # noqa: ARG001
) -> None:
    """Run programs again by their slow definitions and compare with what they claim.

    Exit code 0 when everything is exact, 1 when anything differs.
    """
    from weft.searches.arc.check import check_program, check_run  # noqa: PLC0415 - slow to import
    from weft.searches.arc.program import parse  # noqa: PLC0415

    if run.is_dir():
        checks = list(check_run(_read_run(run)))
    else:
        text = options.read_file(run, "program").decode("utf-8", "replace")
        if task is None:
            raise UsageError("a program is checked against a task", hint="weft arc check FILE TASK")
        chosen = arcoptions.choose(data, split, [task], None).tasks[0]
        checks = [check_program(chosen, parse(text, str(run)), None)]
    wrong = [item for item in checks if not item.exact]
    if as_json:
        names = [item.name for item in wrong]
        exact = len(checks) - len(wrong)
        render.print_json({"checked": len(checks), "exact": exact, "wrong": names})
    else:
        for item in wrong:
            same = "" if item.outputs_same else ", and other test outputs than recorded"
            why = f" ({item.problem})" if item.problem else ""
            counts = f"{item.train_right} of {item.train} pairs{same}{why}"
            render.out(f"WRONG   {item.name}: {counts}")
        render.out(f"checked {len(checks)} programs, {len(checks) - len(wrong)} exact")
    raise typer.Exit(NOT_EXACT if wrong else 0)


def learn(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUNS...", help="Finished runs on training tasks.")
    ],
    bank: Annotated[
        Path, typer.Option("--bank", metavar="FILE", help="Where to write the concepts.")
    ],
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,  # noqa: ARG001
) -> None:
    """Find chains of operators that solved programs share, and keep those that pay.

    Exit code 0 when the bank has a concept, 1 when no chain shortens the description.
    """
    from weft.searches.arc.bank import Bank  # noqa: PLC0415 - slow to import
    from weft.searches.arc.learn import corpus_of  # noqa: PLC0415
    from weft.searches.arc.learn import learn as mine  # noqa: PLC0415
    from weft.storage.disk import Disk  # noqa: PLC0415

    if bank.exists():
        Bank.read(bank)  # a file that is no bank is not overwritten
    elif not bank.parent.is_dir():
        raise FileInvalid(f"--bank {bank}: there is no folder {bank.parent}")
    learned = mine(corpus_of([_read_run(path) for path in runs]))
    Disk().replace(bank, learned.bank.to_json().encode())
    if as_json:
        render.print_json({"bank": str(bank), "digest": learned.bank.digest(), **learned.to_dict()})
    else:
        _show_learned(learned, bank)
    raise typer.Exit(0 if learned.bank.concepts else NO_CONCEPT)


# -- reading ----------------------------------------------------------------------------------


def _is_run(what: str) -> bool:
    return (Path(what) / "run.toml").is_file()


def _read_run(path: Path) -> ArcRun:
    from weft.searches.arc.recorded import read_run  # noqa: PLC0415 - slow to import

    return read_run(path)


def _views_of(run: ArcRun, task: str | None) -> list[TaskView]:
    from weft.searches.arc.runview import view_of  # noqa: PLC0415 - slow to import

    items = run.items if task is None else (run.find(task),)
    return [view_of(item) for item in items]


def _view_of_task(what: str, task: str | None, data: str, split: str | None) -> TaskView:
    from weft.searches.arc.views.model import TaskView  # noqa: PLC0415 - slow to import

    path = Path(what)
    if path.is_dir():
        raise InputError(
            f"{what} is a folder, and no run", hint=f"weft arc show TASK --data {what}"
        )
    if task is not None:
        raise UsageError(f"{what} is no run, so {task} cannot be one of its tasks")
    if path.is_file():
        tasks = arcoptions.choose(what, split, None, None)
        if len(tasks) > 1:
            raise InputError(f"{what} holds {len(tasks)} tasks", hint=f"... TASK --data {what}")
    else:
        tasks = arcoptions.choose(data, split, [what], None)
    return TaskView.of(tasks.tasks[0])


# -- saying -----------------------------------------------------------------------------------


def _draw(views: list[TaskView], *, steps: bool) -> None:
    from weft.searches.arc.views import terminal  # noqa: PLC0415 - slow to import

    console = render.console(sys.stdout)
    for i, view in enumerate(views):
        if i:
            console.print()
        terminal.show(view, console, steps=steps)


def _print_views(views: list[TaskView], *, is_run: bool) -> None:
    from weft.searches.arc.runview import to_dict  # noqa: PLC0415 - slow to import

    bodies = [to_dict(view) for view in views]
    render.print_json({"tasks": bodies} if is_run else bodies[0])


def _write_pictures(views: list[TaskView], svg: Path | None, png: Path | None) -> None:
    if svg is None and png is None:
        return
    if len(views) != 1:
        raise UsageError(f"a picture shows one task, not {len(views)}", hint="name one: RUN TASK")
    if svg is not None:
        from weft.searches.arc.views.svg import task_svg  # noqa: PLC0415 - slow to import

        svg.write_text(task_svg(views[0]), "utf-8")
    if png is not None:
        from weft.searches.arc.views.png import task_png  # noqa: PLC0415

        png.write_bytes(task_png(views[0]))


def _show_totals(run: ArcRun, *, as_json: bool, asked_more: bool) -> None:
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


def _show_bank(path: Path, *, as_json: bool) -> None:
    from weft.searches.arc.bank import Bank  # noqa: PLC0415 - slow to import

    bank = Bank.read(path)
    if as_json:
        render.print_json({"digest": bank.digest(), **bank.to_dict()})
        return
    for concept in bank.concepts:
        tasks = f"{len(concept.tasks)} tasks"
        render.out(f"{concept.name}  {concept.millibits / 1000:.1f} bits, from {tasks}")
        for name in concept.concepts:
            render.out(f"    contains {name}")
    render.out(f"{len(bank.concepts)} concepts, digest {bank.digest()}")


def _show_learned(learned: Learned, path: Path) -> None:
    for concept in learned.bank.concepts:
        uses = f"used by {len(concept.tasks)} of {learned.programs} programs"
        render.out(f"{concept.name}  {concept.millibits / 1000:.1f} bits, {uses}")
    render.out(
        f"{len(learned.bank.concepts)} concepts of {learned.candidates} chains that repeat and"
        f" {learned.recombined} joined ones;"
        f" {learned.simplified} chains dropped for shorter ones that do the same"
    )
    before, after = learned.before_millibits / 1000, learned.after_millibits / 1000
    render.out(f"description of {learned.programs} programs: {before:.1f} → {after:.1f} bits")
    render.out(f"bank    {path}  {learned.bank.digest()}")
