"""The examples with real workers and real kills: one ledger; then Optuna opens the study."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import optuna
import pytest

import weft.optuna
from tests.samplers.lab import run_in
from tests.samplers.objectives import SPACE, bowl, brittle, trained
from tests.support.commands import COMMAND, run_apart
from tests.support.waiting import wait_until
from tests.workers.lab import arrival_order, ledger_digest
from weft.errors import InputError

pytestmark = pytest.mark.xdist_group("samplers-example")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "samplers"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samplers")
    for file in sorted(EXAMPLES.glob("*.py")):
        shutil.copyfile(file, folder / file.name)
    return folder


@pytest.fixture(scope="module")
def words(place: Path) -> list[str]:
    """The arguments of `weft run` for the tuned classifier, as printed by the example."""
    args = subprocess.run(
        [sys.executable, "tune_digits.py", "--json"], cwd=place, capture_output=True, text=True
    ).stdout
    return ["run", "weft.optuna:study", "--args", args]


@pytest.fixture(scope="module")
def digits(place: Path) -> Path:
    """The example run as its docstring says, with two workers."""
    result = subprocess.run(
        [sys.executable, "tune_digits.py"], cwd=place, capture_output=True, text=True,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "'best'" in result.stdout
    return place / "runs" / "digits"


@pytest.mark.slow
def test_tuned_classifier_has_the_same_ledger_with_eight_workers(
    place: Path, words: list[str], digits: Path
) -> None:
    out = place / "workers-8"
    result = run_apart(place, *words, "--out", out, "--workers", "8", PYTHONHASHSEED="1")
    assert result.code == 0, result
    assert ledger_digest(out) == ledger_digest(digits)
    assert arrival_order(out) != arrival_order(digits)


GATED = """\
    import time
    from pathlib import Path

    entries = Path(__file__).with_name("entries")
    if samples == 800:
        with entries.open("a") as file:
            file.write("in\\n")
        while len(entries.read_text().split()) > 7 and not entries.with_name("gate").exists():
            time.sleep(0.01)
