"""What run.toml records of an execution, and what a resume may change of it."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from weft.errors import FileInvalid, UsageError
from weft.model.slots import Node
from weft.model.values import JsonValue
from weft.runs.execution import Execution, ExecutionChanges
from weft.runs.remember import recalled, remembered
from weft.storage.disk import Disk
from weft.storage.folder import RunFile, RunFolder

NODES = (Node("alpha", 2, 1, allow_paths=("/data",)), Node("beta", 0, 4))
OTHER = (Node("gamma", 1),)
REMEMBERED = (
    "workers", "backend", "nodes", "placement", "stagger_s", "group_cap", "device", "keep",
)  # fmt: skip


def run_file(table: dict[str, JsonValue]) -> RunFile:
    return RunFile(run_id="0" * 32, search="s", search_path="", imports={}, execution=table)


def resumed(execution: Execution, changes: ExecutionChanges | None = None) -> Execution:
    folder = RunFolder(execution.out)
    folder.path.mkdir(exist_ok=True)
    folder.write_run_file(run_file(remembered(execution, slots=9)), Disk())
    return recalled(folder, folder.read_run_file(), changes)


def test_execution_is_recalled_as_it_was_remembered(tmp_path: Path) -> None:
    execution = Execution(
        tmp_path / "run", 3, nodes=NODES, placement="static", group_cap=2, stagger_s=0.5,
        device="cpu", keep=("failed",), base=tmp_path,
    )  # fmt: skip
    second = resumed(execution)
    for name in REMEMBERED:
        assert getattr(second, name) == getattr(execution, name), name
    assert (second.accept, second.wall_limit_s, second.sign_key) == ((), None, None)


def test_changes_replace_what_they_name_and_nothing_else(tmp_path: Path) -> None:
    execution = Execution(tmp_path / "run", 3, nodes=NODES, placement="static", base=tmp_path)
    before = resumed(execution)
    key = tmp_path / "key.pem"
    for values in (
        {"workers": 5},
        {"backend": "serial"},
        {"placement": "greedy"},
        {"stagger_s": 2.0},
        {"accept": ("code",), "wall_limit_s": 9.0, "sign_key": key},
    ):
        assert resumed(execution, ExecutionChanges(**values)) == replace(before, **values)


def test_other_nodes_bring_their_own_number_of_workers(tmp_path: Path) -> None:
    execution = Execution(tmp_path / "run", 3, nodes=NODES)
    assert resumed(execution, ExecutionChanges(nodes=OTHER)).workers is None
    second = resumed(execution, ExecutionChanges(nodes=OTHER, workers=2))
    assert (second.nodes, second.workers) == (OTHER, 2)


def test_run_that_leaves_its_cluster_leaves_the_nodes_and_the_address(tmp_path: Path) -> None:
    execution = Execution(tmp_path / "run", 3, "ray", nodes=NODES, ray_address="10.0.0.1:6379")
    second = resumed(execution, ExecutionChanges(backend="ray"))
    assert (second.nodes, second.ray_address) == (NODES, "10.0.0.1:6379")
    leaves = resumed(execution, ExecutionChanges(backend="local"))
    assert (leaves.nodes, leaves.ray_address, leaves.workers) == ((), "", 3)
    changed = resumed(execution, ExecutionChanges(backend="local", nodes=OTHER))
    assert changed.nodes == OTHER


def test_changes_are_checked_like_a_new_execution(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^workers must be 1 to"):
        resumed(Execution(tmp_path / "run"), ExecutionChanges(workers=0))
    with pytest.raises(UsageError, match="--ray-address needs --backend ray"):
        resumed(Execution(tmp_path / "run"), ExecutionChanges(ray_address="x:1"))


@pytest.mark.parametrize(
    "table",
    [
        {"workers": "two"},
        {"workers": True},
        {"nodes": "alpha"},
        {"nodes": ["alpha"]},
        {"nodes": [{**asdict(OTHER[0]), "allow_paths": "/data"}]},
        {"nodes": [{**asdict(OTHER[0]), "allow_paths": [1]}]},
        {"nodes": [{"name": "alpha", "colour": "red"}]},
        {"nodes": [{"name": "alpha", "gpus": -1}]},
    ],
)
def test_altered_run_file_is_refused_and_named(tmp_path: Path, table: dict[str, JsonValue]) -> None:
    with pytest.raises(FileInvalid, match=r"run\.toml: execution\."):
        recalled(RunFolder(tmp_path), run_file(table))
