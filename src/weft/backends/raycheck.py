"""Asks all nodes of a Ray cluster, in parallel, whether they have what a run's commands need."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError

from weft.backends.places import located
from weft.backends.raycluster import living_nodes, match
from weft.errors import WorldError
from weft.model.slots import Node
from weft.worker.preflight import Need, find_problem

PATIENCE_S = 180.0


def find_problems(nodes: Sequence[Node], needs: Sequence[Need]) -> dict[str, str]:
    """Return what each node lacks, by name; omits nodes that lack nothing or are not there."""
    living = match([node.name for node in nodes], living_nodes(), ())
    needs_ref = ray.put(list(needs))
    answers = {
        node.name: _ask(living[node.name].on_node(), node, needs_ref)
        for node in nodes
        if node.name in living
    }
    return {name: why for name, answer in answers.items() if (why := _answer(name, answer))}


def inspect_node(node: Node, needs: Sequence[Need]) -> str:
    """Return what a node lacks; runs on the node, where paths are relative to the home folder."""
    place = located(node, Path.home())
    return find_problem(place.folder, place.python, place.allow_paths, needs)


def _ask(options: dict[str, Any], node: Node, needs: Any) -> Any:
    return ray.remote(inspect_node).options(max_retries=0, **options).remote(node, needs)


def _answer(name: str, answer: Any) -> str:
    try:
        return str(ray.get(answer, timeout=PATIENCE_S))
    except RayError as error:
        why = " ".join(str(error).split())[:300]
        raise WorldError(f"node {name}: {why}", hint="weft nodes check FILE") from None
