"""`weft prng pipeline` and `adapt`: the six steps. Parses, calls one function, renders."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.console import options, render
from weft.console.progress import resumable
from weft.console.steps import watching_steps
from weft.errors import InputError, Paused, UsageError
from weft.searches.prng import clirender as prngsay
from weft.searches.prng import options as opts
from weft.searches.prng.lazy import lazy
from weft.searches.prng.pipeline.steps import DECIDED, STEPS

if TYPE_CHECKING:
    from weft.model.slots import Node
    from weft.runs.outcome import Run
    from weft.searches.prng import run as prngrun
    from weft.searches.prng.pipeline import request as requests
    from weft.searches.prng.pipeline import run as prngpipe
    from weft.searches.prng.pipeline.run import PreparedRun
else:
    requests = lazy("weft.searches.prng.pipeline.request")
    prngpipe, prngrun = lazy("weft.searches.prng.pipeline.run"), lazy("weft.searches.prng.run")

CONFIG_FILE = "reinforcement_engine_config.json"
EXTRA = ("lightgbm", "optuna", "polars", "sklearn", "xgboost")


def pipeline(
    out: options.Out,
    draws: opts.DrawsOrNone = None,
    modulus: opts.PlanModulus = None,
    family: opts.Family = None,
    output: opts.Output = None,
    seeds: opts.Seeds = None,
    skips: opts.PlanSkips = None,
    starts: opts.PlanStarts = None,
    window_trials: opts.WindowTrials = None,
    scorer_trials: opts.ScorerTrials = None,
    model_trials: opts.ModelTrials = None,
    model: opts.Model = None,
    net: opts.Net = None,
    top_k: opts.TopK = None,
    nulls: opts.Nulls = None,
    params: opts.Params = None,
    seed: options.Seed = 0,
    from_: opts.From = None,
    to: opts.To = None,
    workers: options.Workers = None,
    backend: options.Backend = None,
    ray_address: options.RayAddress = None,
    nodes: options.Nodes = None,
    simulate_nodes: options.SimulateNodes = False,
    placement: options.Placement = None,
    accept: options.Accept = [],  # noqa: B006 - typer copies it
    wall_limit: options.WallLimit = None,
    sign_key: options.SignKey = None,
    json_export: opts.JsonExport = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Six steps from draws to a prediction, or to no signal.

    Exit code 0 with a signal or when paused by --to, 1 without a signal.
    """
    changes = requests.PipelineChanges(
        modulus=modulus,
        family=family,
        output=output,
        seeds=None if seeds is None else opts.read_seeds(seeds),
        skips=opts.read_range_or_none("--skips", skips, requests.MAX_SKIP),
        starts=opts.read_range_or_none("--starts", starts, requests.MAX_START),
        window_trials=window_trials,
        scorer_trials=scorer_trials,
        model_trials=model_trials,
        model=model,
        net=net,
        top_k=top_k,
        nulls=nulls,
    )
    _check_steps(from_, to, [*changes.given(), *(["params"] if params else [])])
    _check_extra(*(("torch",) if net == "torch" else ()))
    execution = options.execution(
        backend=backend, address=ray_address, nodes=nodes, simulate=simulate_nodes,
        placement=placement, accept=accept, wall_limit=wall_limit, sign_key=sign_key,
    )  # fmt: skip
    _check_slots(execution["nodes"], nodes)
    prepared = _prepared(draws, from_, changes, params)
    execution |= {"workers": workers, "backend": backend or "local"}
    execution |= {"out": out, "seed": seed, "pause_at": _pause_at(to)}
    done = _execute(prepared, execution, quiet, verbose)
    prngsay.finish(out, done, json_export=json_export, as_json=as_json)
    raise typer.Exit(0 if done is None else done.exit_code)


