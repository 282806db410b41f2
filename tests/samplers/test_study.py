"""The decisions of a study: samplers that learn, rungs, failures, several objectives, refusals."""

from __future__ import annotations

import importlib.metadata
import json
import sys
from pathlib import Path
from typing import Any

import pytest

import weft
import weft.asktell
import weft.optuna
from tests.samplers import objectives
from tests.samplers.lab import run_in
from tests.samplers.objectives import SPACE, bowl
from tests.support.commands import run_apart
from tests.support.purity import check_pure, check_search
from weft.errors import InputError, SearchInvalid
from weft.model.values import encode
from weft.optuna.space import space_of

X = {"x": SPACE["x"]}


@pytest.mark.parametrize(
    "name", ["asktell/search.py", "asktell/trials.py", "optuna/plan.py", "optuna/search.py"]
)
def test_decisions_depend_on_their_arguments_only(name: str) -> None:
    source = (Path(weft.__file__).parent / name).read_text("utf-8")
    assert check_pure(source) + check_search(source) == []


def test_tpe_learns_from_what_it_is_told(tmp_path: Path) -> None:
    call = weft.optuna.study(bowl, SPACE, trials=40, batch=8)
    run = run_in(tmp_path, call)
    values = [r.value for r in run.results() if r.function == bowl.name]
    assert run.answer["best"]["value"] == min(values) < 1.5
    assert sum(values[-16:]) < 0.5 * sum(values[:16])
    assert len({r.args_text for r in run.results() if r.function == bowl.name}) > 35


def test_maximize_and_fixed_arguments_and_seed(tmp_path: Path) -> None:
    call = weft.optuna.study(
        objectives.shifted, X, trials=8, direction="maximize", sampler="random", fixed={"by": 1}
    )
    run = run_in(tmp_path, call)
    evaluated = [r for r in run.results() if r.function == objectives.shifted.name]
    assert {r.args["by"] for r in evaluated} == {1}
    assert run.answer["best"]["value"] == max(r.value for r in evaluated)


def test_rungs_promote_the_best_third_and_prune_the_others(tmp_path: Path) -> None:
    call = weft.optuna.study(
        objectives.trained, X, trials=9, batch=9, rungs={"epochs": [1, 3, 9]}, sampler="random"
    )
    run = run_in(tmp_path, call, "backwards")
    rounds: dict[int, list[float]] = {}
    for result in run.results()[1:]:
        rounds.setdefault(result.args["epochs"], []).append(result.args["x"])
    assert [len(xs) for xs in rounds.values()] == [9, 3, 1]
    best = sorted(rounds[1], key=abs)
    assert sorted(rounds[3], key=abs) == best[:3]
    assert rounds[9] == best[:1]
    assert run.answer["trials"] == {"complete": 1, "failed": 0, "pruned": 8}
    assert run.answer["best"]["params"]["x"] == best[0]


def test_rungs_hand_a_checkpoint_on(tmp_path: Path) -> None:
    call = weft.optuna.study(objectives.continued, X, trials=4, batch=4, rungs={"epochs": [2, 8]})
    run = run_in(tmp_path, call)
    [last] = [r for r in run.results()[1:] if r.args["epochs"] == 8]
    assert last.args["checkpoint"] == {"epochs": 2}
    assert run.answer["best"]["value"] == abs(last.args["x"]) + 2 / 1000


@pytest.mark.parametrize("how", [{"batch": 4}, {"width": 4}])
def test_failed_trials_are_told_as_failed(how: dict[str, int], tmp_path: Path) -> None:
    run = run_in(tmp_path, weft.optuna.study(objectives.brittle, X, trials=24, **how))  # type: ignore[arg-type]
    assert run.answer["trials"]["failed"] == run.failed > 0
    assert run.answer["trials"]["complete"] == 24 - run.failed
    trials = [t for r in run.results() if "told" in r.args for t in r.args["told"]]
    assert {t["state"] for t in trials} == {"complete", "failed"}
    assert all(t["values"] == [] for t in trials if t["state"] == "failed")


