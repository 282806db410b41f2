"""Transcripts of a tree run, read back from its objects."""

from __future__ import annotations

from pathlib import Path

from weft.inspect.report.view import RunView
from weft.searches.tree.memory import Turn, parse
from weft.searches.tree.past import load_tree_run, node_of
from weft.searches.tree.search import NAME


def turns_of(run: Path, name: str) -> list[Turn]:
    """Return all turns on the path to a node; raises InputError when there is no such node."""
    view = RunView(run, NAME)
    node = node_of(load_tree_run(run), name, run)
    return [turn for reference in node.turns for turn in parse(view.read(reference))]
