"""`weft prng pipeline` and `adapt`: the six steps. Parses, calls one function, renders."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli import options, prngsay, render
from weft.cli import prngoptions as opts
from weft.cli.runs import resumable
from weft.cli.steps import watching_steps
from weft.errors import InputError, Paused, UsageError
from weft.prng.pipeline.steps import DECIDED, STEPS

if TYPE_CHECKING:
    from weft.model.slots import Node
    from weft.prng.pipeline.plan import Plan
    from weft.wiring.outcome import Run

CONFIG_FILE = "reinforcement_engine_config.json"
Start = Callable[[dict[str, Any]], "Run"]
"""Carries out what was prepared, when it is told how."""
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
    given = {name: value for name, value in locals().items() if name in DECIDED}
    _check_steps(from_, to, given)
    plan = _fields(given)
    _check_extra(*(("torch",) if net == "torch" else ()))
    execution = options.execution(
        backend=backend,
        address=ray_address,
        nodes=nodes,
        simulate=simulate_nodes,
        placement=placement,
        accept=accept,
        wall_limit=wall_limit,
        sign_key=sign_key,
    )
    _check_slots(execution["nodes"], nodes)
    start = _prepared(draws, from_, plan, params)
    execution |= {"workers": workers, "backend": backend or "local"}
    execution |= {"out": out, "seed": seed, "pause_at": _pause_at(to)}
    done = _carry_out(start, execution, quiet, verbose)
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

    from weft.wiring import prngpipe, prngrun  # noqa: PLC0415 - slow to import

    history, _ = prngrun.load_history(lottery_data)
    facts, found = prngpipe.adapt_files(history, survivor_data, modulus)
    body = found.to_dict()
    if apply:
        Path(CONFIG_FILE).write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
    if as_json:
        told = {name: getattr(facts, name) for name in facts.__slots__}
        render.print_json(
            {"params": body, "facts": told, "written": CONFIG_FILE if apply else None}
        )
        return
    for name, value in body.items():
        render.out(f"{name:16}{value}")
    if apply:
        render.message(f"written to {CONFIG_FILE}; use it with --params {CONFIG_FILE}")


# -- reading options ------------------------------------------------------------------------


def _fields(given: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the plan that options gave; what was not said is None."""
    from weft.prng.pipeline.plan import MAX_SKIP, MAX_START  # noqa: PLC0415 - slow to import

    fields = {name: value for name, value in given.items() if name != "params"}
    fields |= _family(given["family"], given["output"])
    for name, most in (("skips", MAX_SKIP), ("starts", MAX_START)):
        if fields[name] is not None:
            fields[name] = opts.read_range(f"--{name}", fields[name], most)
    if fields["seeds"] is not None:
        fields["seeds"] = opts.read_seeds(fields["seeds"])
    return fields


def _family(family: str | None, output: str | None) -> dict[str, Any]:
    """A family without a map is taken with its first one."""
    if family is None:
        return {"output": output}
    from weft.prng.families import family_named  # noqa: PLC0415 - slow to import

    known = family_named(family)
    return {"family": known.name, "output": output or next(iter(known.outputs))}


def _check_steps(from_: tuple[str, str] | None, to: str | None, given: dict[str, Any]) -> None:
    """Refuse steps that are none, an end before the beginning, and options of steps left out."""
    first = _place("--from", STEPS[0] if from_ is None else from_[0])
    if to is not None and _place("--to", to) < first:
        raise UsageError(
            f"--to {to} lies before --from {STEPS[first]}", hint="leave one of them out"
        )
    for name in (name for name, value in given.items() if value is not None):
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
    import importlib.util  # noqa: PLC0415

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


# -- carrying out ---------------------------------------------------------------------------


def _prepared(
    draws: str | None, from_: tuple[str, str] | None, fields: dict[str, Any], params: Path | None
) -> Start:
    """Read and check everything before anything is written; return what carries it out."""
    from weft.prng.pipeline.plan import Plan  # noqa: PLC0415 - slow to import
    from weft.wiring import prngpipe, prngrun  # noqa: PLC0415

    values = None if params is None else prngpipe.read_params(params)
    if from_ is None:
        if draws is None:
            raise UsageError("DRAWS is missing", hint="name a file of draws, or --from STEP RUN")
        plan = prngpipe.overlaid(Plan(), fields)
        history, where = prngrun.load_history(draws)
        prngpipe.check_draws(history, where, plan)
        return lambda execution: prngpipe.begin(history, plan, values, execution)
    step, path = from_[0], Path(from_[1])
    earlier = prngpipe.read_earlier(path, step)
    if draws is not None:
        prngpipe.check_same_draws(earlier, *prngrun.load_history(draws))
    later: Plan = prngpipe.overlaid(earlier.plan, fields)
    if step == STEPS[0]:
        prngpipe.check_draws(earlier.history(), str(path), later)
    return lambda execution: prngpipe.begin_at(step, earlier, later, values, execution)


def _carry_out(start: Start, execution: dict[str, Any], quiet: bool, verbose: int) -> Run | None:
    """Run the steps with their headlines; None when the run was paused."""
    words = prngsay.headline(execution["nodes"], execution["placement"], execution["pause_at"])
    with watching_steps(quiet, verbose, words) as watcher, resumable(execution["out"]):
        try:
            return start({**execution, "watcher": watcher})
        except Paused:
            return None
