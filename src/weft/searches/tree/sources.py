"""What a tree run begins with: ideas of a folder and of tables, and what earlier runs found."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from weft.errors import InputError
from weft.inspect.report.view import RunView, ViewedTask, view_of
from weft.inspect.verify import verify
from weft.model.codec import Table, from_json
from weft.model.results import TaskError
from weft.model.values import Object
from weft.runs import world
from weft.runs.begun import recorded_input
from weft.runs.run import real_place
from weft.searches.tree import ideas as idea_files
from weft.searches.tree.config import Idea, TreeConfig
from weft.searches.tree.configfile import TreeFile
from weft.searches.tree.ideaindex import IdeaIndex, entries_of
from weft.searches.tree.imports import ImportedRun, check_comparable, completed_evals
from weft.searches.tree.load import TreeRun, load_tree_run, stage_args_of
from weft.searches.tree.recordings import RecordingKey, Recordings, objects_in
from weft.searches.tree.results import StageOutcome
from weft.searches.tree.search import NAME

AREA = "area"
"""Label in run.toml: the index that a run's ideas go to."""
INDEX = "index"
"""Name of the input that holds the index as it was when the run began."""


def below(base: Path, name: str, path: Path, field: str) -> Path:
    """Return a path that a config names, relative to its folder."""
    try:
        return base / Path(name).expanduser()
    except RuntimeError as error:
        raise InputError(f"{path}: {field}: {error}") from None


def read_ideas(file: TreeFile, base: Path, path: Path) -> list[tuple[Idea, bytes]]:
    """Return the ideas of a config, by name; none if nodes get their own."""
    parts = [
        idea_files.from_parameters(file.parameters),
        idea_files.from_grids(file.grids),
    ]
    if file.ideas is not None:
        folder = below(base, file.ideas, path, "ideas")
        parts.append(idea_files.read_folder(folder, has_command=file.implement is not None))
    has_more = bool(file.propose or file.mutations)
    return idea_files.merge_ideas(*parts, where=path, may_be_none=has_more)


# -- recordings ---------------------------------------------------------------------------------


def read_recordings(file: TreeFile, base: Path, path: Path) -> tuple[Recordings, dict[str, bytes]]:
    """Return what the run that `recorded_from` names recorded, and the objects it refers to."""
    if file.recorded_from is None:
        return {}, {}
    run = below(base, file.recorded_from, path, "recorded_from")
    try:
        view = view_of(run, NAME, "tree")
    except InputError as error:
        raise InputError(f"{path}: recorded_from: {error.message}", hint=error.hint) from None
    recordings = _recordings_of((task, stage_args_of(task)) for task in view.tasks())
    references = objects_in({key: outcome.value for key, outcome in recordings.items()})
    return recordings, {f"recorded/{o.digest}": view.read(o) for o in references}


def _recordings_of(tasks: Iterable[tuple[ViewedTask, Table]]) -> Recordings:
    """Collect the outcomes of a run's tasks, each given with its arguments; the first wins."""
    entries: dict[str, StageOutcome] = {}
    for recorded, args in tasks:
        key = RecordingKey.of_args(args)
        if key is not None and recorded.state in ("completed", "failed"):
            error = None if recorded.error is None else from_json(TaskError, recorded.error)
            outcome = StageOutcome(None if error else recorded.value, error)
            for text in list(key.texts())[: None if error is None else 1]:
                entries.setdefault(text, outcome)
    return entries


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


# -- the index ----------------------------------------------------------------------------------


def read_index(file: TreeFile, out: Path | None) -> dict[str, bytes]:
    """Return the index as the run's input: as it is now, or as a begun run took it in."""
    if not file.feed_index or file.area is None:
        return {}
    recorded = None if out is None else recorded_input(out, INDEX)
    return {INDEX: _index(file.area).snapshot() if recorded is None else recorded}


def note_ideas(run: Path, tree_run: TreeRun, area: str) -> int:
    """Append a run's evals to the index of its area; return how many are new there."""
    view = RunView(run, NAME)
    inputs = {name: Object(digest) for name, digest in tree_run.inputs.items()}
    texts = {}
    for item in tree_run.history.evals:
        content = item.idea.bytes_in(inputs)
        if content is not None:
            texts[item.eval_id] = view.read(content).decode("utf-8", "replace")
    return _index(area).add(entries_of(tree_run, _genesis(view), texts))


def _genesis(view: RunView) -> str:
    return json.dumps(dict(view.genesis()), sort_keys=True)


def _index(area: str) -> IdeaIndex:
    return IdeaIndex(world.state_folder() / "ideas", area)