"""


def is_under_way(entries: Path) -> bool:
    """Whether the eighth evaluation on all samples has begun."""
    return entries.is_file() and len(entries.read_text().split()) > 7


def test_tuned_classifier_has_the_same_ledger_with_one_worker_and_a_kill(
    words: list[str], digits: Path, tmp_path: Path
) -> None:
    """The same module, but its eighth evaluation on all samples waits for a gate."""
    source = (EXAMPLES / "tune_digits.py").read_text()
    body = "    x, y = load_digits"
    assert source.count(body) == 1
    (tmp_path / "tune_digits.py").write_text(source.replace(body, GATED + body))
    out, entries = tmp_path / "killed", tmp_path / "entries"
    command = [*COMMAND, *words, "--out", str(out), "--workers", "1", "-q"]
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    with subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        try:
            wait_until(lambda: is_under_way(entries), "the eighth")
        finally:
            process.kill()
    (tmp_path / "gate").touch()
    interrupted, whole = weft.optuna.to_study(out), weft.optuna.to_study(digits)
    ended = [t for t in interrupted.trials if t.state.is_finished()]
    assert 0 < len(ended) < len(whole.trials)
    assert [t.params for t in ended] == [t.params for t in whole.trials[: len(ended)]]
    assert run_apart(digits.parent, "resume", out).code == 0  # in a folder without the module
    assert ledger_digest(out) == ledger_digest(digits)
    assert arrival_order(out) != arrival_order(digits)


def test_callback_example_is_resumed_and_replayed(place: Path, tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "fit_curve.py"], cwd=place, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert "'number': 110" in result.stdout
    outcome = run_apart(tmp_path, "replay", place / "runs" / "curve", "--workers", "3")
    assert outcome.code == 0, outcome
    assert outcome.out.startswith("equal ")


# -- Optuna opens it ---------------------------------------------------------------------------


@pytest.fixture
def storage(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'study.db'}"


def test_optuna_plots_and_loads_the_exported_study(digits: Path, storage: str) -> None:
    exported = weft.optuna.to_study(digits, storage=storage)
    study = optuna.load_study(study_name="digits", storage=storage)
    answer = json.loads((digits / "ledger.jsonl").read_text().splitlines()[-1])["body"]["value"]
    assert study.best_trial.number == answer["best"]["number"]
    assert [t.params for t in study.trials] == [t.params for t in exported.trials]
    states = [t.state.name for t in study.trials]
    assert (states.count("COMPLETE"), states.count("PRUNED")) == (12, 12)
    assert all(t.intermediate_values.keys() <= {200, 800} for t in study.trials)
    assert all(t.duration is not None and t.duration.total_seconds() > 0 for t in study.trials)
    for draw in (
        optuna.visualization.plot_optimization_history,
        optuna.visualization.plot_parallel_coordinate,
        optuna.visualization.plot_intermediate_values,
        optuna.visualization.plot_timeline,
        optuna.visualization.plot_slice,
    ):
        assert draw(study).data


def test_dashboard_shows_the_exported_study(tmp_path: Path, storage: str) -> None:
    from optuna_dashboard import wsgi

    run = run_in(tmp_path, weft.optuna.study(bowl, SPACE, trials=6, batch=3))
    weft.optuna.to_study(run.out, storage=storage, name="bowl")
    app = wsgi(storage)
    [study] = _get(app, "/api/studies")["study_summaries"]
    assert study["study_name"] == "bowl"
    detail = _get(app, f"/api/studies/{study['study_id']}?after=0")
    assert [trial["state"] for trial in detail["trials"]] == ["Complete"] * 6


def _get(app: Callable[..., Iterator[bytes]], path: str) -> Any:
    from wsgiref.util import setup_testing_defaults

    place, _, query = path.partition("?")
    environ: dict[str, Any] = {"PATH_INFO": place, "QUERY_STRING": query}
    setup_testing_defaults(environ)
    status: list[str] = []
    body = b"".join(app(environ, lambda line, headers, *_: status.append(line)))
    assert status == ["200 OK"], body
    return json.loads(body)


def test_study_that_goes_on_in_optuna_knows_the_trials(tmp_path: Path) -> None:
    run = run_in(tmp_path, weft.optuna.study(brittle, {"x": SPACE["x"]}, trials=8, width=3))
    journal = optuna.storages.journal.JournalFileBackend(str(tmp_path / "study.log"))
    study = weft.optuna.to_study(run.out, storage=optuna.storages.JournalStorage(journal))
    assert [t.state.name for t in study.trials].count("FAIL") == run.failed
    study.optimize(lambda trial: trial.suggest_float("x", -5, 5) ** 2, n_trials=1)
    assert len(study.trials) == 9


def test_study_is_exported_without_its_manifest_and_without_times(tmp_path: Path) -> None:
    run = run_in(tmp_path, weft.optuna.study(bowl, SPACE, trials=6, batch=3))
    known = weft.optuna.to_study(run.out)
    for file in run.out.glob("manifest.sqlite*"):
        file.unlink()
    study = weft.optuna.to_study(run.out)
    assert [t.values for t in study.trials] == [t.values for t in known.trials]
    assert known.trials[0].datetime_start is not None


def test_rungs_under_way_are_running_trials(tmp_path: Path) -> None:
    from tests.support.sessions import Sessions

    call = weft.optuna.study(
        trained, {"x": SPACE["x"]}, trials=6, batch=6, rungs={"epochs": [1, 3]}
    )
    sessions = Sessions(tmp_path, call=call)
    sessions.go(stop_after=8)  # one ask, six at the first rung, one of two at the second
    study = weft.optuna.to_study(sessions.folder.path)
    states = [t.state.name for t in study.trials]
    assert len(states) == 6
    assert states.count("RUNNING") >= 5
    assert all(1 in t.intermediate_values for t in study.trials)


def test_export_refuses_what_it_cannot_do_in_a_line(tmp_path: Path, storage: str) -> None:
    run = run_in(tmp_path / "a", weft.optuna.study(bowl, SPACE, trials=2))
    weft.optuna.to_study(run.out, storage=storage)
    with pytest.raises(InputError, match="give another name, or delete that study first"):
        weft.optuna.to_study(run.out, storage=storage)
    with pytest.raises(InputError, match=r"write sqlite:///study\.db"):
        weft.optuna.to_study(run.out, storage="study.db")
    other = weft.asktell.optimize(bowl, "tests.samplers.objectives:Annealer", trials=2)
    with pytest.raises(InputError, match=r"holds asktell\.optimize, not a study"):
        weft.optuna.to_study(run_in(tmp_path / "b", other).out)


def test_export_command_says_where_the_study_is(tmp_path: Path, storage: str) -> None:
    run = run_in(tmp_path, weft.optuna.study(bowl, SPACE, trials=4))
    export = [sys.executable, "-m", "weft.optuna"]
    result = subprocess.run([*export, run.out, storage], capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, f"4 trials of study 'run' in {storage}\n"), (
        result
    )
    second = subprocess.run([*export, run.out, storage], capture_output=True, text=True)
    assert second.returncode == 3
    assert second.stderr.startswith("weft: ")
    assert second.stderr.count("\n") == 1
