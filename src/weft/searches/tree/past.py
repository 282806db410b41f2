"""Existing tree runs: loaded, and imported by a new one."""

from __future__ import annotations

from pathlib import Path

from weft.errors import InputError, RunFolderInvalid
from weft.inspect.report.view import RunView, view_of
from weft.inspect.verify import verify
from weft.runs.run import real_place
from weft.searches.tree.config import TreeConfig
from weft.searches.tree.history import TreeNode
from weft.searches.tree.imports import ImportedRun, check_comparable, completed_evals
from weft.searches.tree.load import TreeRun, load_run
from weft.searches.tree.search import NAME, best_of


def load_tree_run(run: Path) -> TreeRun:
    """Load a run; raises InputError when it is not one of `weft tree`."""
    return load_run(view_of(run, NAME, "tree"))


def node_of(tree_run: TreeRun, name: str | None, run: Path) -> TreeNode:
    """Return a node by name, or the best one; raises when there is none."""
    if not tree_run.history.nodes or tree_run.history.nodes[0].result is None:
        raise RunFolderInvalid(f"{run} has no scored root yet", hint=f"weft resume {run}")
    if name is None:
        return best_of(tree_run.config, tree_run.history)
    for node in tree_run.history.nodes:
        if node.name == name:
            return node
    raise InputError(
        f"{run} has no node {name!r:.40}",
        hint=f"nodes are n0 to n{len(tree_run.history.nodes) - 1}",
    )


def read_past(run: Path | None, config: TreeConfig) -> tuple[ImportedRun | None, dict[str, bytes]]:
    """Return the completed evals of a run with its head, and the objects they refer to.

    Raises Damaged when the run does not verify, and InputError when its scores cannot be
    compared with those of the new one.
    """
    if run is None:
        return None, {}
    tree_run, view = load_tree_run(run), RunView(run, NAME)
    check_comparable(tree_run.config, config, str(run))
    verdict = verify(run, real_place().heads)
    past = ImportedRun(verdict.root, verdict.size, completed_evals(tree_run.history))
    return past, {f"imported/{o.digest}": view.read(o) for o in past.objects()}
