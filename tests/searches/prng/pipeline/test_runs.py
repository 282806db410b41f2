"""The pipeline from outside: a planted history is predicted, a random one is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.searches.prng.pipeline.conftest import HERE, PLAN, SMALL, Weft, finished_rows
from tests.searches.prng.pipeline.planted import Planted, planted
from weft.inspect.report.hook import pages_for
from weft.inspect.report.view import RunView
from weft.model.codec import from_json, to_json
from weft.model.values import Object
from weft.searches.prng.generate import generate
from weft.searches.prng.history import History
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.pipeline import artifact
from weft.searches.prng.pipeline.adapt import TrainingParams
from weft.searches.prng.pipeline.features import PER_SURVIVOR
from weft.searches.prng.pipeline.search import NAME
from weft.searches.prng.pipeline.summary import artifacts_of, steps_of

pytestmark = pytest.mark.xdist_group("pipeline-runs")


@pytest.fixture(scope="module")
def truth() -> Planted:
    return planted(seeds=1200)


@pytest.fixture(scope="module")
def draws(place: Path) -> Path:
    return place / "draws.csv"


@pytest.fixture(scope="module")
def run(place: Path) -> Path:
    return place / "one"


@pytest.fixture(scope="module")
def view(run: Path) -> RunView:
    return RunView(run, NAME)


def sidecar(view: RunView) -> Any:
    return artifact.unpacked(artifact.SIDECAR, view.read(artifacts_of(view)["sidecar"]))


def genesis(run: Path) -> Any:
    return json.loads((run / "ledger.jsonl").read_bytes().splitlines()[0])["body"]


# -- a planted history ----------------------------------------------------------------------


def test_planted_streams_rank_first_at_the_last_cut(view: RunView, truth: Planted) -> None:
    for claim in sidecar(view)["claims"]:
        active = truth.active(claim["stream"], 335)
        assert (claim["seed"], claim["skip"]) == (active.seed, active.skip)
        assert claim["base"] == -active.first * (active.skip + 1)


def test_planted_holdout_is_above_all_nulls(view: RunView) -> None:
    reruns = sidecar(view)["reruns"]
    assert len(reruns["nulls"]) == 99
    assert reruns["observed"] > max(reruns["nulls"])


def test_planted_predictions_match_how_it_goes_on(run: Path, truth: Planted) -> None:
    answer = json.loads((run / "predictions.json").read_text())
    assert {prediction["stream"]: prediction["next"] for prediction in answer["streams"]} == {
        name: coming[:10] for name, coming in truth.coming.items()
    }
    for stream in answer["streams"]:
        active = truth.active(stream["stream"], 419)
        assert stream["hypothesis"]["seed"] == active.seed
        assert [pool["k"] for pool in stream["hit_at"]] == [1, 20, 100, 300]
        assert [len(stream["pools"][0][k]) for k in ("20", "100", "300")] == [20, 100, 300]


def test_summary_has_all_six_steps_and_passed(place: Path, run: Path) -> None:
    lines = (place / "said.txt").read_text().splitlines()
    numbers = [line.split()[0] for line in lines[:6]]
    assert numbers == ["1", "2.5", "3", "4", "5", "6"]
    assert all("✓" in line for line in lines[:6])
    assert lines[-1].startswith("PASSED  signal")


def test_steps_leave_typed_artifacts(view: RunView) -> None:
    artifacts = {step.step: sorted(step.artifacts) for step in steps_of(view)}
    assert artifacts == {
        "1": ["draws", "split", "survivors", "window"],
        "2.5": ["scorer"],
        "3": ["scored.00000"],
        "4": ["training"],
        "5": ["final", "model", "sidecar"],
        "6": ["predictions"],
    }


def test_sidecar_names_model_features_and_where_they_came_from(view: RunView) -> None:
    about, artifacts = sidecar(view), artifacts_of(view)
    assert about["signal"] is True
    assert about["model_sha256"] == artifacts["model"].digest
    assert about["provenance"]["draws"] == artifacts["draws"].digest
    assert about["provenance"]["scored.00000"] == artifacts["scored.00000"].digest
    assert {trial["kind"] for trial in about["metrics"]["trials"]} == {
        "neural_net", "xgboost", "lightgbm", "random_forest",
    }  # fmt: skip
    assert set(about["libraries"]) >= {"optuna", "polars", "xgboost"}
    assert about["metrics"]["permutation_permille"] <= 20


def test_draws_of_the_run_are_frozen_by_their_content(view: RunView, truth: Planted) -> None:
    frozen = view.read(Object(view.genesis()["inputs"]["draws"]))
    assert History.from_canonical(frozen) == truth.history


def test_second_start_repeats_nothing(weft_says: Weft, run: Path, draws: Path) -> None:
    before = finished_rows(run)
    result = weft_says("prng", "pipeline", draws, "--out", run, *PLAN, "--json", "-q")
    assert result.code == 0
    assert result.json["status"] == "answered"
    assert finished_rows(run) == before


def test_draws_changed_since_are_refused(
    weft_says: Weft, run: Path, draws: Path, tmp_path: Path
) -> None:
    changed = tmp_path / "changed.csv"
    changed.write_text(draws.read_text().replace("\n", "\n1,a\n", 1))
    result = weft_says("prng", "pipeline", changed, "--out", run, *PLAN, "-q")
    assert result.code == 3
    assert "inputs.draws" in result.err


def test_other_trials_than_recorded_are_refused(weft_says: Weft, run: Path, draws: Path) -> None:
    result = weft_says("prng", "pipeline", draws, "--out", run, *PLAN, "--top-k", "9", "-q")
    assert result.code == 3
    assert "top_k" in result.err


def test_report_draws_every_part(view: RunView) -> None:
    [page] = [page for page in pages_for(view) if page.title == "Pipeline"]
    for words in ("Window optimizer", "Survivors:", "Calibration", "Null distribution"):
        assert words in page.html
    assert page.html.count("<svg") == 5


def test_status_shows_the_steps(weft_says: Weft, run: Path) -> None:
    result = weft_says("status", run)
    assert "anti-overfit optimizer" in result.out
    assert "PASSED" in result.out


def test_every_scorer_trial_is_judged_on_the_same_survivors(view: RunView) -> None:
    """Holdout labels of seeds other than the scored ones would be meaningless."""
    trials = [task for task in view.tasks() if task.function == "prng.pipeline.scorer_trial"]
    assert len(trials) == 3
    assert len({task.args["sample"].digest for task in trials}) == 1
    assert len({json.dumps(task.args["requested"]) for task in trials}) == 3


def test_scored_rows_never_pass_through_the_ledger(view: RunView, run: Path) -> None:
    """Rows as text once cut the throughput by a factor of 27; they are passed as objects."""
    [chunk] = [task for task in view.tasks() if task.function == "prng.pipeline.score_chunk"]
    assert chunk.value["rows"] > 50
    assert len(json.dumps(chunk.value["rows"])) < 10
    longest = max(len(line) for line in (run / "ledger.jsonl").read_bytes().splitlines())
    assert longest < 40_000
    assert view.read(chunk.value["scored"])[:4] == b"PAR1"


# -- adapt, --params, --from ----------------------------------------------------------------


@pytest.fixture
def config(weft_says: Weft, run: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    words = ("prng", "adapt", "--mode", "full", "--lottery-data", run / "train_history.json")
    result = weft_says(*words, "--survivor-data", run / "survivors_with_scores.json", "--apply")
    assert result.code == 0, result.err
    return tmp_path / "reinforcement_engine_config.json"


def test_adapt_of_exported_files_is_what_step_4_derived(config: Path, view: RunView) -> None:
    own = artifact.unpacked(artifact.TRAINING, view.read(artifacts_of(view)["training"]))
    assert to_json(from_json(TrainingParams, json.loads(config.read_text()))) == own["training"]


def test_adapt_without_a_feature_names_it(weft_says: Weft, run: Path, tmp_path: Path) -> None:
    rows = json.loads((run / "survivors_with_scores.json").read_text())
    for row in rows:
        del row["pred_mean"]
    (tmp_path / "short.json").write_text(json.dumps(rows))
    words = ("prng", "adapt", "--lottery-data", run / "train_history.json")
    result = weft_says(*words, "--survivor-data", tmp_path / "short.json")
    assert result.code == 3
    assert "lacks feature pred_mean" in result.err


def test_export_keeps_labels_among_the_metadata(run: Path) -> None:
    row = json.loads((run / "survivors_with_scores.json").read_text())[0]
    assert "label_hits" not in row
    assert row["metadata"]["label_draws"] > 0


def test_adapt_reads_nested_features_and_files_without_globals(
    weft_says: Weft, run: Path, tmp_path: Path
) -> None:
    """Files as other programs write them: 48 features under a key, no cuts, no labels."""
    rows = json.loads((run / "survivors_with_scores.json").read_text())
    nested = [
        {"seed": row["seed"], "score": row["score"], "features": {n: row[n] for n in PER_SURVIVOR}}
        for row in rows[:40]
    ]
    (tmp_path / "nested.json").write_text(json.dumps(nested))
    words = ("prng", "adapt", "--lottery-data", run / "train_history.json", "--json")
    result = weft_says(*words, "--survivor-data", tmp_path / "nested.json")
    assert result.code == 0, result.err
    assert (result.json["facts"]["survivors"], result.json["facts"]["held"]) == (40, 0)


@pytest.mark.parametrize(
    "true_survivors",
    [pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow), 5],
)
def test_few_true_survivors_and_few_trials_are_a_signal_and_predicted_with(
    weft_says: Weft, tmp_path: Path, true_survivors: int
) -> None:
    """With too few to train a model, the holdout decides, and hits are the weights of the vote.

    Cuts are 20 draws apart and end at draw 240; the truth can survive only in the windows of 40
    draws before the last cuts. With five of them, the stream is past the searched starts when the
    history ends, so the survivor that held on the holdout is continued.
    """
    seeded_at = 240 - 40 - 20 * (true_survivors - 1)
    generated = generate(Hypothesis("java", "bounded", 1000, 7, start=11), 310 - seeded_at)
    noise = [at * at * 7919 % 1000 for at in range(seeded_at)]
    rows, later = [*noise, *generated[:-10]], generated[-10:]
    (tmp_path / "draws.txt").write_text("\n".join(map(str, rows)))
    out = tmp_path / "run"
    result = weft_says(
        "prng", "pipeline", tmp_path / "draws.txt", "--out", out, "--seeds", "40", "--skips",
        "0:0", "--starts", "0:100", "--window-trials", "1", "--scorer-trials", "1",
        "--model-trials", "1", "--model", "lightgbm", *HERE, "--json", "-q",
    )  # fmt: skip
    assert result.code == 0, result.err
    answer = result.json["answer"]
    assert answer["signal"] is True
    assert "60 of 60 holdout draws" in answer["why"]
    assert answer["streams"][0]["next"] == later


def test_run_from_a_step_names_the_earlier_head(
    weft_says: Weft, run: Path, view: RunView, tmp_path: Path
) -> None:
    out = tmp_path / "later"
    result = weft_says(
        "prng", "pipeline", "--out", out, "--from", "6", run, "--top-k", "7", *HERE, "--json", "-q"
    )
    assert result.code == 0, result.err
    start = genesis(out)["config"]["args"]["start"]
    head = json.loads(weft_says("status", run, "--json").out)["head"]
    assert start["step"] == "6"
    assert start["head"] in json.dumps(head)
    assert [step["done"] for step in result.json["steps"]] == [True] * 6
    assert result.json["answer"]["top_k"] == 7
    names = set(genesis(out)["inputs"])
    assert {"draws", "survivors", "scored.00000", "model", "sidecar"} <= names


def test_run_from_step_4_takes_the_given_parameters(
    weft_says: Weft, run: Path, config: Path, tmp_path: Path
) -> None:
    values = {**json.loads(config.read_text()), "trees": 23}
    config.write_text(json.dumps(values))
    words = ("prng", "pipeline", "--out", tmp_path / "o", "--from", "4", run, "--params", config)
    result = weft_says(*words, "--to", "4", *HERE, "--json", "-q")
    assert (result.code, result.json["status"]) == (0, "paused")
    own = RunView(tmp_path / "o", NAME)
    body = artifact.unpacked(artifact.TRAINING, own.read(artifacts_of(own)["training"]))
    assert (body["training"]["trees"], body["given"]) == (23, True)


def test_model_that_its_sidecar_does_not_name_stops_step_6(
    weft_says: Weft, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = RunView.read

    def swapped(self: RunView, reference: Object) -> bytes:
        data = real(self, reference)
        return data + b"x" if reference.digest == model.digest else data

    model = artifacts_of(RunView(run, NAME))["model"]
    monkeypatch.setattr(RunView, "read", swapped)
    result = weft_says("prng", "pipeline", "--out", tmp_path / "o", "--from", "6", run, "-q")
    assert result.code == 3
    assert "SHA-256 is another" in result.err
    assert not (tmp_path / "o").exists()


# -- a random history -----------------------------------------------------------------------


def test_history_of_the_systems_random_source_is_no_signal(
    weft_says: Weft, noise: Path, tmp_path: Path
) -> None:
    text, out = (noise / "said.txt").read_text(), noise / "one"
    assert text.splitlines()[-1].startswith("FAILED  no signal")
    assert "would have been found: a stream that hits" in text
    assert "not covered: other families" in text
    assert not (out / "predictions.json").exists()
    assert artifacts_of(RunView(out, NAME)).get("predictions") is None
    result = weft_says("prng", "pipeline", "--out", tmp_path / "o", "--from", "6", out, "-q")
    assert result.code == 3
    assert "no signal" in result.err


def test_nothing_that_survives_is_no_signal_and_no_failure(
    weft_says: Weft, draws: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    result = weft_says(
        "prng", "pipeline", draws, "--out", out, "--seeds", "9:10", "--skips", "0:0", "--starts",
        "0:0", "--window-trials", "1", "--scorer-trials", "1", *HERE, "--json", "-q",
    )  # fmt: skip
    assert result.code == 1, result.err
    assert result.json["tasks"]["failed"] == 0
    assert result.json["answer"]["detail"]["why"] == "no hypothesis survived the sieve"
    assert result.json["steps"][0]["count"] == 0
    assert result.json["files"] == []


def test_folder_with_an_old_prediction_is_refused(
    weft_says: Weft, draws: Path, tmp_path: Path
) -> None:
    """A file left by someone else must never pass for this run's prediction."""
    out = tmp_path / "run"
    out.mkdir()
    (out / "predictions.json").write_text("old")
    result = weft_says("prng", "pipeline", draws, "--out", out, *SMALL, "-q")
    assert result.code == 3
    assert [path.name for path in out.iterdir()] == ["predictions.json"]
