"""Tree runs that are there: looked at, and taken over by a new one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from weft.errors import InputError, RunFolderInvalid
from weft.readers.verify import verify
from weft.report.view import RunView
from weft.storage.folder import RunFolder
from weft.tree.imports import check_comparable, completed_evals, objects_in
from weft.tree.plot import Plot
from weft.tree.search import NAME, best_of
from weft.tree.story import Node
from weft.tree.view import TreeSeen, see
from weft.wiring.run import real_place


def seen_of(run: Path) -> TreeSeen:
    """Return the story of a run; raises InputError when it is not one of `weft tree`."""
    found = RunFolder(run).read_run_file().search
    if found != NAME:
        raise InputError(f"{run} is a run of {found}, not of tree", hint=f"weft status {run}")
    return see(RunView(run, NAME))


def node_of(seen: TreeSeen, name: str | None, run: Path) -> Node:
    """Return a node by name, or the best one; raises when there is none."""
    if not seen.story.nodes or not seen.story.nodes[0].result:
        raise RunFolderInvalid(f"{run} has no scored root yet", hint=f"weft resume {run}")
    if name is None:
        return best_of(seen.plot, seen.story)
    for node in seen.story.nodes:
        if node.name == name:
            return node
    raise InputError(
        f"{run} has no node {name!r:.40}", hint=f"nodes are n0 to n{len(seen.story.nodes) - 1}"
    )


def read_past(run: Path | None, plot: Plot) -> tuple[dict[str, Any] | None, dict[str, bytes]]:
    """Return the completed evals of a run with its head, and the objects they refer to.

    Raises Damaged when the run does not verify, and InputError when its scores cannot be
    compared with those of the new one.
    """
    if run is None:
        return None, {}
    seen, view = seen_of(run), RunView(run, NAME)
    check_comparable(seen.plot, plot, str(run))
    verdict = verify(run, real_place().heads)
    evals = completed_evals(seen.story)
    table = {"head": verdict.root, "size": verdict.size, "evals": evals}
    return table, {f"imported/{o.digest}": view.read(o) for o in objects_in(evals)}
