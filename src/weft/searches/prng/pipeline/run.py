"""`weft prng pipeline` as functions: from draws and a request, or an earlier run, to a new run.

prepare     draws ─► prepared run      prepare_at  artifacts of an earlier run ─► prepared run
execute     prepared run ─► run        export      run ─► files
adapt_files exported files ─► training parameters
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from weft.errors import FileInvalid, InputError, RunMismatch, UsageError
from weft.inspect.report.view import RunView, view_of
from weft.inspect.verify import verify
from weft.lazy_imports import lazy_module
from weft.model.codec import from_json, to_json
from weft.model.strictjson import loads
from weft.model.values import JsonValue, from_wire
from weft.runs.execution import Execution
from weft.runs.outcome import Run
from weft.runs.run import Watcher, real_place, run_search
from weft.searches.prng.checks import check_below
from weft.searches.prng.history import History
from weft.searches.prng.pipeline import adapt, artifact, table, window
from weft.searches.prng.pipeline.features import ALL, PER_SURVIVOR
from weft.searches.prng.pipeline.request import PipelineRequest
from weft.searches.prng.pipeline.search import NAME, PipelineStart, pipeline
from weft.searches.prng.pipeline.steps import STEPS
from weft.searches.prng.pipeline.streams import split_of
from weft.searches.prng.pipeline.summary import artifacts_of, steps_of
from weft.searches.prng.pipeline.window import WindowParams

if TYPE_CHECKING:
    import polars as pl
else:
    pl = lazy_module("polars")

MAX_PARAMS_BYTES = 1 << 20
HOLDOUT_FREE = ("label_hits", "label_draws")


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """An earlier run to start from: its head and size, request, and artifacts."""

    head: str
    size: int
    request: PipelineRequest
    artifacts: Mapping[str, bytes]

    def history(self) -> History:
        """Return the history that the run froze."""
        return History.from_canonical(self.artifacts["draws"])


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A run whose request and inputs have been read and checked; nothing is written yet."""

    request: PipelineRequest
    start: PipelineStart
    inputs: Mapping[str, bytes]


def check_draws(history: History, where: str, request: PipelineRequest) -> None:
    """Refuse draws that are too few, too many or too large, before step 1 would."""
    check_below(history, where, request.modulus)
    try:
        window.space(request, split_of(history, request.modulus))
    except UsageError:
        raise
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def prepare(
    history: History, where: str, request: PipelineRequest, params: adapt.TrainingParams | None
) -> PreparedRun:
    """Prepare a run from the first step; `where` names the source of the draws."""
    check_draws(history, where, request)
    inputs = {"draws": history.canonical(), **_params_input(params)}
    return PreparedRun(request, PipelineStart(STEPS[0]), inputs)


def prepare_at(
    step: str, earlier: EarlierRun, request: PipelineRequest, params: adapt.TrainingParams | None
) -> PreparedRun:
    """Prepare a run that starts at `step`, with the artifacts of an earlier run and its head."""
    inputs = {name: data for name, data in earlier.artifacts.items() if name != "params"}
    start = PipelineStart(step, earlier.head, earlier.size)
    return PreparedRun(request, start, {**inputs, **_params_input(params)})


def execute(
    prepared: PreparedRun, execution: Execution, *, seed: int = 0, watcher: Watcher | None = None
) -> Run:
    """Run the pipeline with the given execution."""
    call = pipeline(to_json(prepared.request), to_json(prepared.start))
    return run_search(call, execution, seed=seed, inputs=prepared.inputs, watcher=watcher)


def load_earlier(path: Path, step: str) -> EarlierRun:
    """Verify an earlier run and load the artifacts of the steps before `step`.

    Raises InputError if one of those steps is not done, or if step 6 has no signal to start from.
    """
    view = view_of(path, NAME, "weft prng pipeline")
    checked = verify(path, real_place().heads)
    steps = {summary.step: summary for summary in steps_of(view)}
    for before in STEPS[: STEPS.index(step)]:
        if not steps[before].done and not steps[before].earlier:
            raise InputError(
                f"{path} has not done step {before}, which step {step} needs",
                hint=f"weft resume {path}",
            )
    later = {name for at in STEPS[STEPS.index(step) :] for name in steps[at].artifacts}
    artifacts = {n: view.read(item) for n, item in artifacts_of(view).items() if n not in later}
    if step == "6":
        sidecar = artifact.unpack(artifact.SIDECAR, artifacts["sidecar"])
        sidecar.check_signal()
        if "model" in artifacts:
            sidecar.check(artifacts["model"])
    request = from_json(PipelineRequest, from_wire(view.genesis()["config"]["args"]["plan"]))
    return EarlierRun(checked.root, checked.size, request, artifacts)


def check_same_draws(earlier: EarlierRun, history: History, where: str) -> None:
    """Refuse draws other than those of the earlier run."""
    if history.canonical() != earlier.artifacts["draws"]:
        raise RunMismatch(
            f"{where}: these are not the draws of the earlier run", hint="leave it out"
        )


