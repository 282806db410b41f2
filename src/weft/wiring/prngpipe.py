"""`weft prng pipeline` as functions: from draws and a plan, or from an earlier run, to a run.

begin      draws ─► run        begin_at   artifacts of an earlier run ─► new run
export     run ─► files        adapt_files  exported files ─► training parameters
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weft.errors import FileInvalid, InputError, RunMismatch, UsageError
from weft.model.strictjson import loads
from weft.model.values import from_wire
from weft.prng.history import History
from weft.prng.pipeline import adapt, artifact, table, window
from weft.prng.pipeline.features import ALL
from weft.prng.pipeline.learntasks import check_sidecar
from weft.prng.pipeline.plan import Plan
from weft.prng.pipeline.search import NAME, pipeline
from weft.prng.pipeline.steps import STEPS
from weft.prng.pipeline.streams import Split, split_of
from weft.prng.pipeline.summary import artifacts_of, steps_of
from weft.readers.verify import verify
from weft.report.view import RunView
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.heads import HeadsList
from weft.wiring import world
from weft.wiring.outcome import Run
from weft.wiring.prngrun import check_below
from weft.wiring.run import run

MAX_PARAMS_BYTES = 1 << 20
HOLDOUT_FREE = ("label_hits", "label_draws")


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier run to begin from: its head, its plan and its artifacts."""

    head: str
    size: int
    plan: Plan
    artifacts: Mapping[str, bytes]

    def history(self) -> History:
        """Return the draws that it froze."""
        return History.from_canonical(self.artifacts["draws"])


def check_draws(history: History, where: str, plan: Plan) -> None:
    """Refuse draws that are too few, too many or too large, as step 1 would, before it begins."""
    check_below(history, where, plan.modulus)
    try:
        window.space(plan, split_of(history, plan.modulus))
    except UsageError:
        raise
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def begin(
    history: History, plan: Plan, params: Mapping[str, Any] | None, execution: Mapping[str, Any]
) -> Run:
    """Run the pipeline from its first step."""
    inputs = {"draws": history.canonical(), **_given(params)}
    start = {"step": STEPS[0], "head": None, "size": None}
    return run(pipeline(plan.to_dict(), start), inputs=inputs, **execution)


def begin_at(
    step: str, earlier: Earlier, plan: Plan, params: Mapping[str, Any] | None,
    execution: Mapping[str, Any],
) -> Run:  # fmt: skip
    """Run the pipeline from a step on, with what an earlier run left; its head is named."""
    inputs = {name: data for name, data in earlier.artifacts.items() if name != "params"}
    start = {"step": step, "head": earlier.head, "size": earlier.size}
    call = pipeline(plan.to_dict(), start)
    return run(call, inputs={**inputs, **_given(params)}, **execution)


def read_earlier(path: Path, step: str) -> Earlier:
    """Verify an earlier run and take what the steps before `step` left."""
    folder = RunFolder(path)
    if folder.read_run_file().search != NAME:
        raise InputError(f"{path} is no run of weft prng pipeline")
    found = verify(path, HeadsList(world.heads_folder(), Disk()))
    view = RunView(path, NAME)
    seen = {one.step: one for one in steps_of(view)}
    for before in STEPS[: STEPS.index(step)]:
        if not seen[before].done and not seen[before].earlier:
            raise InputError(
                f"{path} has not done step {before}, which step {step} needs",
                hint=f"weft resume {path}",
            )
    later = {name for at in STEPS[STEPS.index(step) :] for name in seen[at].artifacts}
    kept = {n: view.read(one) for n, one in artifacts_of(view).items() if n not in later}
    if step == "6":
        if "model" not in kept:
            raise InputError(f"{path} has no signal and left no model, which step 6 needs")
        check_sidecar(artifact.unpack("sidecar", kept["sidecar"]), kept["model"])
    args: Any = from_wire(view.genesis()["config"]["args"])
    return Earlier(found.root, found.size, Plan.from_dict(args["plan"]), kept)


def check_same_draws(earlier: Earlier, history: History, where: str) -> None:
    """Refuse draws that are not those the earlier run froze."""
    if history.canonical() != earlier.artifacts["draws"]:
        raise RunMismatch(
            f"{where}: these are not the draws of the earlier run", hint="leave it out"
        )


def read_params(path: Path) -> dict[str, Any]:
    """Read training parameters as `weft prng adapt --apply` writes them."""
    try:
        raw: Any = loads(path.read_bytes(), where=str(path), max_bytes=MAX_PARAMS_BYTES)
    except OSError as error:
        raise FileInvalid(f"--params {path}: {error.strerror}") from None
    if not isinstance(raw, dict):
        raise FileInvalid(f"--params {path}: not a JSON object")
    return adapt.Training.from_dict(raw, f"--params {path}").to_dict()


