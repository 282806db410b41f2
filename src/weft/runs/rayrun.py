"""A run on a Ray cluster: joins it, finds its nodes, builds the backend, leaves it.

The token of a cluster of `weft nodes up` comes from its file; for any other cluster Ray looks
for one itself (RAY_AUTH_TOKEN, RAY_AUTH_TOKEN_PATH, ~/.ray/auth_token). A cluster of this machine
alone gets a new token, listens on the loopback, and has its files in a private folder.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weft.backends.contract import Backend
from weft.backends.privatefolders import private_folder
from weft.backends.process import WorkerSetup
from weft.backends.raynode import NodeSpec, scratch_folder
from weft.cluster import host
from weft.cluster.agent import LONGEST_FOLDER, NO_METRICS, RAY_FOLDER
from weft.cluster.clusters import address_for, token_for
from weft.coordinator.journal import Journal
from weft.errors import InputError, WorldError
from weft.lazy_imports import lazy_imports, require
from weft.model.slots import Node, Slot
from weft.runs.codepacks import CodePacks
from weft.runs.opening import OpenRun
from weft.worker.context import DEVICE
from weft.worker.preflight import Need

with lazy_imports():
    from weft.backends import raybackend, raycheck, raycluster

SESSION = "ray-session"
"""The event that each session leaves; their count distinguishes sessions."""
LOCAL = "local"
"""As an address: start a cluster on this machine, for this run only."""
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # Ray prints node events on stdout; we report them ourselves
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_ENABLE_AUTO_CONNECT": "0",  # a late thread must not start a new cluster
    "RAY_gcs_rpc_server_reconnect_timeout_s": "3600",  # else Ray ends us a minute after its head
    **NO_METRICS,
}
LOOPBACK = "127.0.0.1"
LOOPBACK_ONLY = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Makes Ray use 127.0.0.1 unchanged, and listen only there."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A cluster that we have joined, and the nodes that a run has there."""

    address: str
    nodes: tuple[Node, ...]


@contextlib.contextmanager
def joined(address: str, asked: Sequence[Node], workers: int | None) -> Iterator[Joined]:
    """Join a cluster for the duration of a run; refuses nodes with fewer GPUs than requested."""
    require("--backend ray", "ray")
    known = sys.modules.get("ray")
    mine = known is None or not known.is_initialized()
    if mine:
        address = address or address_for(None)
        _set_environment(address)
    import ray  # noqa: PLC0415 - slow, an extra, and it reads the environment when imported

    with _private_temporary(mine and address == LOCAL) as folder:
        if mine:
            _init(ray, address, workers, folder)
        try:
            yield Joined(address, _nodes(asked))
        finally:
            if mine:
                ray.shutdown()


def _set_environment(address: str) -> None:
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    token = token_for(address)
    if address == LOCAL:
        token = os.environ.get("RAY_AUTH_TOKEN") or secrets.token_hex(32)
        os.environ |= LOOPBACK_ONLY
    if token:
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token}


@contextlib.contextmanager
def _private_temporary(needed: bool) -> Iterator[Path | None]:
    """Yield a folder for Ray's files, which Ray opens to everybody, inside a private one."""
    if not needed:
        yield None
        return
    ours = scratch_folder()
    if len(str(ours / "ray-00000000")) > LONGEST_FOLDER:
        ours = Path("/tmp") / ours.name  # noqa: S108 - checked before use
    folder = Path(tempfile.mkdtemp(prefix="ray-", dir=private_folder(ours.parent, ours.name)))
    try:
        yield folder / RAY_FOLDER
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            ours.rmdir()


def _init(ray: Any, address: str, workers: int | None, folder: Path | None) -> None:
    how: dict[str, Any] = {"address": address}
    if address == LOCAL:
        how = {"num_cpus": workers or host.cpu_count(), "include_dashboard": False}
        how |= {"_temp_dir": str(folder), "_node_ip_address": LOOPBACK}
    try:
        ray.init(log_to_driver=False, logging_level="CRITICAL", namespace="weft", **how)
    except Exception as error:  # Ray raises many kinds
        why = " ".join(str(error).split())[:300]
        raise WorldError(
            f"cannot join the Ray cluster at {address}: {why}", hint="weft nodes check FILE"
        ) from None


def _nodes(asked: Sequence[Node]) -> tuple[Node, ...]:
    """Return the nodes to use: those requested, or else all nodes of the cluster."""
    living = raycluster.living_nodes()
    if not asked:
        return tuple(Node(n.name, n.gpus, n.cpus) for n in living if n.gpus + n.cpus)
    members = raycluster.match([node.name for node in asked], living, host.names_of_here())
    for node in asked:
        member = members.get(node.name)
        if member is not None and member.gpus < node.gpus:
            raise InputError(
                f"node {node.name} has {member.gpus} GPUs in the Ray cluster, "
                f"{node.gpus} are asked",
                hint="weft nodes down FILE, weft nodes up FILE",
            )
    return tuple(asked)


def find_problems(nodes: Sequence[Node], needs: Sequence[Need]) -> dict[str, str]:
    """Return what each node of the joined cluster lacks, by name."""
    return raycheck.find_problems(nodes, needs)


def ray_backend(
    opened: OpenRun, slots: Sequence[Slot], setup: WorkerSetup, journal: Journal, stagger_s: float
) -> Backend:
    """Build the backend of one session of a run, and record the session as an event."""
    session: int = opened.manifest.query("SELECT count(*) FROM events WHERE kind=?", SESSION)[0][0]
    names = list(dict.fromkeys(slot.node for slot in slots))
    journal.event(SESSION, f"nodes: {', '.join(names)}"[:500])
    journal.commit()  # before anything carries this session's marks
    run = f"{opened.run_file.run_id[:12]}-{opened.folder.path.stat().st_ino:x}"
    marks = raybackend.session_marks(setup.marks, session)
    earlier = raybackend.other_marks(setup.marks, session)
    device = setup.environment.get(DEVICE, "auto")
    specs = [
        NodeSpec(
            name,
            run,
            setup.run_seed,
            marks.all,
            earlier,
            setup.run_id,
            device,
            setup.genesis,
            tuple(setup.secret_names),
            setup.outcome_token,
        )
        for name in names
    ]
    packs = CodePacks(lambda: opened.run_file.sources, opened.folder.code)
    cluster = raycluster.Cluster(specs, host.names_of_here())
    return raybackend.RayBackend(replace(setup, marks=marks), slots, cluster, packs, stagger_s)
