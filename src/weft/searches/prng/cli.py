"""`weft prng`: find the generator behind draws, generate test draws, run the pipeline.

Each command parses, calls one function, and renders.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from weft.console import options, render
from weft.console.execution import ExecutionOptions, OutputOptions, ViewOptions
from weft.console.groups import with_groups
from weft.console.progress import resumable, watching
from weft.console.steps import watching_steps
from weft.errors import Interrupted, Paused, UsageError
from weft.lazy_imports import lazy_imports, require
from weft.model.codec import from_json, to_json
from weft.model.tasks import Unknown
from weft.searches.prng import options as prngoptions
from weft.searches.prng.pipeline import options as pipeoptions
from weft.searches.prng.pipeline.steps import STEPS

with lazy_imports():
    from weft.runs import execution as executions
    from weft.runs import outcome
    from weft.searches.prng import answer as answers
    from weft.searches.prng import (
        catalogue,
        checks,
        guessing,
        intake,
        library,
        planting,
        programs,
        records,
        words,
    )
    from weft.searches.prng import coverage as coverages
    from weft.searches.prng import history as histories
    from weft.searches.prng import run as analyses
    from weft.searches.prng.pipeline import render as piperender
    from weft.searches.prng.pipeline import request as requests
    from weft.searches.prng.pipeline import run as pipelines

UNSAVED = Path("run")
"""Folder name of an unsaved run within a temporary directory."""
CONFIG_FILE = "reinforcement_engine_config.json"

LotteryData = Annotated[
    str, typer.Option(metavar="FILE", help="Training draws: CSV, JSON or bare integers.")
]
SurvivorData = Annotated[
    Path, typer.Option(metavar="FILE", help="Scored survivors, JSON or Parquet.")
]
Mode = Annotated[str, typer.Option(metavar="full", help="full: all parameters.")]
Apply = Annotated[
    bool, typer.Option("--apply", help=f"Write {CONFIG_FILE} into the current folder for --params.")
]

app = typer.Typer(
    name="prng",
    help="Which generator and seed produced these draws, and what comes next?",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def _prng() -> None:
    """Find the generator and the seed behind draws, and what comes next."""


# -- analyse ----------------------------------------------------------------------------------


@app.command()
@with_groups
def analyse(
    draws: prngoptions.Draws,
    search: prngoptions.AnalyseOptions,
    out: prngoptions.OutOrNone = None,
    device: prngoptions.Device = "auto",
    *,
    execution: ExecutionOptions,
    output: OutputOptions,
) -> None:
    """Find the generator, seed and skips behind draws, or report no signal.

    Exit code 0 with a signal, 1 without.
    """
    how = replace(execution.execution(out or UNSAVED), device=device)
    history, modulus, where = search.history(draws)
    request = search.request(modulus, history.form)
    checks.check(history, where, request)
    analyses.check_device(how)
    if not output.quiet and search.modulus is None and modulus != intake.USUAL_MODULUS:
        render.message(guessing.reading_text(history, modulus))
    if search.after is not None:
        request = analyses.take_over(search.after, history, request)
    if not output.quiet and not (
        out is not None and out.exists()
    ):  # a resumed run has already printed it
        render.message(words.estimate_text(analyses.estimate_s(history, request)))
    with _placed(how, saved=out is not None, quiet=output.quiet) as placed:
        with (
            executions.copied(placed) as forking,
            watching(output.quiet, output.verbose) as watcher,
            resumable(placed.out),
        ):
            result = analyses.execute(history, request, forking, watcher)
        _show_analysis(result, history, as_json=output.as_json, saved=out is not None)
        if (
            out is not None
            and not output.quiet
            and result.exit_code == 1
            and search.effort != "all"
        ):
            render.message(f"to continue: {search.continuing(draws, out)}")
    raise typer.Exit(result.exit_code)


@contextmanager
def _placed(
    how: executions.Execution, *, saved: bool, quiet: bool
) -> Iterator[executions.Execution]:
    """Yield the execution in the given folder, or in a temporary one."""
    if saved:
        yield how
        return
    if not quiet:
        render.message("this run is not saved; --out DIR saves it, with proof")
    with tempfile.TemporaryDirectory(prefix="weft-") as place:
        try:
            yield replace(how, out=Path(place) / how.out)
        except Interrupted as error:  # its hint names a folder that is about to be deleted
            reason = error.message.partition(";")[0]
            raise Interrupted(reason, hint="nothing is saved without --out DIR") from None


def _show_analysis(
    done: outcome.Run, history: histories.History, *, as_json: bool, saved: bool
) -> None:
    if as_json:
        render.show_run(done, as_json=True)
        return
    raw = done.answer.detail if isinstance(done.answer, Unknown) else done.answer
    if isinstance(raw, dict):
        _show_verdict(from_json(answers.AnalyseAnswer, raw), history)
    else:
        render.show_answer(done)
    if saved:
        render.show_end(done)


def _show_verdict(answer: answers.AnalyseAnswer, history: histories.History) -> None:
    for line in words.verdict_lines(answer, history):
        render.out(line)
    if answer.found:
        render.out("")
        render.table(words.table_rows(answer))


@app.command()
@with_groups
def guess(
    draws: prngoptions.Draws,
    column: prngoptions.Column = None,
    *,
    output: ViewOptions,
) -> None:
    """Report what a file of draws contains, how it is read, and the next command.

    Exit code 1 if no form is recognised.
    """
    data, where = analyses.load_bytes(draws)
    with records.advised("draws are one per row, oldest first, as CSV, JSON or text"):
        guesses = guessing.guess_file(data, where, column)
    if output.as_json:
        render.print_json({"file": where, "guesses": [item.to_dict() for item in guesses]})
    else:
        odd = "" if guesses else guessing.odd_row(data, where)
        for line in guessing.guess_lines(guesses, where, odd):
            render.out(line)
    raise typer.Exit(0 if guesses else 1)


# -- pipeline ---------------------------------------------------------------------------------


@app.command()
@with_groups
def pipeline(
    out: options.Out,
    search: pipeoptions.PipelineOptions,
    steps: pipeoptions.StepOptions,
    draws: pipeoptions.DrawsOrNone = None,
    params: pipeoptions.Params = None,
    seed: options.Seed = 0,
    *,
    execution: ExecutionOptions,
    json_export: pipeoptions.JsonExport = False,
    display: OutputOptions,
) -> None:
    """Go from draws to a prediction, or to no signal, in six steps.

    Exit code 0 with a signal or if paused by --to, 1 without a signal.
    """
    steps.check([*search.given(), *(["params"] if params else [])])
    search.check_installed()
    how = replace(execution.execution(out), pause_at=steps.pause_at())
    if how.nodes and not any(node.cpus for node in how.nodes):
        where = f"--nodes {execution.nodes}"
        raise UsageError(f"{where}: the pipeline runs on CPU slots", hint="add cpu_count")
    prepared = _prepared(draws, steps.from_, search, params)
    result = _run_steps(prepared, how, seed, display)
    piperender.finish(out, result, json_export=json_export, as_json=display.as_json)
    raise typer.Exit(0 if result is None else result.exit_code)


def _prepared(
    draws: str | None,
    from_: tuple[str, str] | None,
    search: pipeoptions.PipelineOptions,
    params: Path | None,
) -> pipelines.PreparedRun:
    """Read and check everything before anything is written."""
    training = None if params is None else pipelines.load_params(params)
    if from_ is None:
        if draws is None:
            raise UsageError("DRAWS is missing", hint="name a file of draws, or --from STEP RUN")
        request = search.applied(requests.PipelineRequest())
        history, where = analyses.load_history(draws)
        return pipelines.prepare(history, where, request, training)
    step, path = from_[0], Path(from_[1])
    earlier = pipelines.load_earlier(path, step)
    if draws is not None:
        pipelines.check_same_draws(earlier, *analyses.load_history(draws))
    request = search.applied(earlier.request)
    if step == STEPS[0]:
        pipelines.check_draws(earlier.history(), str(path), request)
    return pipelines.prepare_at(step, earlier, request, training)


def _run_steps(
    prepared: pipelines.PreparedRun, how: executions.Execution, seed: int, display: OutputOptions
) -> outcome.Run | None:
    """Run the steps with their headlines; None if the run was paused."""
    announce = piperender.headline(how)
    quiet, verbose = display.quiet, display.verbose
    with watching_steps(quiet, verbose, announce) as watcher, resumable(how.out):
        try:
            return pipelines.execute(prepared, how, seed=seed, watcher=watcher)
        except Paused:
            return None


@app.command()
@with_groups
def adapt(
    lottery_data: LotteryData,
    survivor_data: SurvivorData,
    mode: Mode = "full",
    modulus: prngoptions.Modulus = 1000,
    apply: Apply = False,
    *,
    output: ViewOptions,
) -> None:
    """Derive training parameters from survivors and history, as step 4 of the pipeline does."""
    if mode != "full":
        raise UsageError(f"--mode must be full, not {mode!r}")
    prngoptions.check_modulus(modulus)
    require("weft prng adapt", "ml")
    history, _ = analyses.load_history(lottery_data)
    facts, training = pipelines.adapt_files(history, survivor_data, modulus)
    body = to_json(training)
    if apply:
        Path(CONFIG_FILE).write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
    if output.as_json:
        written = CONFIG_FILE if apply else None
        render.print_json({"params": body, "facts": to_json(facts), "written": written})
        return
    for name, value in body.items():
        render.out(f"{name:16}{value}")
    if apply:
        render.message(f"written to {CONFIG_FILE}; use it with --params {CONFIG_FILE}")


# -- programs ---------------------------------------------------------------------------------


@app.command(name="export-program")
@with_groups
def export_program(
    run: options.RunArgument,
    display: ViewOptions,
    language: prngoptions.Language = "python",
    count: prngoptions.Count = 100,
) -> None:
    """Write the recovered generator as a program that produces its draws.

    The language is Python, C or Java. The program's arguments COUNT and FIRST choose which draws
    it prints.
    """
    prngoptions.check_count(count)
    best, _ = library.found_in(run)
    text = programs.program(best.hypothesis, language, count)
    if display.as_json:
        render.print_json({"language": language, "program": text})
    else:
        sys.stdout.write(text)


# -- generate ---------------------------------------------------------------------------------


@app.command()
@with_groups
def generate(
    family: prngoptions.FamilyName, history: prngoptions.PlantedOptions, display: ViewOptions
) -> None:
    """Write a test history: the draws of a generator from a known seed or state.

    Prints a column `draw`; with --json also the true generator and the wrong rows.
    """
    truth, wrong = history.truth(family), round(history.corrupt * history.count)
    planted = planting.make_history(truth, history.count, wrong, history.corrupt_seed)
    if display.as_json:
        render.print_json(to_json(planted))
    else:
        sys.stdout.write("draw\n" + "".join(f"{draw}\n" for draw in planted.draws))


@app.command()
@with_groups
def families(output: ViewOptions, coverage: prngoptions.ShowCoverage = False) -> None:
    """List the generators: state and seed in bits, output maps, attacks and their seconds.

    With --coverage, list common calls and what is searched for each.
    """
    if coverage:
        _show_coverage(as_json=output.as_json)
        return
    entries = catalogue.catalogue()
    if output.as_json:
        render.print_json({"families": [entry.to_dict() for entry in entries]})
        return
    for entry in entries:
        for line in entry.lines():
            render.out(line)
    render.message(
        "output maps, the usual one first; attacks with the seconds of one core that they take for"
    )
    render.message(
        f"{catalogue.EXAMPLE_DRAWS:,} draws modulo 1000 with the usual options; --json says what"
        " each covers"
    )


def _show_coverage(*, as_json: bool) -> None:
    calls, record, ratio = coverages.coverage(), coverages.recorded(), coverages.machine_speed()
    if as_json:
        body = {"calls": [call.to_dict() for call in calls], "planted_on": record.date}
        render.print_json({**body, "slower_than_planned": ratio})
        return
    for call in calls:
        for line in call.lines(ratio):
            render.out(line)
    render.message(
        "draws needed, below 1000 (raw words: 2^32) and without skips; seconds of one core of this"
    )
    render.message(
        f"machine, {ratio:.2f} x what is planned; found: planted histories of {record.draws} draws,"
    )
    render.message(
        f"{record.date}, version {record.version} of the search; renewed by: {record.command}"
    )
