"""One real Ray cluster for all tests here: a head without slots and three raylets.

They claim 2, 12 and 12 GPUs that do not exist, which is enough to count and pin them.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.ray.warmserver import warm_workers
from weft.model.slots import Node

GPUS = {"rig-a": 2, "rig-b": 12, "rig-c": 12}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In a parallel test run, a single process has the cluster."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("ray"))


@dataclass
class RayCluster:
    """A cluster on this machine, and its raylets by name."""

    cluster: Any
    address: str
    raylets: dict[str, Any]
    worker_path: str

    def add(self, name: str) -> None:
        self.raylets[name] = self.cluster.add_node(
            num_cpus=2,
            num_gpus=GPUS[name],
            labels={"weft-node": name},
            worker_path=self.worker_path,
            wait=False,
        )

    def kill(self, name: str) -> None:
        """SIGKILL a raylet and all its worker processes."""
        self.cluster.remove_node(self.raylets.pop(name), allow_graceful=False)


@pytest.fixture(scope="package")
def ray_environment() -> Iterator[None]:
    """Token authentication, no usage statistics, and a short path for Ray's sockets."""
    folder = tempfile.mkdtemp(prefix="wr", dir="/tmp")
    more = {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_TMPDIR": folder,
        "RAY_DEDUP_LOGS_SKIP_REGEX": ".",
        "RAY_ENABLE_AUTO_CONNECT": "0",
        "RAY_health_check_period_ms": "300",
        "RAY_worker_niceness": "0",  # by default 15: beside a load, tasks would take minutes
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        "WEFT_NODE_FOLDER": f"{folder}/nodes",
    }
    before = {name: os.environ.get(name) for name in more}
    os.environ.update(more)
    yield
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="package")
def worker_path(ray_environment: None) -> Iterator[str]:
    """The program that raylets start as their workers."""
    with warm_workers(os.environ["RAY_TMPDIR"]) as path:
        yield path


@pytest.fixture(scope="package")
def cluster(worker_path: str) -> Iterator[RayCluster]:
    import ray
    from ray.cluster_utils import Cluster

    spared = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
    head = {"num_cpus": 0, "worker_path": worker_path, **spared}
    started = Cluster(initialize_head=True, head_node_args=head)
    ray_cluster = RayCluster(started, started.address, {}, worker_path)
    for name in GPUS:
        ray_cluster.add(name)
    ray.init(address=started.address, log_to_driver=False, logging_level="CRITICAL")
    started.wait_for_nodes()
    yield ray_cluster
    ray.shutdown()
    started.shutdown()


@pytest.fixture
def rigs() -> tuple[Node, ...]:
    return tuple(Node(name, gpus, 2, 12) for name, gpus in GPUS.items())
