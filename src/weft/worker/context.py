"""What a task body may use while it runs: `weft.note`, `put`, `put_file`, `get`, `device`.

One context per process, since a worker runs one task at a time. Measurements go to the
manifest and never to the ledger; objects are staged, and adopted when the result is accepted.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from weft.errors import ObjectDamaged, SearchInvalid
from weft.model.attempts import Assignment
from weft.model.results import TaskError
from weft.model.tasks import COMMAND
from weft.model.values import JsonValue, Object, Value
from weft.worker.ending import Ending
from weft.worker.environment import environment
from weft.worker.redaction import Secrets

PIECE_BYTES = 1 << 20
SECRET = "secret-in-result"  # noqa: S105 - the name of a fault
"""The fault of a command whose result or object holds a value that must not be stored."""
NO_SECRETS = Secrets({})
DEVICE = "WEFT_DEVICE"
"""The variable that tells workers where to compute."""
COMMAND_DEVICES = "WEFT_COMMAND_DEVICES"
"""The variable that tells workers which GPU commands may see: `NAME=index`, or `NAME=`."""


class TaskFunction(Protocol):
    """The part of a `@weft.task` that a worker needs."""

    needs_seed: bool

    @property
    def function(self) -> Callable[..., Value]:
        """The undecorated function."""


@dataclass(frozen=True, slots=True)
class CommandFacilities:
    """What a worker holds for its commands and others must not see or change."""

    sandbox: str | None = None
    """The program that confines them; empty if there is none, None if not checked yet."""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Values of variables that commands may request by name."""
    outcome_token: str = field(default="", repr=False)
    """Authenticates the run's outcome files; empty if none are written."""


@dataclass(frozen=True, slots=True)
class WorkerPlace:
    """Where a worker runs tasks: folders of the run, its slot, what its commands may use."""

    objects: Path
    staging: Path
    logs: Path = Path()
    attempts: Path = Path()
    slot: str = ""
    folder: str = ""
    """The node's folder for scripts; empty if none is configured, as for `python`."""
    python: str = ""
    """The node's interpreter."""
    run_id: str = ""
    kept_folder: Path | None = None
    """Where the folders of failed commands are kept, if they are."""
    allow_paths: tuple[str, ...] = ()
    """Folders besides the node's own where scripts may be and commands may start."""
    facilities: CommandFacilities = field(default_factory=CommandFacilities)


