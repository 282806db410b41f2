"""The nodes of a run in a Ray cluster: which are present, which are ready, which came and went.

A thread asks Ray once a second. A node that appears is *opened* (earlier processes killed, an
empty folder created, its Weft compared with ours) before any of its slots is offered; the slots
of a node that vanishes are out of service until it is back. Events wait for the coordinator.
A second thread connects to the head's port: without the head, Ray calls hang.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from weft.backends.raynode import (
    VERSION,
    NodeFacts,
    NodeSpec,
    close_node,
    open_node,
    weft_digest,
)
from weft.errors import WorldError
from weft.model.attempts import NodeEvent

LABEL = "weft-node"
"""The label by which `weft nodes up` names a node; others are known by host name or address."""
REFRESH_S = 1.0
OPEN_S = 60.0
CLOSE_S = 10.0
HEAD_LOST_S = 10.0
"""A head unreachable for this long counts as gone; Ray would end our process after 60 seconds."""
STUCK_S = 20.0
"""Ray calls may wait for a lost head forever; after this much longer our process ends anyway."""
EXIT_WORLD = 75


@dataclass(frozen=True, slots=True)
class RayNode:
    """A living node as Ray lists it."""

    id: str
    name: str
    """Its label, or its host name."""
    address: str
    gpus: int
    cpus: int
    is_head: bool

    @staticmethod
    def of(raw: Mapping[str, Any]) -> RayNode:
        """Read an entry of `ray.nodes()`."""
        resources = raw["Resources"]
        return RayNode(
            raw["NodeID"],
            raw.get("Labels", {}).get(LABEL) or raw["NodeManagerHostname"],
            raw["NodeManagerAddress"],
            int(resources.get("GPU", 0)),
            int(resources.get("CPU", 0)),
            "node:__internal_head__" in resources,
        )

    def on_node(self) -> dict[str, Any]:
        """Return options to run something on exactly this node, without a claim on its CPUs."""
        strategy = NodeAffinitySchedulingStrategy(self.id, soft=False)
        return {"num_cpus": 0, "scheduling_strategy": strategy, "enable_task_events": False}


def living_nodes() -> list[RayNode]:
    """Return every node that Ray considers alive, by name, then id."""
    nodes = [RayNode.of(raw) for raw in ray.nodes() if raw["Alive"]]
    return sorted(nodes, key=lambda node: (node.name, node.id))


def match(
    names: Sequence[str], living: Sequence[RayNode], here: Sequence[str]
) -> dict[str, RayNode]:
    """Find each named node among the living; the names in `here` mean the head's machine.

    If two raylets match one name, the first of them gets it: they must not share its slots.
    """
    matches: dict[str, RayNode] = {}
    for name in names:
        for node in living:
            if name in (node.name, node.address) or (name in here and node.is_head):
                matches.setdefault(name, node)
    return matches


@dataclass(slots=True)
class NodeStay:
    """A node during one stay in the cluster."""

    node: RayNode
    spec: NodeSpec
    objects: set[str] = field(default_factory=set)
    """Objects that the node is known to have."""
    packs: set[str] = field(default_factory=set)
    """Code packs that the node has."""
    sending: threading.Lock = field(default_factory=threading.Lock)


class Cluster:
    """The nodes that a run requested; `stays` holds those that are ready, by name."""

    def __init__(self, specs: Sequence[NodeSpec], here: Sequence[str]) -> None:
        self._specs = {spec.name: spec for spec in specs}
        self._here = here
        self._digest = weft_digest()
        self._refused: set[str] = set()
        """Ids of nodes that cannot serve, for example because they have another Weft."""
        self._node_events: list[NodeEvent] = []
        self._stopped = threading.Event()
        self._closed = threading.Event()
        self._refresh_now = threading.Event()
        self.stays: dict[str, NodeStay] = {}
        self._head: str = ray.get_runtime_context().gcs_address
        self._head_lost = False
        self._refresh(refuse=True)
        absent = [name for name in self._specs if name not in self.stays]
        if not self.stays:
            raise WorldError(
                f"none of the run's nodes is in the Ray cluster: {', '.join(absent)[:200]}",
                hint="weft nodes check FILE, weft nodes up FILE",
            )
        self._node_events += [
            NodeEvent("node-lost", f"{name}: not in the cluster") for name in absent
        ]
        for loop in (self._watch, self._watch_head):
            threading.Thread(target=loop, daemon=True).start()

    def node_events(self) -> list[NodeEvent]:
        """Return node events since the last call; raises WorldError if the head is gone."""
        if self._head_lost:
            raise self._loss_of_head()
        events, self._node_events = self._node_events, []
        return events

    def refresh_soon(self) -> None:
        """Ask Ray at once, because something broke."""
        self._refresh_now.set()

    def close(self) -> None:
        """Stop watching and remove what the run left on its nodes."""
        if not self._stopped.is_set():
            self._stopped.set()
            self._refresh_now.set()
            if not self._head_lost:  # else each call would wait for it; `up` and `down` clean up
                clearing = threading.Thread(target=self._clear, daemon=True)
                clearing.start()
                clearing.join(2 * CLOSE_S)
            self._closed.set()

    def _clear(self) -> None:
        ends = [self._call(close_node, stay.node, stay.spec) for stay in self.stays.values()]
        with contextlib.suppress(RayError, ValueError):
            ray.wait(ends, num_returns=len(ends), timeout=CLOSE_S)

    # -- watching -------------------------------------------------------------------------

    def _watch(self) -> None:
        while not self._stopped.is_set():
            self._refresh_now.wait(REFRESH_S)
            self._refresh_now.clear()
            with contextlib.suppress(RayError, WorldError):
                self._refresh()

    def _watch_head(self) -> None:
        answered_s = time.monotonic()
        while not self._closed.wait(REFRESH_S) and ray.is_initialized():
            if self._head_answers():
                answered_s = time.monotonic()
            silent_s = time.monotonic() - answered_s
            self._head_lost = self._head_lost or silent_s > HEAD_LOST_S
            if silent_s > HEAD_LOST_S + STUCK_S:  # as safe as a kill, with the right exit code
                os.write(2, f"weft: {self._loss_of_head()}\n".encode())
                os._exit(EXIT_WORLD)

    def _head_answers(self) -> bool:
        host, _, port = self._head.rpartition(":")
        with contextlib.suppress(OSError):
            socket.create_connection((host.strip("[]"), int(port)), REFRESH_S).close()
            return True
        return False

    def _loss_of_head(self) -> WorldError:
        return WorldError(
            f"the head of the Ray cluster at {self._head} is gone",
            hint="weft nodes up FILE, then weft resume RUN with --backend ray --nodes FILE",
        )

    def _refresh(self, *, refuse: bool = False) -> None:
        """Compare Ray's nodes with the known ones; with `refuse`, raise if one cannot serve."""
        present = match(list(self._specs), living_nodes(), self._here)
        for name, stay in list(self.stays.items()):
            if name not in present or present[name].id != stay.node.id:
                self.stays = {n: h for n, h in self.stays.items() if n != name}
                self._node_events.append(NodeEvent("node-lost", name))
        new = [n for n in present if n not in self.stays and present[n].id not in self._refused]
        answers = {n: self._call(open_node, present[n], self._specs[n]) for n in new}
        for name, answer in answers.items():
            if not self._stopped.is_set():
                self._open(name, present[name], answer, refuse=refuse)

    def _open(self, name: str, node: RayNode, answer: Any, *, refuse: bool) -> None:
        try:
            why = self._refusal(ray.get(answer, timeout=OPEN_S))
        except RayError as error:
            why = " ".join(str(error).split())[:300]
        if why and refuse:
            raise WorldError(f"node {name}: {why}", hint="weft nodes check FILE")
        if why:
            self._refused.add(node.id)
            self._node_events.append(NodeEvent("node-refused", f"{name}: {why}"))
            return
        self.stays = {**self.stays, name: NodeStay(node, self._specs[name])}
        if not refuse:
            self._node_events.append(NodeEvent("node-returned", name))

    def _refusal(self, facts: NodeFacts) -> str:
        if facts.version != VERSION:
            return f"it has weft {facts.version}, this is {VERSION}"
        if facts.digest != self._digest:
            return f"its weft {facts.version} has other source than this one"
        return facts.problem

    @staticmethod
    def _call(function: Any, node: RayNode, spec: NodeSpec) -> Any:
        return ray.remote(function).options(max_retries=0, **node.on_node()).remote(spec)
