"""`weft nodes check | up | down`: look at nodes, start Ray on them, leave nothing behind.

The head runs on this machine and offers no slots; each node of the file is one raylet that
carries its name. What is written where is in weft.wiring.rayclusters.
"""

from __future__ import annotations

import json
import secrets
import socket
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import weft
from weft.backends.raynode import weft_digest
from weft.errors import NodeUnreachable, UsageError, WorldError
from weft.wiring import nodeagent, nodeprobe
from weft.wiring.nodesfile import NodeEntry, read_entries, read_machines
from weft.wiring.nodessh import Shell
from weft.wiring.rayclusters import FOLDER, ClusterFile, cluster_id, cluster_path

SKEW_S = 2.0
LEAST_DISK_BYTES = 1 << 30
LABEL = "weft-node"
LOOPBACK = "127.0.0.1"
MANY = 32
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NodeReport:
    """What `check` found on a node."""

    node: str
    problem: str = ""
    """Why it cannot serve; empty if it can."""
    notes: tuple[str, ...] = ()
    """What somebody may want to know, and is no problem."""
    python: str | None = None
    weft: str | None = None
    ray: str | None = None
    gpus: tuple[str, ...] = ()
    disk_free_bytes: int | None = None
    clock_skew_s: float | None = None
    sees_us_as: str = ""
    """Our address as the node sees it."""
    address: str = ""
    """Its own address as we reach it."""

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return asdict(self)


def check(path: Path, shell: Shell) -> list[NodeReport]:
    """Ask every node of a file what it is."""
    return _each(read_machines(path), lambda entry: _check(entry, shell))


def up(path: Path, shell: Shell, head_ip: str | None) -> ClusterFile:
    """Start Ray here and on every node of a file; with any trouble nothing stays up."""
    entries, place = read_machines(path), cluster_path(path)
    if place.is_file():
        known = f"the cluster of {path} is up already, as far as we know"
        raise WorldError(known, hint=f"weft nodes down {path}")
    reports = _each(entries, lambda entry: _check(entry, shell))
    for report in reports:
        if report.problem:
            raise WorldError(report.problem)
    ip = head_ip or _head_ip(reports)
    cluster = ClusterFile(f"{ip}:{_free_port(ip)}", secrets.token_hex(32), str(path.absolute()))
    cluster.write(place)
    try:
        _start_head(path, cluster, ip)
        numbered = list(zip(entries, reports, range(len(entries)), strict=True))
        _each(numbered, lambda item: _start(path, cluster, shell, *item))
    except BaseException:
        down(path, shell)
        raise
    return cluster


def down(path: Path, shell: Shell) -> list[str]:
    """Stop what `up` started, here and on every node; return a line for each that failed."""
    entries = read_entries(path)
    numbered = list(zip(entries, range(len(entries)), strict=True))
    troubles = [line for line in _each(numbered, lambda item: _stop(path, shell, *item)) if line]
    if not troubles:
        cluster_path(path).unlink(missing_ok=True)
    head = nodeagent.Order("stop", _folder(path, "head"))
    troubles += [line for line in [nodeagent.stop(head)] if line]
    return troubles


# -- check --------------------------------------------------------------------------------------


def _check(entry: NodeEntry, shell: Shell) -> NodeReport:
    program = Path(nodeprobe.__file__).read_text("utf-8")
    sent_s = time.time()
    try:
        found = shell.ask(entry, "-", program, nodeprobe.MARK)
    except NodeUnreachable as trouble:
        return NodeReport(entry.hostname, str(trouble))
    took_s = time.time() - sent_s
    skew_s = found["time"] - sent_s
    skew_s = 0.0 if 0 <= skew_s <= took_s else min(skew_s, skew_s - took_s, key=abs)
    peer = found["connection"]
    return NodeReport(
        entry.hostname,
        _problem(entry, found),
        tuple(_notes(entry, found, skew_s)),
        found["python"],
        found["weft"],
        found["ray"],
        tuple(found["gpus"]),
        found["disk_free_bytes"],
        round(skew_s, 3),
        peer[0] if peer else LOOPBACK,
        peer[2] if peer else LOOPBACK,
    )


