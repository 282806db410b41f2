"""`weft prng pipeline` and `adapt`: the six steps. Parses, calls one function, renders."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli import options, render
from weft.cli.runs import resumable
from weft.cli.steps import watching_steps
from weft.errors import InputError, Paused, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weft.model.slots import Node
    from weft.model.tasks import Milestone
    from weft.prng.pipeline.plan import Plan
    from weft.wiring.outcome import Run

CONFIG_FILE = "reinforcement_engine_config.json"
EXTRA = ("lightgbm", "optuna", "polars", "sklearn", "xgboost")

Draws = Annotated[
    str | None,
    typer.Argument(
        metavar="[DRAWS]",
        help="CSV, JSON or bare integers, oldest first; - for stdin. Not needed with --from.",
    ),
]


Modulus = Annotated[int | None, options.decides("M", "Draws are from 0 to M-1 (1000).")]
Family = Annotated[str | None, options.decides("NAME", "The generator to sieve (java).")]
Output = Annotated[
    str | None, options.decides("MAP", "How its outputs become draws (its first map).")
]
Seeds = Annotated[str | None, options.decides("N|LO:HI", "Seeds 0 to N-1, or LO to HI-1 (100000).")]
Skips = Annotated[str | None, options.decides("LO:HI", "Calls skipped before each draw (0:5).")]
Starts = Annotated[
    str | None, options.decides("LO:HI", "Calls before a window's first draw (0:200).")
]
WindowTrials = Annotated[int | None, options.decides("N", "Trials of step 1 (8).")]
ScorerTrials = Annotated[int | None, options.decides("N", "Trials of step 2.5 (8).")]
ModelTrials = Annotated[int | None, options.decides("N", "Trials of step 5 per kind of model (4).")]
Model = Annotated[
    str | None,
    options.decides(
        "auto|neural_net|xgboost|lightgbm|random_forest",
        "The kind of model; auto compares all four (auto).",
    ),
]
TopK = Annotated[int | None, options.decides("N", "Survivors of a stream that vote (20).")]
Nulls = Annotated[
    int | None, options.decides("N", "Reruns on histories without signal, 99 or more (99).")
]
Params = Annotated[
    Path | None,
    options.decides("FILE", "Training parameters for step 4, as adapt --apply writes them."),
]
To = Annotated[
    str | None, options.carries_out("STEP", "Pause after a step: 1, 2.5, 3, 4, 5 or 6.", "--to")
]
From = Annotated[
    tuple[str, str] | None,
    options.decides(
        "STEP RUN", "Begin a new run at a step, with what an earlier run left before it.", "--from"
    ),
]
JsonExport = Annotated[
    bool,
    options.speaks(
        None,
        "Also write survivors_with_scores.json and train_history.json into the run.",
        "--json-export",
    ),
]


def pipeline(
    out: options.Out,
    draws: Draws = None,
    modulus: Modulus = None,
    family: Family = None,
    output: Output = None,
    seeds: Seeds = None,
    skips: Skips = None,
    starts: Starts = None,
    window_trials: WindowTrials = None,
    scorer_trials: ScorerTrials = None,
    model_trials: ModelTrials = None,
    model: Model = None,
    top_k: TopK = None,
    nulls: Nulls = None,
    params: Params = None,
    seed: options.Seed = 0,
    from_: From = None,
    to: To = None,
    workers: options.Workers = None,
    backend: options.Backend = None,
    ray_address: options.RayAddress = None,
    nodes: options.Nodes = None,
    simulate_nodes: options.SimulateNodes = False,
    placement: options.Placement = None,
    accept: options.Accept = [],  # noqa: B006 - typer copies it
    wall_limit: options.WallLimit = None,
    sign_key: options.SignKey = None,
    json_export: JsonExport = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Six steps from draws to a prediction, or to no signal.

    Exit code 0 with a signal or when paused by --to, 1 without a signal.
    """
    options.check_seconds("--wall-limit", wall_limit)
    given = {
        "modulus": modulus,
        **_family(family, output),
        "seeds": _seeds(seeds),
        "skips": _pair("--skips", skips),
        "starts": _pair("--starts", starts),
        "window_trials": window_trials,
        "scorer_trials": scorer_trials,
        "model_trials": model_trials,
        "model": model,
        "top_k": top_k,
        "nulls": nulls,
    }
    _check_extra()

    from weft.wiring import prngpipe  # noqa: PLC0415 - slow to import

    listed = _nodes(nodes, simulate=simulate_nodes, backend=backend)
    execution = {
        "out": out,
        "seed": seed,
        "workers": workers,
        "backend": backend or "local",
        "nodes": listed,
        "ray_address": options.ray_address(backend, ray_address, nodes),
        "placement": placement or "greedy",
        "accept": accept,
        "wall_limit_s": wall_limit,
        "sign_key": sign_key,
        "pause_at": prngpipe.pause_before(_step("--to", to)),
    }
    start = _prepared(draws, from_, given, params)
    headline = _headline(listed, placement or "greedy", str(execution["pause_at"]))
    done: Run | None = None
    with watching_steps(quiet, verbose, headline) as watcher, resumable(out):
        try:
            done = start({**execution, "watcher": watcher})
        except Paused:
            done = None
    _finish(out, done, json_export=json_export, as_json=as_json)
    raise typer.Exit(0 if done is None else done.exit_code)


