"""The idea index: the ideas tried in all runs of an area, with their outcomes.

One append-only JSONL file per area in the user's state folder; several runs may write at once. The
index itself is part of no decision: a run that uses it takes a copy as an input, whose hash is in
its genesis, and a resume reads that copy.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from weft.errors import LedgerDamaged
from weft.inspect.report.view import RunView
from weft.model.codec import from_json, to_json
from weft.model.values import Object
from weft.runs import world
from weft.runs.begun import recorded_input
from weft.runs.durable import LineLog
from weft.searches.tree.configfile import TreeFile
from weft.searches.tree.history import Eval
from weft.searches.tree.load import TreeRun
from weft.searches.tree.search import NAME

AREA = "area"
"""Label in run.toml: the index in which a run records its ideas."""
INDEX = "index"
"""Name of the input that holds the index as of the start of the run."""
MAX_TEXT = 4000
MAX_FED = 200
"""Number of entries given to a run, the latest ones."""


@dataclass(frozen=True, slots=True)
class IdeaEntry:
    """One eval of a run."""

    entry_id: str
    """Hash of the run's genesis, the eval and its outcome, so that an outcome is recorded once."""
    idea: str
    kind: str
    digest: str
    text: str
    path: tuple[str, ...]
    """Ideas on the path to its parent."""
    root: str
    direction: str
    parent_score: str | None
    score: str | None
    verdict: str
    schema_version: Literal[1] = 1


def entries_of(tree_run: TreeRun, genesis: str, texts: dict[int, str]) -> list[IdeaEntry]:
    """Return an entry for every judged eval, in eval order."""
    entries = []
    for item in tree_run.history.evals:
        if item.verdict in ("queued", "dropped"):
            continue
        path = tuple(n.idea.name for n in item.parent.path() if n.idea is not None)
        entries.append(
            IdeaEntry(
                entry_id=_entry_id(genesis, item), idea=item.idea.name, kind=item.idea.kind,
                digest=item.idea.digest, text=texts.get(item.eval_id, "")[:MAX_TEXT], path=path,
                root=tree_run.history.nodes[0].commit, direction=tree_run.config.direction,
                parent_score=item.parent.result.score if item.parent.result else None,
                score=item.score, verdict=item.verdict,
            )
        )  # fmt: skip
    return entries


def _entry_id(genesis: str, item: Eval) -> str:
    commit = item.candidate.commit if item.candidate else ""
    identity = [genesis, item.name, commit, item.score or "", item.verdict]
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:32]


class IdeaIndex:
    """The entries of one area."""

    def __init__(self, folder: Path, area: str) -> None:
        self._log = LineLog(folder / f"{area}.jsonl")

    def add(self, entries: Iterable[IdeaEntry]) -> int:
        """Append new entries durably; return their number."""

        def new_lines() -> list[str]:
            known = {entry.entry_id for entry in self._entries()}
            new = [entry for entry in entries if entry.entry_id not in known]
            return [json.dumps(to_json(e), sort_keys=True, ensure_ascii=False) for e in new]

        return self._log.append(new_lines)

    def snapshot(self) -> bytes:
        """Return the latest entries as one JSON list, the input of a run that uses them."""
        latest = list(self._entries())[-MAX_FED:]
        return json.dumps([to_json(entry) for entry in latest], sort_keys=True).encode()

    def _entries(self) -> Iterator[IdeaEntry]:
        for line in self._log.lines():
            try:
                yield from_json(IdeaEntry, json.loads(line))
            except (ValueError, LedgerDamaged):
                continue  # torn by a crash; recorded again with its run


# -- of a run ------------------------------------------------------------------------------------


def read_index(file: TreeFile, out: Path | None) -> dict[str, bytes]:
    """Return the index as the run's input: the current one, or the copy of a run already begun."""
    if not file.feed_index or file.area is None:
        return {}
    recorded = None if out is None else recorded_input(out, INDEX)
    return {INDEX: _index(file.area).snapshot() if recorded is None else recorded}


def note_ideas(run: Path, tree_run: TreeRun, area: str) -> int:
    """Append a run's evals to the index of its area; return the number of new entries."""
    view = RunView(run, NAME)
    genesis = json.dumps(dict(view.genesis()), sort_keys=True)
    inputs = {name: Object(digest) for name, digest in tree_run.inputs.items()}
    texts = {}
    for item in tree_run.history.evals:
        content = item.idea.bytes_in(inputs)
        if content is not None:
            texts[item.eval_id] = view.read(content).decode("utf-8", "replace")
    return _index(area).add(entries_of(tree_run, genesis, texts))


def _index(area: str) -> IdeaIndex:
    return IdeaIndex(world.state_folder() / "ideas", area)