def adapt(
    lottery_data: Annotated[
        str, typer.Option(metavar="FILE", help="Training draws: CSV, JSON or bare integers.")
    ],
    survivor_data: Annotated[
        Path, typer.Option(metavar="FILE", help="Scored survivors, JSON or Parquet.")
    ],
    mode: Annotated[str, typer.Option(metavar="full", help="full: all parameters.")] = "full",
    modulus: opts.Modulus = 1000,
    apply: Annotated[
        bool,
        typer.Option("--apply", help=f"Write {CONFIG_FILE} into the current folder for --params."),
    ] = False,
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,  # noqa: ARG001 - main looks for -vv
) -> None:
    """Derive training parameters from survivors and history, as step 4 of the pipeline does."""
    if mode != "full":
        raise UsageError(f"--mode must be full, not {mode!r}")
    opts.check_modulus(modulus)
    _check_extra()

    history, _ = prngrun.load_history(lottery_data)
    facts, training = prngpipe.adapt_files(history, survivor_data, modulus)
    body = training.to_dict()
    if apply:
        Path(CONFIG_FILE).write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
    if as_json:
        written = CONFIG_FILE if apply else None
        render.print_json({"params": body, "facts": facts.to_dict(), "written": written})
        return
    for name, value in body.items():
        render.out(f"{name:16}{value}")
    if apply:
        render.message(f"written to {CONFIG_FILE}; use it with --params {CONFIG_FILE}")


# -- reading options ------------------------------------------------------------------------


def _check_steps(from_: tuple[str, str] | None, to: str | None, given: Sequence[str]) -> None:
    """Refuse steps that are none, an end before the beginning, and options of steps left out."""
    first = _place("--from", STEPS[0] if from_ is None else from_[0])
    if to is not None and _place("--to", to) < first:
        raise UsageError(
            f"--to {to} lies before --from {STEPS[first]}", hint="leave one of them out"
        )
    for name in given:
        if first > STEPS.index(DECIDED[name]):
            raise UsageError(
                f"--{name.replace('_', '-')} belongs to step {DECIDED[name]}, which is over at"
                f" --from {STEPS[first]}",
                hint=f"leave it out, or begin at step {DECIDED[name]}",
            )


def _place(option: str, step: str) -> int:
    if step not in STEPS:
        raise UsageError(f"{option}: there is no step {step[:40]!r}; steps are {', '.join(STEPS)}")
    return STEPS.index(step)


def _check_extra(*more: str) -> None:
    """Say what to install when an extra is not there."""
    missing = [name for name in (*EXTRA, *more) if importlib.util.find_spec(name) is None]
    if missing:
        extra = "torch" if missing == ["torch"] else "ml"
        raise InputError(
            f"the pipeline needs {', '.join(missing)}, not installed",
            hint=f"pip install 'weft[{extra}]'",
        )


def _check_slots(listed: Sequence[Node], path: Path | None) -> None:
    """Refuse nodes none of which has a slot for tasks that use no GPU."""
    if listed and not any(node.cpus for node in listed):
        raise UsageError(f"--nodes {path}: the pipeline runs on CPU slots", hint="add cpu_count")


def _pause_at(to: str | None) -> str | None:
    """Return the step before which to pause, when a run goes to a step and no further."""
    return None if to in (None, STEPS[-1]) else STEPS[STEPS.index(to) + 1]


# -- executing ------------------------------------------------------------------------------


def _prepared(
    draws: str | None,
    from_: tuple[str, str] | None,
    changes: requests.PipelineChanges,
    params: Path | None,
) -> PreparedRun:
    """Read and check everything before anything is written."""
    training = None if params is None else prngpipe.load_params(params)
    if from_ is None:
        if draws is None:
            raise UsageError("DRAWS is missing", hint="name a file of draws, or --from STEP RUN")
        request = changes.applied(requests.PipelineRequest())
        history, where = prngrun.load_history(draws)
        return prngpipe.prepare(history, where, request, training)
    step, path = from_[0], Path(from_[1])
    earlier = prngpipe.load_earlier(path, step)
    if draws is not None:
        prngpipe.check_same_draws(earlier, *prngrun.load_history(draws))
    request = changes.applied(earlier.request)
    if step == STEPS[0]:
        prngpipe.check_draws(earlier.history(), str(path), request)
    return prngpipe.prepare_at(step, earlier, request, training)


def _execute(
    prepared: PreparedRun, execution: dict[str, Any], quiet: bool, verbose: int
) -> Run | None:
    """Run the steps with their headlines; None when the run was paused."""
    words = prngsay.headline(execution["nodes"], execution["placement"], execution["pause_at"])
    with watching_steps(quiet, verbose, words) as watcher, resumable(execution["out"]):
        try:
            return prngpipe.execute(prepared, {**execution, "watcher": watcher})
        except Paused:
            return None