def adapt(
    lottery_data: Annotated[
        str, typer.Option(metavar="FILE", help="Training draws: CSV, JSON or bare integers.")
    ],
    survivor_data: Annotated[
        Path, typer.Option(metavar="FILE", help="Scored survivors, JSON or Parquet.")
    ],
    mode: Annotated[str, typer.Option(metavar="full", help="full: all parameters.")] = "full",
    modulus: Annotated[int, typer.Option(metavar="M", help="Draws are from 0 to M-1.")] = 1000,
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


def _prepared(
    draws: str | None, from_: tuple[str, str] | None, given: dict[str, Any], params: Path | None
) -> Callable[[dict[str, Any]], Run]:
    """Read and check everything before anything is written; return what carries it out."""
    from weft.prng.pipeline.plan import Plan  # noqa: PLC0415 - slow to import
    from weft.wiring import prngpipe, prngrun  # noqa: PLC0415

    values = None if params is None else prngpipe.read_params(params)
    if from_ is None:
        if draws is None:
            raise UsageError("DRAWS is missing", hint="name a file of draws, or --from STEP RUN")
        history, where = prngrun.load_history(draws)
        plan = prngpipe.overlaid(Plan(), given)
        prngpipe.check_draws(history, where, plan)
        return lambda execution: prngpipe.begin(history, plan, values, execution)
    step, path = _step("--from", from_[0]) or "", Path(from_[1])
    earlier = prngpipe.read_earlier(path, step)
    if draws is not None:
        prngpipe.check_same_draws(earlier, *prngrun.load_history(draws))
    later: Plan = prngpipe.overlaid(earlier.plan, given)
    return lambda execution: prngpipe.begin_at(step, earlier, later, values, execution)


def _check_extra() -> None:
    """Say what to install when the extra is not there."""
    import importlib.util  # noqa: PLC0415

    missing = [name for name in EXTRA if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(
            f"the pipeline needs {', '.join(missing)}, not installed", hint="pip install 'weft[ml]'"
        )


def _family(family: str | None, output: str | None) -> dict[str, Any]:
    """A family without a map is taken with its first one."""
    if family is None:
        return {"output": output}
    from weft.prng.families import family_named  # noqa: PLC0415 - slow to import

    known = family_named(family)
    return {"family": known.name, "output": output or next(iter(known.outputs))}


def _seeds(text: str | None) -> tuple[int, int] | None:
    if text is None or ":" in text:
        return _pair("--seeds", text)
    return _pair("--seeds", f"0:{text}")


def _pair(option: str, text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    low, _, high = text.partition(":")
    if not (low.isascii() and low.isdigit() and high.isascii() and high.isdigit()):
        raise UsageError(f"{option} {text[:40]!r} is not LO:HI")
    return int(low), int(high)


def _nodes(path: Path | None, *, simulate: bool, backend: str | None) -> tuple[Node, ...]:
    """Return the nodes; one of them must have a slot for tasks that use no GPU."""
    listed = options.read_nodes(path, simulate=simulate, backend=backend)
    if listed and not any(node.cpus for node in listed):
        raise UsageError(f"--nodes {path}: the pipeline runs on CPU slots", hint="add cpu_count")
    return listed


def _step(option: str, step: str | None) -> str | None:
    from weft.prng.pipeline.plan import STEPS  # noqa: PLC0415 - slow to import

    if step is not None and step not in STEPS:
        raise UsageError(f"{option}: there is no step {step[:40]!r}; steps are {', '.join(STEPS)}")
    return step


# -- saying ---------------------------------------------------------------------------------


def _headline(nodes: Sequence[Node], placement: str, pause_at: str) -> Callable[[Milestone], None]:
    """Announce a step and, with nodes, where its tasks will run; not one that is not begun."""
    from weft.prng.pipeline.plan import TITLES  # noqa: PLC0415 - slow to import

    def say(milestone: Milestone) -> None:
        if milestone.name == pause_at:
            return
        render.message(
            f"step {milestone.name}  {TITLES[milestone.name]}, about {milestone.tasks} tasks"
        )
        for line in _plan_lines(nodes, placement, milestone):
            render.message(f"  {line}")

    return say


def _plan_lines(nodes: Sequence[Node], placement: str, milestone: Milestone) -> list[str]:
    """Where a step's tasks go: every round is dealt anew."""
    from weft.jobs.plan import place_of, spread  # noqa: PLC0415 - slow to import
    from weft.model.slots import Deal, slots_of  # noqa: PLC0415

    if not nodes:
        return []
    slots = slots_of(nodes)
    if placement != "static":
        cpus = sum(slot.gpu is None for slot in slots)
        words = "greedy: the next to the first free slot"
        return [f"PARALLEL: {milestone.tasks} tasks for {cpus} CPU slots | {words}"]
    deal = Deal.of(slots, gpu=False)
    dealt = [deal.slot(ordinal) for size in milestone.rounds for ordinal in range(size)]
    plans = spread([place_of(slots[number]) for number in dealt if number is not None], nodes)
    return [plan.line() for plan in plans]


def _finish(out: Path, done: Run | None, *, json_export: bool, as_json: bool) -> None:
    """Write the files of a run that has come so far, and print its summary."""
    from weft.prng.pipeline.search import NAME  # noqa: PLC0415 - slow to import
    from weft.prng.pipeline.summary import end_line, steps_of  # noqa: PLC0415
    from weft.report.view import RunView  # noqa: PLC0415
    from weft.wiring import prngpipe  # noqa: PLC0415

    view = RunView(out, NAME)
    steps = steps_of(view)
    predictions = None if done is None else prngpipe.write_predictions(done)
    written = [] if predictions is None else [predictions]
    if json_export and steps[2].done:
        written += prngpipe.export(out)
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
        render.out(f"PAUSED  go on with: {render.command('resume', out)}")
        return
    render.show_end(done)
    render.out(end_line(view))


def _show_streams(done: Run | None) -> None:
    if done is None or done.status != "answered":
        return
    for one in done.answer["streams"]:
        name = f"stream {one['stream']}" if one["stream"] else "draws"
        hypothesis = one["hypothesis"]
        render.out(
            f"{name}: {hypothesis['family']} seed {hypothesis['seed']}, skip"
            f" {hypothesis['skips']['between'][0]}, since draw {one['first_draw'] + 1}"
        )
        render.out(f"  next    {' '.join(str(number) for number in one['next'])}")
        hits = [f"{h['hits']}/{h['draws']} in {h['k']}" for h in one["hit_at"]]
        render.out(f"  holdout {', '.join(hits)}")


def _show_power(done: Run | None) -> None:
    """Without a signal: what would have been found, and what was not looked for."""
    if done is None or done.status == "answered" or not isinstance(done.answer.detail, dict):
        return
    power = done.answer.detail["power"]
    render.out(f"searched {power['searched']}: {power['tried']:,} hypotheses")
    render.out(f"would have been found: {power['would_be_found']}")
    render.out(f"not covered: {power['not_covered']}")


def _writes(stream: Any) -> bool:
    return (getattr(stream, "encoding", None) or "").lower().replace("-", "") == "utf8"
