"""The ray backend satisfies the contract of all backends."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.ray.conftest import RayCluster
from weft.backends.orphans import Marks
from weft.backends.process import WorkerSetup
from weft.model.slots import Node, slots_of
from weft.testing import conformance


def setup_in(tmp_path: Path) -> WorkerSetup:
    return WorkerSetup(
        run_seed=conformance.RUN_SEED,
        objects=tmp_path / "objects",
        staging=tmp_path / "objects" / "staging",
        logs=tmp_path / "logs",
        attempts=tmp_path / "attempts",
        path=list(sys.path),
        environment=dict(os.environ),
        marks=Marks.of(str(tmp_path)),
    )


@pytest.mark.parametrize(
    "check", conformance.CHECKS + conformance.PROCESS_CHECKS, ids=lambda check: check.__name__
)
def test_ray_backend_keeps_the_contract(check, cluster: RayCluster, tmp_path: Path) -> None:
    from weft.backends.raybackend import RayBackend
    from weft.backends.raycluster import Cluster
    from weft.backends.raynode import NodeSpec

    setup = setup_in(tmp_path)
    nodes = [Node("rig-a", cpus=2)]
    specs = [NodeSpec(n.name, "conform", conformance.RUN_SEED, setup.marks.all, ()) for n in nodes]

    def make() -> RayBackend:
        return RayBackend(setup, slots_of(nodes), Cluster(specs, ()), tuple)

    check(make)