class TaskContext:
    """The running task's context: where it runs, and what it has reported so far."""

    def __init__(
        self,
        place: WorkerPlace,
        assignment: Assignment,
        on_stage: Callable[[Assignment], None] | None = None,
    ) -> None:
        self.place = place
        self.assignment = assignment
        self.memory_mb = None if assignment.function == COMMAND else assignment.memory_mb
        """The limit on a function's memory; a command's is enforced by its supervisor."""
        self.stage = "run"
        """Reported when the body raises; commands also have the stages `prepare` and `collect`."""
        self.has_records = False
        """Set if the result holds a dataclass, which the return annotation must rebuild."""
        self.task: TaskFunction | None = None
        """The running task, whose return annotation names the dataclasses that it may return."""
        self.notes: dict[str, JsonValue] = {}
        self.staged: dict[str, str] = {}
        self.secrets = NO_SECRETS
        """Values that must not be in anything that the running task stores."""
        self._on_stage = on_stage

    @property
    def is_plain(self) -> bool:
        """Whether the task reported and stored nothing, and was given no secret."""
        return not self.notes and not self.staged and self.secrets is NO_SECRETS

    def begin(self) -> None:
        """Reset the context for the next task of the block."""
        self.stage = "run"
        if self.notes or self.staged or self.secrets is not NO_SECRETS:
            self.notes, self.staged, self.secrets = {}, {}, NO_SECRETS

    def keep_secret(self, values: Mapping[str, str]) -> None:
        """Set the values that the running task must not store."""
        self.secrets = Secrets(values)

    def check_free_of_secrets(self, name: str) -> None:
        """End the attempt if a secret was found: `name` is its variable, empty for none."""
        if name:
            why = f"the value of {name} is in what the command produced; nothing of it is stored"
            raise Ending(TaskError(SECRET, self.stage), detail=why)

    def enter(self, stage: str) -> None:
        """Enter the next stage and report it: each stage has the full time limit."""
        self.stage = stage
        if self._on_stage is not None:
            self._on_stage(self.assignment)

    def extend(self) -> None:
        """Restart the stage's time limit, to exclude work that only a machine's first task does."""
        self.enter(self.stage)

    def put(self, data: bytes) -> Object:
        """Stage bytes and return the reference that will name them."""
        if self.secrets:
            self.check_free_of_secrets(self.secrets.found_in(data))
        digest = hashlib.sha256(data).hexdigest()
        if digest not in self.staged and not self._path(digest).is_file():
            self.place.staging.mkdir(parents=True, exist_ok=True)
            name = f"{os.getpid()}-{next(_names)}"
            try:
                (self.place.staging / name).write_bytes(data)
            except OSError:
                (self.place.staging / name).unlink(missing_ok=True)
                raise
            self.staged[digest] = name
        return Object(digest)

    def put_file(self, path: Path, start: int = 0, size: int | None = None) -> Object:
        """Stage a file, or `size` bytes of it from `start`, in pieces; see `weft.put_file`."""
        if self.secrets:
            self.check_free_of_secrets(self.secrets.found_in_file(path))
        self.place.staging.mkdir(parents=True, exist_ok=True)
        name = f"{os.getpid()}-{next(_names)}"
        try:
            digest = _copy(path, self.place.staging / name, start, size)
        except OSError:
            (self.place.staging / name).unlink(missing_ok=True)
            raise
        if digest in self.staged or self._path(digest).is_file():
            (self.place.staging / name).unlink()
        else:
            self.staged[digest] = name
        return Object(digest)

    def get(self, reference: Object) -> bytes:
        """Return an object's bytes, checked against its name."""
        staged = self.staged.get(reference.digest)
        path = self.place.staging / staged if staged else self._path(reference.digest)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise ObjectDamaged(f"object {reference.digest} is not in this run") from None
        if hashlib.sha256(data).hexdigest() != reference.digest:
            raise ObjectDamaged(f"object {reference.digest}: its bytes do not match its name")
        return data

    def pieces(self, reference: Object) -> Iterator[bytes]:
        """Return an object's bytes in pieces; raises at their end if they do not match its name."""
        digest = hashlib.sha256()
        try:
            with self._path(reference.digest).open("rb") as file:
                while piece := file.read(PIECE_BYTES):
                    digest.update(piece)
                    yield piece
        except FileNotFoundError:
            raise ObjectDamaged(f"object {reference.digest} is not in this run") from None
        if digest.hexdigest() != reference.digest:
            raise ObjectDamaged(f"object {reference.digest}: its bytes do not match its name")

    def _path(self, digest: str) -> Path:
        return self.place.objects / digest[:2] / digest[2:]


_current: TaskContext | None = None
_names = itertools.count()


def enter(context: TaskContext | None) -> None:
    """Set the running task's context; None ends it."""
    global _current  # noqa: PLW0603 - the process runs one task at a time
    _current = context


def current() -> TaskContext:
    """Return the running task's context."""
    return _inside("this")


def note(**metrics: object) -> None:
    """Report measurements of the running task; shown by `weft explain`, never in the ledger.

    `metrics` are JSON values by name: `weft.note(loss=0.3, steps=100)`.
    Outside a task it does nothing, so that task code can be called directly.
    """
    if _current is not None:
        _current.notes.update(json.loads(json.dumps(metrics, default=str)))


def device() -> str:
    """Return where a task should compute: `cpu`, `gpu`, or `auto` for the best available.

    It changes how long a task takes, never what it returns.
    """
    return environment().get(DEVICE, "auto")


def put(data: bytes) -> Object:
    """Store the bytes `data` as an object of the run; return the reference to pass on."""
    return _inside("weft.put").put(data)


def put_file(path: str | Path, start: int = 0, size: int | None = None) -> Object:
    """Store the file at `path`, of any size, as an object of the run.

    With `start` and `size`, store only that part. The file itself is not changed.
    """
    return _inside("weft.put_file").put_file(Path(path), start, size)


def get(reference: Object) -> bytes:
    """Return the bytes of an object of the run, given the `reference` that names it."""
    return _inside("weft.get").get(reference)


def _copy(source: Path, target: Path, start: int, size: int | None) -> str:
    """Copy part of a file and return the SHA-256 of what was copied."""
    digest, remaining = hashlib.sha256(), size
    with source.open("rb") as file, target.open("xb") as copy:
        file.seek(start)
        while piece := file.read(PIECE_BYTES if remaining is None else min(PIECE_BYTES, remaining)):
            digest.update(piece)
            copy.write(piece)
            remaining = None if remaining is None else remaining - len(piece)
    return digest.hexdigest()


def _inside(name: str) -> TaskContext:
    if _current is None:
        raise SearchInvalid(f"{name} works inside a task only; a search decides, it does no I/O")
    return _current
