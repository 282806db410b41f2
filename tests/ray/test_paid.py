"""A command that ended on a node is adopted there after a crash, since it was paid for."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ray.conftest import RayCluster
from tests.ray.test_faults import wait_for
from tests.searches.tree.conftest import SCORE, UNCONFINED, Wood
from tests.support.forked import ForkServer
from weft.inspect.report.view import RunView
from weft.searches.tree.search import NAME

ONE_NODE = '[[nodes]]\nhostname = "rig-a"\ngpu_count = 0\ncpu_count = 2\nmax_concurrent = 1\n'
PAID = """
import os, pathlib, time
with open("{calls}", "a") as calls:
    calls.write(os.environ["WEFT_EVAL_ID"] + "\\n")
while os.environ["WEFT_EVAL_ID"] == "e2" and pathlib.Path("{gate}").exists():
    time.sleep(0.02)
"""


@pytest.fixture
def forks() -> Iterator[ForkServer]:
    server = ForkServer("weft.searches.tree.run")
    yield server
    server.close()


@pytest.mark.slow
def test_command_that_ended_on_a_node_is_not_paid_again_after_a_kill(
    cluster: RayCluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    forks: ForkServer,
) -> None:
    """The coordinator is stopped until the command has ended, so that it stores no result."""
    monkeypatch.chdir(tmp_path)
    wood = Wood(tmp_path, capsys, background=forks)
    calls, gate = tmp_path / "calls", tmp_path / "gate"
    wood.plant(UNCONFINED, PAID.format(calls=calls, gate=gate) + SCORE)
    wood.write("nodes.toml", ONE_NODE)
    words = ("--backend", "ray", "--ray-address", cluster.address, "--nodes", "nodes.toml")
    assert wood.run("ref").code == 0
    calls.unlink()
    gate.touch()
    notes = Path(os.environ["WEFT_NODE_FOLDER"])

    def ended() -> list[Path]:
        """Commands whose end is noted on the node and that no coordinator has adopted."""
        return [path for path in notes.glob("*/outcomes/*") if not path.suffix]

    with wood.begin("tree", "run", "tree.toml", "--out", "ray", *words, "-q") as coordinator:
        assert wait_for(lambda: calls.exists() and "e2\n" in calls.read_text(), 120), (
            coordinator.poll()
        )
        before = set(ended())
        coordinator.send_signal(signal.SIGSTOP)
        gate.unlink()
        assert wait_for(lambda: set(ended()) - before, 60), "the end of the command was not noted"
        os.kill(coordinator.pid, signal.SIGKILL)
    result = wood.weft("resume", "ray", "-q")
    assert result.code == 0, result.err
    assert calls.read_text().split() == ["root", "e1", "e2", "e3"], "each was called once"
    adopted = [task.notes for task in RunView(tmp_path / "ray", NAME).tasks()]
    assert sum("adopted_attempt" in (note or {}) for note in adopted) == 1
    assert wood.ledger("ray") == wood.ledger("ref")
    assert ended() == [], "a run that is over leaves nothing on its nodes"