def test_all_trials_failed_is_unknown_with_exit_code_4(tmp_path: Path) -> None:
    space = {"x": weft.optuna.Float(-2, -1)}
    run = run_in(tmp_path, weft.optuna.study(objectives.brittle, space, trials=4))
    assert (run.exit_code, run.answer.detail) == (4, "none of 4 trials was completed")


def test_limits_of_the_objective_hold(tmp_path: Path) -> None:
    call = weft.optuna.study(objectives.brittle, X, trials=4)
    plan: Any = call.args["plan"]
    limits = plan["objective"]["limits"]
    assert (limits["timeout_s"], limits["retries"]) == (30.0, 1)


def test_inputs_of_the_run_are_arguments_of_the_objective() -> None:
    body = weft.optuna.study(bowl, X, trials=1).start({"inputs": {"data": weft.Object("0" * 64)}})
    next(body)  # the milestone
    [ask] = body.send(None)
    value = encode({"points": [{"params": {"x": 0.5}}], "state": weft.Object("1" * 64)})
    [call] = body.send([weft.Result(0, "k", ask.function, "{}", value, None)])
    assert call.args == {"data": weft.Object("0" * 64), "x": 0.5}


def test_two_objectives_give_a_front(tmp_path: Path) -> None:
    call = weft.optuna.study(
        objectives.two_ways, X, trials=20, directions=["minimize", "minimize"], sampler="nsga2"
    )
    front = run_in(tmp_path, call).answer["front"]
    assert front
    points = sorted(trial["value"] for trial in front)
    assert [b for _, b in points] == sorted((b for _, b in points), reverse=True)


def test_conditional_space_gives_each_trial_its_own_parameters(tmp_path: Path) -> None:
    call = weft.optuna.study(objectives.kernels, objectives.conditional, trials=16, batch=4)
    run = run_in(tmp_path, call)
    names = {tuple(sorted(r.args)) for r in run.results() if r.function == objectives.kernels.name}
    assert names == {("gamma", "kernel"), ("degree", "kernel")}


def test_grid_ends_when_every_point_was_tried(tmp_path: Path) -> None:
    space = {"x": weft.optuna.Float(0, 1, step=0.25), "kind": weft.optuna.Categorical("a", "b")}
    run = run_in(tmp_path, weft.optuna.study(bowl, space, trials=99, batch=4, sampler="grid"))
    points = [(r.args["x"], r.args["kind"]) for r in run.results() if r.function == bowl.name]
    assert sorted(points) == [(i / 4, kind) for i in range(5) for kind in "ab"]


def test_genesis_has_the_versions_that_decide(tmp_path: Path) -> None:
    call = weft.optuna.study(bowl, SPACE, trials=2, sampler="cmaes", libraries=["scikit-learn"])
    run = run_in(tmp_path, call)
    first = json.loads((run.out / "ledger.jsonl").read_text().splitlines()[0])
    expected = ("optuna", "numpy", "cmaes", "scikit-learn")
    versions = {name: importlib.metadata.version(name) for name in expected}
    assert first["body"]["libraries"] == versions