def _problem(entry: NodeEntry, found: dict[str, Any]) -> str:
    """Why a node cannot serve: its versions must be ours, or results could differ."""
    name, ours = f"node {entry.hostname}", ".".join(map(str, sys.version_info[:2]))
    install = f"install weft {weft.__version__} with its extra ray in {found['executable']}"
    if found["python"].rpartition(".")[0] != ours:
        return f"{name}: Python {found['python']}, this is {ours}; name another with python_env"
    if found["weft"] is None:
        return f"{name}: weft is not installed; {install}"
    if found["weft"] != weft.__version__:
        return f"{name}: weft {found['weft']}, this is {weft.__version__}; {install}"
    if found["weft_digest"] != weft_digest():
        return f"{name}: weft {found['weft']} of other source than this one; {install}"
    if found["ray"] != _ray_version():
        has = f"ray {found['ray']}" if found["ray"] else "ray is not installed"
        return f"{name}: {has}, this is {_ray_version()}; {install}"
    return ""


def _ray_version() -> str:
    try:
        return metadata.version("ray")
    except metadata.PackageNotFoundError:
        raise UsageError("Ray is not installed here", hint="pip install 'weft[ray]'") from None


def _notes(entry: NodeEntry, found: dict[str, Any], skew_s: float) -> list[str]:
    notes = []
    if len(found["gpus"]) < entry.gpu_count:
        notes.append(f"{entry.gpu_count} GPUs in the file, {len(found['gpus'])} seen")
    if found["disk_free_bytes"] < LEAST_DISK_BYTES:
        notes.append("less than 1 GiB of disk is free")
    if abs(skew_s) > SKEW_S:
        notes.append(f"its clock is {skew_s:+.1f} s off; times in reports will be, results not")
    return notes


# -- up and down --------------------------------------------------------------------------------


def _start_head(path: Path, cluster: ClusterFile, ip: str) -> None:
    port = cluster.address.rpartition(":")[2]
    options = ["--head", f"--port={port}", f"--node-ip-address={ip}", "--num-cpus=0"]
    options += ["--num-gpus=0", "--include-dashboard=false"]
    order = nodeagent.Order("start", _folder(path, "head"), cluster.token, tuple(options))
    here = NodeEntry(hostname="localhost")
    _told(here, Shell().ask(here, "-m weft.wiring.nodeagent", _written(order), nodeagent.MARK))


def _start(
    path: Path,
    cluster: ClusterFile,
    shell: Shell,
    entry: NodeEntry,
    report: NodeReport,
    number: int,
) -> None:
    node = entry.to_node()
    address = cluster.address.rpartition(":")[0] if report.address == LOOPBACK else report.address
    options = [f"--address={cluster.address}", f"--node-ip-address={address}"]
    options += [f"--num-gpus={node.gpus}", f"--num-cpus={max(1, node.cpus)}"]
    options += ["--labels", f"{LABEL}={entry.hostname}"]
    order = nodeagent.Order("start", _folder(path, f"n{number}"), cluster.token, tuple(options))
    _told(entry, shell.ask(entry, "-m weft.wiring.nodeagent", _written(order), nodeagent.MARK))


def _stop(path: Path, shell: Shell, entry: NodeEntry, number: int) -> str:
    order = nodeagent.Order("stop", _folder(path, f"n{number}"))
    try:
        _told(entry, shell.ask(entry, "-m weft.wiring.nodeagent", _written(order), nodeagent.MARK))
    except WorldError as trouble:
        return str(trouble)
    return ""


def _told(entry: NodeEntry, answer: dict[str, Any]) -> None:
    if answer["problem"]:
        raise WorldError(f"node {entry.hostname}: {answer['problem']}")


def _written(order: nodeagent.Order) -> str:
    return json.dumps(asdict(order))


def _folder(path: Path, name: str) -> str:
    return f"{FOLDER}/{cluster_id(path)}/{name}"


def _head_ip(reports: Sequence[NodeReport]) -> str:
    """Our own address, which the nodes must agree on; those on this machine see the loopback."""
    seen = list(dict.fromkeys(report.sees_us_as for report in reports))
    others = [ip for ip in seen if ip != LOOPBACK]
    if len(others) > 1:
        raise UsageError(
            f"nodes see this machine as {' and '.join(others)}", hint="give one with --head-ip"
        )
    return (others or [LOOPBACK])[0]


def _free_port(ip: str) -> int:
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.bind((ip, 0))
            return int(probe.getsockname()[1])
    except OSError as error:
        raise UsageError(
            f"this machine has no address {ip}: {error.strerror}", hint="give one with --head-ip"
        ) from None


def _each(items: Sequence[Any], ask: Callable[[Any], T]) -> list[T]:
    """Ask all at once, answers in order."""
    with ThreadPoolExecutor(min(MANY, max(1, len(items)))) as pool:
        return list(pool.map(ask, items))
