"""`weft nodes check`: the facts about each node of a file, and the state of Ray there.

A program that needs only the standard library runs first (`probe`); on a node that has this Weft,
its `agent` then reports whether its part of the cluster is alive and where it listens.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import TypeVar

from weft.backends.raynode import weft_digest
from weft.cluster import agent as nodeagent
from weft.cluster import probe as nodeprobe
from weft.cluster.clusters import FOLDER, cluster_id, cluster_path
from weft.cluster.nodesfile import NodeEntry, read_machines
from weft.cluster.ssh import Shell
from weft.errors import NodeUnreachable
from weft.lazy_imports import require
from weft.model.values import Argument
from weft.version import __version__

SKEW_S = 2.0
LEAST_DISK_BYTES = 1 << 30
LOOPBACK = "127.0.0.1"
HEAD = "head"
AGENT = "-m weft.cluster.agent"
MANY = 32
S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NodeReport:
    """What `check` found on a node."""

    node: str
    problem: str = ""
    """Why it cannot serve; empty if it can."""
    notes: tuple[str, ...] = ()
    """Remarks that are not problems."""
    python: str | None = None
    weft: str | None = None
    ray: str | None = None
    gpus: tuple[str, ...] = ()
    disk_free_bytes: int | None = None
    clock_skew_s: float | None = None
    sees_us_as: str = ""
    """Our address as the node sees it."""
    address: str = ""
    """The node's own address at which we reach it."""
    ray_runs: bool = False
    """Whether Ray runs there for this node file."""
    ports: tuple[str, ...] = ()
    """Where Ray listens there: address:port and process."""

    def to_dict(self) -> dict[str, Argument]:
        """Return the JSON form."""
        return asdict(self)


def check(path: Path, shell: Shell) -> list[NodeReport]:
    """Report on every node of a file, and whether its part of the cluster is alive."""
    numbered = list(enumerate(read_machines(path)))
    is_up = cluster_path(path).is_file()
    return each(numbered, lambda item: inspect_node(path, shell, is_up, *item))


def check_head(path: Path) -> NodeReport | None:
    """Report on the head of a node file's cluster; None if no cluster is up."""
    if not cluster_path(path).is_file():
        return None
    here = NodeEntry(hostname="localhost")
    report = _inspected(NodeReport("head"), here, Shell(), node_folder(path, HEAD), HEAD)
    if report.problem or report.ray_runs:
        return report
    problem = f"the head of Ray on this machine is gone; weft nodes up {path}"
    return replace(report, problem=problem)


def inspect_node(
    path: Path, shell: Shell, is_up: bool, number: int, entry: NodeEntry
) -> NodeReport:
    """Report on a node and, if it can serve, on Ray there, which should run if `is_up`."""
    report = _check(entry, shell)
    if report.problem:
        return report
    report = _inspected(report, entry, shell, node_folder(path, f"n{number}"), "node")
    if not is_up or report.problem or report.ray_runs:
        return report
    problem = f"node {entry.hostname}: Ray does not run there, though the cluster is up"
    return replace(report, problem=f"{problem}; weft nodes up {path}")


def _inspected(
    report: NodeReport, entry: NodeEntry, shell: Shell, folder: str, kind: str
) -> NodeReport:
    """Return the report with the answer of the node's agent, which refuses unsafe folders."""
    order = nodeagent.Order("inspect", folder)
    try:
        answer: nodeagent.AgentAnswer = shell.ask(entry, AGENT, order_text(order), nodeagent.MARK)
    except NodeUnreachable as trouble:
        return replace(report, problem=str(trouble))
    if answer["problem"]:
        return replace(report, problem=f"node {entry.hostname}: {answer['problem']}")
    ports = tuple(f"{_bracketed(ip)}:{port} {name}" for ip, port, name in answer["ports"])
    return replace(report, ray_runs=kind in answer["running"], ports=ports)


def _bracketed(ip: str) -> str:
    """Return an address as it is written before a port."""
    plain = ip.removeprefix("::ffff:")
    return f"[{plain}]" if ":" in plain else plain


def _check(entry: NodeEntry, shell: Shell) -> NodeReport:
    program = Path(nodeprobe.__file__).read_text("utf-8")
    sent_s = time.time()
    try:
        facts: nodeprobe.MachineFacts = shell.ask(entry, "-", program, nodeprobe.MARK)
    except NodeUnreachable as trouble:
        return NodeReport(entry.hostname, str(trouble))
    took_s = time.time() - sent_s
    skew_s = facts["time"] - sent_s
    skew_s = 0.0 if 0 <= skew_s <= took_s else min(skew_s, skew_s - took_s, key=abs)
    peer = facts["connection"]
    return NodeReport(
        entry.hostname,
        _problem(entry, facts),
        tuple(_notes(entry, facts, skew_s)),
        facts["python"],
        facts["weft"],
        facts["ray"],
        tuple(facts["gpus"]),
        facts["disk_free_bytes"],
        round(skew_s, 3),
        peer[0] if peer else LOOPBACK,
        peer[2] if peer else LOOPBACK,
    )


def _problem(entry: NodeEntry, facts: nodeprobe.MachineFacts) -> str:
    """Return why a node cannot serve: its versions must match ours, or results could differ."""
    name, our_python = f"node {entry.hostname}", ".".join(map(str, sys.version_info[:2]))
    install = f"install weft {__version__} with its extra ray in {facts['executable']}"
    if facts["python"].rpartition(".")[0] != our_python:
        return (
            f"{name}: Python {facts['python']}, this is {our_python}; name another with python_env"
        )
    if facts["weft"] is None:
        return f"{name}: weft is not installed; {install}"
    if facts["weft"] != __version__:
        return f"{name}: weft {facts['weft']}, this is {__version__}; {install}"
    if facts["weft_digest"] != weft_digest():
        return f"{name}: weft {facts['weft']} of other source than this one; {install}"
    if facts["ray"] != _ray_version():
        installed = f"ray {facts['ray']}" if facts["ray"] else "ray is not installed"
        return f"{name}: {installed}, this is {_ray_version()}; {install}"
    return ""


def _ray_version() -> str:
    require("weft nodes", "ray")
    return metadata.version("ray")


def _notes(entry: NodeEntry, facts: nodeprobe.MachineFacts, skew_s: float) -> list[str]:
    notes = []
    if len(facts["gpus"]) < entry.gpu_count:
        notes.append(f"{entry.gpu_count} GPUs in the file, {len(facts['gpus'])} seen")
    if facts["disk_free_bytes"] < LEAST_DISK_BYTES:
        notes.append("less than 1 GiB of disk is free")
    if abs(skew_s) > SKEW_S:
        notes.append(f"its clock is {skew_s:+.1f} s off; times in reports will be, results not")
    return notes


def order_text(order: nodeagent.Order) -> str:
    """Return an order as the agent reads it."""
    return json.dumps(asdict(order))


def node_folder(path: Path, name: str) -> str:
    """Return the folder of a node, or of the head, on its machine."""
    return f"{FOLDER}/{cluster_id(path)}/{name}"


def each(items: Sequence[S], ask: Callable[[S], T]) -> list[T]:
    """Ask all in parallel; return the answers in order."""
    with ThreadPoolExecutor(min(MANY, max(1, len(items)))) as pool:
        return list(pool.map(ask, items))