def test_space_takes_optunas_distributions_and_plain_data() -> None:
    import optuna

    kinds = optuna.distributions
    optunas = {
        "x": kinds.FloatDistribution(-5, 5),
        "n": kinds.IntDistribution(1, 8),
        "kind": kinds.CategoricalDistribution(["a", "b", None]),
    }
    plain = json.loads(json.dumps(space_of(SPACE)))
    assert space_of(SPACE) == space_of(optunas) == space_of(plain)  # type: ignore[arg-type]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "sampler": ({"sampler": "annealing"}, "there is no sampler 'annealing'; use cmaes, gp, grid"),
    "direction": ({"direction": "up"}, "a direction is 'minimize' or 'maximize', not 'up'"),
    "trials": ({"trials": 0}, "trials must be a count of 1 or more, not 0"),
    "both": ({"batch": 2, "width": 2}, "give batch or width"),
    "stream": ({"sampler": "qmc", "width": 2}, "sampler qmc keeps a state between asks"),
    "rungs": ({"width": 2, "rungs": {"n": [1, 2]}}, "rungs compare the trials of a batch"),
    "levels": ({"rungs": {"n": [3, 1]}}, "n needs two or more levels in ascending order"),
    "resource": ({"rungs": {"epochs": [1, 3]}}, "takes no parameter 'epochs'"),
    "fixed": ({"fixed": {"speed": 1}}, "takes no parameter 'speed'"),
    "grid": ({"sampler": "grid"}, "a grid needs a step for every Float"),
    "objective": ({"objective": "tests.samplers.objectives:SPACE"}, "is not a @weft.task function"),
    "module": ({"objective": "nowhere:f"}, "objective nowhere:f: there is no module nowhere"),
    "path": ({"objective": "bowl"}, "'bowl' is not an import path; write module:function"),
    "bounds": ({"space": {"x": weft.optuna.Float(2, 1)}}, "parameter 'x': low 2 is above high 1"),
    "log": ({"space": {"x": weft.optuna.Float(0, 1, log=True)}}, "low must be above 0"),
    "options": ({"space": {"x": weft.optuna.Categorical()}}, "parameter 'x': give options"),
    "field": ({"space": {"x": {"type": "float", "low": 0}}}, "Float.high is missing"),
    "no space": ({"space": {}}, "a space names at least one parameter"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_study_is_refused_in_a_line(name: str) -> None:
    changes, words = REFUSED[name]
    with pytest.raises(InputError) as caught:
        weft.optuna.study(**{"objective": bowl, "space": X, "trials": 4, **changes})
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("module", "sampler", "command"),
    [
        ("optuna", "tpe", "pip install 'weft[optuna]'"),
        ("cmaes", "cmaes", "pip install 'weft[optuna]'"),
        ("torch", "gp", "pip install torch"),
    ],
)
def test_missing_library_is_one_line_with_its_command(
    module: str, sampler: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SearchInvalid, match="which is not installed") as caught:
        weft.optuna.study(bowl, X, trials=4, sampler=sampler)
    assert str(caught.value).endswith(command)


def test_objective_that_returns_no_number_stops_the_study(tmp_path: Path) -> None:
    with pytest.raises(SearchInvalid, match=r"wordy returned 'much'; an objective returns a numb"):
        run_in(tmp_path, weft.optuna.study(objectives.wordy, X, trials=4))


# -- other optimizers --------------------------------------------------------------------------


def test_own_optimizer_is_told_everything_and_may_end(tmp_path: Path) -> None:
    call = weft.asktell.optimize(bowl, objectives.Annealer, trials=80, batch=7)
    run = run_in(tmp_path, call)
    assert run.answer["trials"]["complete"] == 50
    assert run.answer["best"]["value"] < 1.5


def test_callback_optimizer_does_what_it_does_by_itself(tmp_path: Path) -> None:
    points: list[list[float]] = []

    def record(x: Any) -> float:
        points.append(x.tolist())
        return objectives.vector_bowl.function(x.tolist())

    objectives.simplex(record, seed=0, start=[3.0, -2.0])
    call = weft.asktell.optimize(
        objectives.vector_bowl, objectives.simplex, trials=99, options={"start": [3.0, -2.0]}
    )
    run = run_in(tmp_path, call)
    name = objectives.vector_bowl.name
    assert [r.args["x"] for r in run.results() if r.function == name] == points


def test_generation_of_a_callback_optimizer_is_one_round(tmp_path: Path) -> None:
    run = run_in(tmp_path, weft.asktell.optimize(bowl, objectives.evolution, trials=99))
    lines = [json.loads(line) for line in (run.out / "ledger.jsonl").read_text().splitlines()]
    rounds = [line["body"]["round"] for line in lines if line["kind"] == "result"]
    sizes = [rounds.count(n) for n in sorted(set(rounds))]
    assert sizes == [1, 8, 1, 8, 1, 8, 1, 8, 1]


def test_arguments_that_a_study_does_not_take_are_one_line(tmp_path: Path) -> None:
    result = run_apart(tmp_path, "run", "weft.optuna:study", "--out", "run", "--args", "{}")
    result.check_one_line(3, "call of search weft.optuna:study", "objective")
    assert not (tmp_path / "run").exists()
