"""F1 to F3 on a Ray cluster: while tasks run, the coordinator is killed or one of its calls fails.

Workers on the nodes record each execution in one file: no committed task ever runs again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.faults.case import FREQUENT_CHECKPOINTS, HERE, Case, Search
from tests.faults.conftest import Counted
from tests.faults.points import count_points, distinct, drawn_by_path, fail_on_path, sample
from tests.faults.test_io_errors import fail_each, one_of_each_fault, plan
from tests.faults.test_kill_points import (
    SEED,
    first_calls,
    kill_before_append,
    kill_once_each,
    kill_twice_each,
)
from tests.support.checker import Reference, check_executed, check_finished

NODE = '[[nodes]]\nhostname = "rig-a"\ngpu_count = 0\ncpu_count = 2\nmax_concurrent = 2\n'
KILLS = 12
SECOND_KILLS = 4


class RayCase(Case):
    """A run on the cluster. One runs at a time, and starts with no recorded executions."""

    def __init__(self, noted: Path, folder: Path, search: Search) -> None:
        super().__init__(folder, search)
        self.executions = noted
        noted.unlink(missing_ok=True)


@pytest.fixture(scope="module")
def noted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("noted") / "executions.jsonl"


@pytest.fixture(scope="module")
def address(ray_environment: None, noted: Path) -> Iterator[str]:
    """A cluster of one node whose workers record their executions."""
    from ray.cluster_utils import Cluster

    spared = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(HERE / "counting"))
        patch.setenv("WEFT_FAULTS_EXECUTIONS", str(noted))
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **spared})
        cluster.add_node(num_cpus=2, labels={"weft-node": "rig-a"})
    yield cluster.address
    cluster.shutdown()


@pytest.fixture(scope="module", params=["ray"])
def counted(
    address: str,
    noted: Path,
    tmp_path_factory: pytest.TempPathFactory,
    require_tool: Callable[[str], str],
) -> Counted:
    words = ("run", f"{HERE / 'shuttle.py'}:shuttle", "--out", "OUT", "-q", "--backend", "ray",
             "--ray-address", address, "--nodes", "nodes.toml")  # fmt: skip
    search = Search("ray", "", {}, FREQUENT_CHECKPOINTS, words, write_nodes)
    new_case = partial(RayCase, noted)
    case = new_case(tmp_path_factory.mktemp("counted") / "case", search)
    points = distinct(count_points(case, require_tool("strace")))
    reference = Reference.of(case.out)
    assert check_finished(case.place, reference) == []
    assert len(case.executed()) > 20, "executions on the cluster are counted"
    assert check_executed(case.out, case.executed()) == []
    return Counted(search, reference, points, require_tool("strace"), new_case)


def write_nodes(folder: Path) -> None:
    (folder / "nodes.toml").write_text(NODE)


@pytest.mark.slow
def test_coordinator_of_a_cluster_killed_at_sampled_calls_resumes_to_the_same_ledger(
    counted: Counted, tmp_path: Path
) -> None:
    kill_once_each(tmp_path, counted, sample(counted.points, KILLS, SEED))


@pytest.mark.slow
def test_recovery_on_a_cluster_killed_at_its_first_calls_resumes_to_the_same_ledger(
    counted: Counted, tmp_path: Path
) -> None:
    first = [kill_before_append(tmp_path, counted)]
    every = len(first_calls(counted.points)) // SECOND_KILLS
    kill_twice_each(tmp_path, counted, first, lambda again: first_calls(again)[::every])


@pytest.mark.slow
def test_call_that_fails_stops_a_run_on_a_cluster_with_its_reason_and_resumes(
    counted: Counted, tmp_path: Path
) -> None:
    rows = one_of_each_fault(plan(drawn_by_path(counted.points, SEED)))
    fail_each(tmp_path, counted, rows, fail_on_path)
