"""F1b: power loss. The disk is rebuilt from the coordinator's own trace, without unsynced data,
and the same command must continue from there. disk_model.py defines what counts as synced.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.case import PREPARED, SHUTTLE
from tests.faults.disk_model import DiskModel, Everything, Nothing, Some
from tests.faults.power import SYNCS, Recorded, choose, lose_power_often, record

SEED = 7001
EVERY = pytest.param(None, marks=pytest.mark.slow, id="every")


@pytest.mark.parametrize("count", [12, EVERY])
def test_power_loss_that_drops_all_unsynced_writes_loses_nothing_reported(
    count: int | None, recorded: Recorded
) -> None:
    chosen = choose(recorded, count, SEED)
    violations = lose_power_often("nothing survives", recorded, lambda _: Nothing(), chosen, SEED)
    assert violations == []


@pytest.mark.parametrize("count", [4, EVERY])
def test_power_loss_that_keeps_some_unsynced_writes_loses_nothing_reported(
    count: int | None, recorded: Recorded
) -> None:
    chosen = choose(recorded, count, SEED + 1)
    some = lambda call: Some(SEED + call)  # noqa: E731
    assert lose_power_often("some survives", recorded, some, chosen, SEED) == []


def test_power_loss_of_an_engine_that_never_syncs_is_noticed(
    tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    careless = record(tmp_path, SHUTTLE, require_tool("strace"), WEFT_FAULTS_NO_SYNC="1")
    assert not any(call.name in SYNCS for call in careless.calls)
    del careless.case.extra["WEFT_FAULTS_NO_SYNC"]
    chosen = choose(careless, 2, SEED)
    violations = lose_power_often("planted: no sync", careless, lambda _: Nothing(), chosen, SEED)
    assert any("is lost" in text for text in violations)
    assert any("ran again" in text for text in violations)


def test_disk_model_without_loss_rebuilds_the_finished_run(
    recorded: Recorded, tmp_path: Path
) -> None:
    model = DiskModel(recorded.case.folder, recorded.finished, PREPARED)
    for call in recorded.calls:
        model.apply(call)
    model.rebuild(tmp_path / "rebuilt", Everything())
    for path in sorted((tmp_path / "rebuilt").rglob("*")):
        twin = recorded.finished / path.relative_to(tmp_path / "rebuilt")
        assert path.is_dir() or path.read_bytes() == twin.read_bytes(), path
    names = {path.name for path in (tmp_path / "rebuilt" / "runs" / "run").iterdir()}
    assert names >= {"ledger.jsonl", "checkpoint", "manifest.sqlite", "run.toml", "objects"}
