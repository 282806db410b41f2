"""`weft nodes up | down`: starts Ray on nodes, restarts dead ones, leaves nothing behind.

The head runs on this machine and offers no slots; each node of the file is one raylet labelled
with its name. weft.cluster.clusters describes the files.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import Sequence
from pathlib import Path

from weft.cluster import agent as nodeagent
from weft.cluster.check import (
    AGENT,
    HEAD,
    LOOPBACK,
    NodeReport,
    check_head,
    each,
    inspect_node,
    node_folder,
    order_text,
)
from weft.cluster.clusters import ClusterFile, cluster_id, cluster_path, our_folder
from weft.cluster.nodesfile import NodeEntry, read_entries, read_machines
from weft.cluster.ssh import Shell
from weft.errors import UsageError, WorldError

LABEL = "weft-node"


def up(path: Path, shell: Shell, head_ip: str | None) -> ClusterFile:
    """Start Ray here and on every node of a file; if anything fails, nothing stays up.

    In a cluster that is already up, only dead nodes are restarted.
    """
    entries, place = read_machines(path), cluster_path(path)
    our_folder(cluster_id(path), HEAD, make=False)
    if (head := check_head(path)) is not None and head.ray_runs:
        return _repair(path, shell, entries)
    if head is not None and (troubles := down(path, shell)):
        raise WorldError(troubles[-1])
    reports = _serving(path, shell, entries)
    ip = head_ip or _head_ip(reports)
    cluster = ClusterFile(f"{ip}:{_free_port(ip)}", secrets.token_hex(32), str(path.absolute()))
    cluster.write(place)
    try:
        _start_head(path, cluster, ip)
        numbered = list(zip(entries, reports, range(len(entries)), strict=True))
        each(numbered, lambda item: _start(path, cluster, shell, *item))
    except BaseException:
        down(path, shell)
        raise
    return cluster


def _repair(path: Path, shell: Shell, entries: Sequence[NodeEntry]) -> ClusterFile:
    """Restart the dead nodes of a cluster; leave the others alone."""
    cluster = ClusterFile.read(cluster_path(path))
    reports = _serving(path, shell, entries)
    dead = [
        item
        for item in zip(entries, reports, range(len(entries)), strict=True)
        if not item[1].ray_runs
    ]
    if not dead:
        state = f"the cluster of {path} is already up, and every node is alive"
        raise WorldError(state, hint=f"weft nodes down {path}")
    for entry, _, number in dead:
        if trouble := _stop(path, shell, entry, number):
            raise WorldError(trouble)
    each(dead, lambda item: _start(path, cluster, shell, *item))
    return cluster


def _serving(path: Path, shell: Shell, entries: Sequence[NodeEntry]) -> list[NodeReport]:
    """Return the reports of all nodes; raises WorldError if one cannot serve."""
    numbered = list(enumerate(entries))
    reports = each(numbered, lambda item: inspect_node(path, shell, False, *item))
    for report in reports:
        if report.problem:
            raise WorldError(report.problem)
    return reports


def down(path: Path, shell: Shell) -> list[str]:
    """Stop what `up` started, here and on every node; return a line for each that failed."""
    entries = read_entries(path)
    numbered = list(zip(entries, range(len(entries)), strict=True))
    troubles = [line for line in each(numbered, lambda item: _stop(path, shell, *item)) if line]
    if not troubles:
        cluster_path(path).unlink(missing_ok=True)
    troubles += [line for line in [_stop_head(path)] if line]
    return troubles


def _start_head(path: Path, cluster: ClusterFile, ip: str) -> None:
    port = cluster.address.rpartition(":")[2]
    options = ["--head", f"--port={port}", f"--node-ip-address={ip}", "--num-cpus=0"]
    options += ["--num-gpus=0", "--include-dashboard=false"]
    order = nodeagent.Order("start", node_folder(path, HEAD), cluster.token, tuple(options))
    here = NodeEntry(hostname="localhost")
    _require_success(here, Shell().ask(here, AGENT, order_text(order), nodeagent.MARK))


def _stop_head(path: Path) -> str:
    try:
        return nodeagent.stop(nodeagent.Order("stop", node_folder(path, HEAD)))
    except WorldError as trouble:
        return str(trouble)


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
    order = nodeagent.Order("start", node_folder(path, f"n{number}"), cluster.token, tuple(options))
    _require_success(entry, shell.ask(entry, AGENT, order_text(order), nodeagent.MARK))


def _stop(path: Path, shell: Shell, entry: NodeEntry, number: int) -> str:
    order = nodeagent.Order("stop", node_folder(path, f"n{number}"))
    try:
        _require_success(entry, shell.ask(entry, AGENT, order_text(order), nodeagent.MARK))
    except WorldError as trouble:
        return str(trouble)
    return ""


def _require_success(entry: NodeEntry, answer: nodeagent.AgentAnswer) -> None:
    if answer["problem"]:
        raise WorldError(f"node {entry.hostname}: {answer['problem']}")


def _head_ip(reports: Sequence[NodeReport]) -> str:
    """Return our address, on which the nodes must agree; those on this machine see loopback."""
    addresses = list(dict.fromkeys(report.sees_us_as for report in reports))
    outside = [ip for ip in addresses if ip != LOOPBACK]
    if len(outside) > 1:
        raise UsageError(
            f"nodes see this machine as {' and '.join(outside)}", hint="give one with --head-ip"
        )
    return (outside or [LOOPBACK])[0]


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