def load_params(path: Path) -> adapt.TrainingParams:
    """Read training parameters in the format of `weft prng adapt --apply`."""
    try:
        raw = loads(path.read_bytes(), where=str(path), max_bytes=MAX_PARAMS_BYTES)
    except OSError as error:
        raise FileInvalid(f"--params {path}: {error.strerror}") from None
    if not isinstance(raw, dict):
        raise FileInvalid(f"--params {path}: not a JSON object")
    return adapt.read_training(raw, f"--params {path}")


def _params_input(params: adapt.TrainingParams | None) -> dict[str, bytes]:
    if params is None:
        return {}
    return {"params": artifact.pack(artifact.PARAMS, artifact.ParamsArtifact(params))}


# -- files ----------------------------------------------------------------------------------


def write_predictions(done: Run) -> Path | None:
    """Write the predictions of a run into its folder; None if it has no signal."""
    if done.status != "answered":
        return None
    body = artifact.unpacked(artifact.PREDICTIONS, done.read(done.answer["predictions"]))
    path = done.out / "predictions.json"
    path.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
    return path


def export(path: Path) -> list[Path]:
    """Write scored survivors and training draws as JSON into the run's folder."""
    view = RunView(path, NAME)
    artifacts = artifacts_of(view)
    split = artifact.unpack(artifact.SPLIT, view.read(artifacts["split"]))
    params = artifact.unpack(artifact.WINDOW, view.read(artifacts["window"])).params
    names = sorted(name for name in artifacts if name.startswith(artifact.SCORED))
    survivors, history = path / "survivors_with_scores.json", path / "train_history.json"
    with survivors.open("w", encoding="utf-8") as file:
        _write_rows(
            file, (table.from_parquet(view.read(artifacts[name])) for name in names), params
        )
    rows = [
        {"draw": draw, "session": stream.name}
        for stream in split.mode(params.sessions)
        for draw in stream.draws[: stream.holdout_at]
    ]
    history.write_text(json.dumps(rows) + "\n", encoding="utf-8")
    return [survivors, history]


def _write_rows(file: TextIO, pieces: Iterable[pl.DataFrame], params: WindowParams) -> None:
    """Write one JSON object per survivor, chunk by chunk."""
    before = "[\n"
    for piece in pieces:
        for row in piece.iter_rows(named=True):
            # labels stay in the metadata, which models never use as features
            known = (*table.IDS, *table.LABELS)
            ids = {name: row[name] for name in known if name != "seed"}
            body = {"seed": row["seed"], "score": row["hits"] / params.window}
            body |= {"metadata": ids, **{n: row[n] for n in ALL}}
            file.write(before + json.dumps(body))
            before = ",\n"
    file.write("[]\n" if before == "[\n" else "\n]\n")


def adapt_files(
    history: History, survivors: Path, modulus: int
) -> tuple[adapt.Facts, adapt.TrainingParams]:
    """Derive training parameters from exported files as step 4 does, without holdout labels."""
    check_below(history, "--lottery-data", modulus)
    rows = _survivor_rows(survivors)
    last: dict[int, int] = {}
    for stream, cut, *_ in rows:
        last[stream] = max(cut, last.get(stream, cut))
    inner = [(hits, draws) for stream, cut, hits, draws in rows if cut != last[stream] or not cut]
    windows = len({(stream, cut) for stream, cut, *_ in rows if cut != last[stream]})
    facts = adapt.facts_of(max(1, windows), inner, history.draws, modulus)
    return facts, adapt.derive(facts)


def _survivor_rows(path: Path) -> list[tuple[int, int, int, int]]:
    """Read stream, cut and label of each survivor, and check that its features are numbers.

    Files from other programs lack cuts and labels and are read as one window with cut 0, in which
    no survivor held.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileInvalid(f"--survivor-data {path}: {error.strerror}") from None
    try:
        frame = table.from_parquet(data) if data[:4] == b"PAR1" else _json_frame(data, str(path))
        table.check_columns(frame, str(path), PER_SURVIVOR)
        columns = [
            frame[name].to_list() if name in frame.columns else [0] * len(frame)
            for name in ("stream", "cut", *HOLDOUT_FREE)
        ]
    except InputError:
        raise
    except Exception as error:  # the message of polars or json names the problem
        problem = f"{type(error).__name__}: {error}".splitlines()[0]
        raise FileInvalid(f"--survivor-data {path}: {problem[:200]}") from None
    return list(zip(*columns, strict=True))


def _json_frame(data: bytes, where: str) -> pl.DataFrame:
    try:
        raw = json.loads(data)
    except ValueError as error:
        raise FileInvalid(f"{where}: neither Parquet nor JSON: {error}") from None
    if not isinstance(raw, list) or not all(isinstance(row, dict) for row in raw):
        raise FileInvalid(f"{where}: not a list of survivors")
    flat = [
        {**row, **_nested(row, "features"), **_nested(row, "metadata"), "metadata": ""}
        for row in raw
    ]
    frame = pl.DataFrame(flat, infer_schema_length=None)
    return frame.drop("features", strict=False)


def _nested(row: Mapping[str, JsonValue], name: str) -> Mapping[str, JsonValue]:
    """Return a nested object of a row; empty if there is none."""
    inner = row.get(name)
    return inner if isinstance(inner, dict) else {}
