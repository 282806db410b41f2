"""Evaluators of other tools, in the formats in which those tools write their results."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.searches.tree.conftest import CONFIG, Wood
from tests.searches.tree.test_result import read
from weft.searches.tree.result import Invalid
from weft.searches.tree.slot import evaluate

SHINKA = {
    "combined_score": 2.635,
    "public": {"centers_str": "centers[0] = (0.5, 0.5)", "num_circles": 26},
    "private": {"reported_sum_of_radii": 2.635},
    "text_feedback": "closer to the corners",
    "execution_time_mean": 0.18,
    "execution_time_std": 0.0,
    "num_valid_runs": 1,
    "num_invalid_runs": 0,
    "all_validation_errors": [],
}
EVO = {
    "score": 0.6,
    "tasks": {"t1": 0.8, "t2": 0.4},
    "tasks_meta": {"t2": {"direction": "min"}},
    "started_at": "2026-05-30T09:00:00+00:00",
    "ended_at": "2026-05-30T09:01:00+00:00",
}


def test_shinka_metrics_count_when_correct_says_so(tmp_path: Path) -> None:
    (tmp_path / "metrics.json").write_text(json.dumps(SHINKA, indent=4))
    (tmp_path / "correct.json").write_text('{\n    "correct": true,\n    "error": null\n}')
    fields = read(tmp_path, "Metrics saved to metrics.json\n", "shinka")
    assert (fields["score"], fields["rows"]) == ("2.635", {"ok": 1, "expected": 1})
    assert fields["notes"] == "closer to the corners"
    assert "execution_time_mean" not in str(fields), "times would make equal runs differ"
    wrong = {"correct": False, "error": "Validation failed: circles overlap"}
    (tmp_path / "correct.json").write_text(json.dumps(wrong))
    fields = read(tmp_path, "", "shinka")
    assert (fields["notes"], fields["rows"]) == (wrong["error"], {"ok": 0, "expected": 1})


def test_evo_score_ranks_and_tasks_are_metrics_without_times(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(json.dumps(EVO))
    fields = read(tmp_path, "", "evo")
    assert fields["score"] == "0.6"
    assert fields["metrics"] == {
        "tasks": {"t1": "0.8", "t2": "0.4"}, "tasks_meta": {"t2": {"direction": "min"}},
    }  # fmt: skip
    for text in ("", '{"tasks": {}}', '{"score": NaN}', '{"score": null}'):
        (tmp_path / "result.json").write_text(text)  # empty: claimed, and never published
        with pytest.raises(Invalid):
            read(tmp_path, "", "evo")


def test_openevolve_result_has_metrics_and_artifacts(tmp_path: Path) -> None:
    body = {"metrics": {"combined_score": 0.5, "timeout": False}, "artifacts": {"stderr": "x"}}
    (tmp_path / "result.json").write_text(json.dumps(body))
    assert read(tmp_path, "", "openevolve") == {
        "score": "0.5", "metrics": {"timeout": False}, "artifacts": {"stderr": "x"},
    }  # fmt: skip
    (tmp_path / "result.json").write_text('{"metrics": {"error": 0.0}, "artifacts": {}}')
    with pytest.raises(Invalid, match="combined_score"):
        read(tmp_path, "", "openevolve")


EVALUATOR = """
import importlib.util
from openevolve.evaluation_result import EvaluationResult
class Half:
    def __float__(self):
        return 0.5
def evaluate(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    metrics = {"combined_score": program.VALUE * 2.0, "share": Half(), "ok": True}
    return EvaluationResult(metrics=metrics, artifacts={"log": b"fine"})
"""


@pytest.mark.parametrize(
    "body", [EVALUATOR, EVALUATOR.replace("def evaluate", "async def evaluate")]
)
def test_openevolve_evaluator_is_called_as_it_is(tmp_path: Path, body: str) -> None:
    (tmp_path / "evaluator.py").write_text(body)
    (tmp_path / "program.py").write_text("VALUE = 21\n")
    argv = [sys.executable, evaluate.__file__, "evaluator.py", "program.py"]
    place = tmp_path / "result.json"
    subprocess.run(argv, cwd=tmp_path, env={"WEFT_RESULT_FILE": str(place)}, check=True)
    fields = read(tmp_path, "", "openevolve")
    assert fields["score"] == "42"
    assert fields["metrics"] == {"share": "0.5", "ok": True}
    assert fields["artifacts"] == {"log": "fine"}


EVO_SCORE = """
import json, os
body = json.load(open("params.json"))
assert os.environ["EVO_EXPERIMENT_ID"] and os.environ["EVO_WORKTREE"] == os.getcwd()
os.makedirs(os.environ["EVO_TRACES_DIR"])
open(os.environ["EVO_TRACES_DIR"] + "/task_t1.json", "w").write('{"task_id": "t1", "score": 1}')
fd = os.open(os.environ["EVO_RESULT_PATH"], os.O_CREAT | os.O_EXCL)
path = os.environ["EVO_RESULT_PATH"]
open(path + ".tmp", "w").write(json.dumps({"score": body["a"] * 10, "tasks": {"t1": 1}}))
os.rename(path + ".tmp", path)
"""
OE_SCORE = (
    "import json\ndef evaluate(path):\n    return {'combined_score': json.load(open(path))['a']}\n"
)


def test_evaluators_of_evo_and_openevolve_rank_in_a_run(wood: Wood) -> None:
    for name, score, argv in (
        ("evo", EVO_SCORE, '"-I", "score.py"'),
        ("openevolve", OE_SCORE, '"{openevolve}", "score.py", "params.json"'),
    ):
        wood.plant(CONFIG.replace('"-I", "score.py"', argv) + f'format = "{name}"\n', score)
        result = wood.run(name, "--beam-width", "1")
        assert result.code == 0, result
        assert wood.verdicts(name)["up-a.md"] == "promoted n1"
