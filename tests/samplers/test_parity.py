"""One ledger per study, for every sampler, order of completion, number of sessions and memory.

These runs are inside this process, where the order of completion can be chosen; real workers,
hash seeds and a killed process are in test_example.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import weft.asktell
import weft.optuna
from tests.samplers import lab, objectives
from tests.samplers.lab import digest, run_in
from tests.samplers.objectives import SPACE, bowl
from weft.asktell import history
from weft.model.tasks import SearchCall

X = {"x": SPACE["x"]}
STUDIES: dict[str, Callable[[], SearchCall]] = {
    **{
        name: lambda name=name: weft.optuna.study(bowl, SPACE, trials=13, batch=5, sampler=name)  # type: ignore[misc]
        for name in ("cmaes", "qmc", "nsga2")
    },
    "tpe": lambda: weft.optuna.study(
        bowl, SPACE, trials=11, batch=4, options={"n_startup_trials": 3, "multivariate": True}
    ),
    "grid": lambda: weft.optuna.study(
        bowl, {"x": weft.optuna.Float(-1, 1, step=0.5), "n": weft.optuna.Int(1, 3)},
        trials=100, batch=4, sampler="grid",
    ),
    "own sampler": lambda: weft.optuna.study(
        bowl, SPACE, trials=9, batch=4, sampler="tests.samplers.objectives:own_sampler"
    ),
    "stream": lambda: weft.optuna.study(bowl, SPACE, trials=14, width=4),
    "rungs": lambda: weft.optuna.study(
        objectives.trained, X, trials=18, batch=9, rungs={"epochs": [1, 3, 9]}
    ),
    "two objectives": lambda: weft.optuna.study(
        objectives.two_ways, X, trials=12, batch=4, directions=["minimize", "minimize"]
    ),
    "conditional stream": lambda: weft.optuna.study(
        objectives.kernels, objectives.conditional, trials=12, width=3
    ),
    "failures in a stream": lambda: weft.optuna.study(objectives.brittle, X, trials=12, width=3),
    "own optimizer": lambda: weft.asktell.optimize(
        bowl, objectives.Annealer, trials=12, batch=4, options={"width": 3.0}
    ),
    "one call at a time": lambda: weft.asktell.optimize(
        objectives.vector_bowl, objectives.simplex, trials=14, options={"start": [3.0, -2.0]}
    ),
    "generations": lambda: weft.asktell.optimize(bowl, objectives.evolution, trials=18),
}  # fmt: skip


WAYS: dict[str, dict[str, Any]] = {
    "one slot": {"slots": 1},
    "shuffled": {"order": "shuffled"},
    "sessions": {"order": "backwards", "stops": (3, 4)},
}


def check_parity(folder: Path, study: Callable[[], SearchCall]) -> int:
    """Run in several ways, check that the ledgers are equal, and return the number of orders."""
    digests, orders = {}, set()
    for name, way in WAYS.items():
        digests[name] = digest(run_in(folder / name, study(), **way))
        orders.add(tuple(lab.RAN))
    assert len(set(digests.values())) == 1, digests
    return len(orders)


@pytest.mark.parametrize("name", STUDIES)
def test_study_has_one_ledger_for_all_orders_and_sessions(name: str, tmp_path: Path) -> None:
    orders = check_parity(tmp_path, STUDIES[name])
    assert orders > 1 or name == "one call at a time"


def test_ask_that_depends_on_the_order_of_completion_is_noticed(tmp_path: Path) -> None:
    def planted() -> SearchCall:
        sampler = "tests.samplers.objectives:arrival_sampler"
        return weft.optuna.study(bowl, X, trials=12, batch=4, sampler=sampler)

    with pytest.raises(AssertionError):
        check_parity(tmp_path, planted)


@pytest.mark.parametrize("name", ["tpe", "cmaes", "own optimizer"])
def test_memory_of_a_worker_does_not_change_what_it_samples(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remembered = run_in(tmp_path / "remembered", STUDIES[name]())
    read = history.read

    def read_as_new_worker(state: object) -> object:
        lab.forget()
        return read(state)  # type: ignore[arg-type]

    monkeypatch.setattr(history, "read", read_as_new_worker)
    assert digest(run_in(tmp_path / "forgetful", STUDIES[name]())) == digest(remembered)


def test_optimizer_that_draws_unseeded_numbers_is_refused(tmp_path: Path) -> None:
    call = weft.asktell.optimize(bowl, objectives.UnseededAnnealer, trials=12, batch=4)
    run = run_in(tmp_path, call, stops=(3,))
    assert run.exit_code == 4
    assert "asktell.ask #0 failed: exception" in run.answer.detail