def _given(params: Mapping[str, Any] | None) -> dict[str, bytes]:
    return {} if params is None else {"params": artifact.pack("params", {"values": dict(params)})}


# -- files ----------------------------------------------------------------------------------


def write_predictions(done: Run) -> Path | None:
    """Write the prediction of a run with a signal into its folder."""
    if done.status != "answered":
        return None
    body = artifact.unpack("predictions", done.read(done.answer["predictions"]))
    path = done.out / "predictions.json"
    path.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
    return path


def export(path: Path) -> list[Path]:
    """Write scored survivors and training draws as JSON beside the run's ledger."""
    view = RunView(path, NAME)
    found = artifacts_of(view)
    split = Split.from_dict(artifact.unpack("split", view.read(found["split"])))
    chosen = artifact.unpack("window", view.read(found["window"]))
    names = sorted(name for name in found if name.startswith(artifact.SCORED))
    survivors, history = path / "survivors_with_scores.json", path / "train_history.json"
    with survivors.open("w", encoding="utf-8") as file:
        _write_rows(file, (table.from_parquet(view.read(found[name])) for name in names), chosen)
    rows = [
        {"draw": draw, "session": stream.name}
        for stream in split.mode(chosen["params"]["sessions"])
        for draw in stream.draws[: stream.holdout_at]
    ]
    history.write_text(json.dumps(rows) + "\n", encoding="utf-8")
    return [survivors, history]


def _write_rows(file: Any, pieces: Any, chosen: Mapping[str, Any]) -> None:
    """Write one object per survivor, chunk by chunk."""
    before = "[\n"
    for piece in pieces:
        for row in piece.iter_rows(named=True):
            ids = {name: row[name] for name in table.IDS if name != "seed"}
            body = {"seed": row["seed"], "score": row["hits"] / chosen["params"]["window"]}
            body |= {"metadata": ids, **{n: row[n] for n in (*ALL, *table.LABELS)}}
            file.write(before + json.dumps(body))
            before = ",\n"
    file.write("[]\n" if before == "[\n" else "\n]\n")


def adapt_files(
    history: History, survivors: Path, modulus: int
) -> tuple[adapt.Facts, adapt.Training]:
    """Derive training parameters from exported files, as step 4 does; the holdout is left out."""
    check_below(history, "--lottery-data", modulus)
    rows = _survivor_rows(survivors)
    last = {stream: max(cut for s, cut, *_ in rows if s == stream) for stream, *_ in rows}
    inner = [(hits, draws) for stream, cut, hits, draws in rows if cut != last[stream]]
    windows = len({(stream, cut) for stream, cut, *_ in rows if cut != last[stream]})
    facts = adapt.facts_of(max(1, windows), inner, history.draws, modulus)
    return facts, adapt.derive(facts)


def _survivor_rows(path: Path) -> list[tuple[int, int, int, int]]:
    """Read stream, cut and label of each survivor; all features must be there, as numbers."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileInvalid(f"--survivor-data {path}: {error.strerror}") from None
    try:
        frame = table.from_parquet(data) if data[:4] == b"PAR1" else _json_frame(data, str(path))
        table.check_columns(frame, str(path))
        columns = [frame[name].to_list() for name in ("stream", "cut", *HOLDOUT_FREE)]
    except InputError:
        raise
    except Exception as error:  # polars and json name what they stumble over
        said = f"{type(error).__name__}: {error}".splitlines()[0]
        raise FileInvalid(f"--survivor-data {path}: {said[:200]}") from None
    return list(zip(*columns, strict=True))


def _json_frame(data: bytes, where: str) -> Any:
    import polars as pl  # noqa: PLC0415 - slow to import, an extra

    try:
        raw = json.loads(data)
    except ValueError as error:
        raise FileInvalid(f"{where}: neither Parquet nor JSON: {error}") from None
    if not isinstance(raw, list) or not all(isinstance(row, dict) for row in raw):
        raise FileInvalid(f"{where}: not a list of survivors")
    flat = [{**row, **row.get("metadata", {}), "metadata": ""} for row in raw]
    return pl.DataFrame(flat, infer_schema_length=None)


def overlaid(plan: Plan, given: Mapping[str, Any]) -> Plan:
    """Return a plan with what was given on the command line."""
    return replace(plan, **{name: value for name, value in given.items() if value is not None})
