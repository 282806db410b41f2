"""Runs assignments and reports how they ended. The simulator and the worker share this code.

A failure before the function's body (import, decode) is a loss: another worker may succeed.
From the body on, a failure is the task's own fault and is recorded.
"""

from __future__ import annotations

import contextlib
import json
import resource
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, TypedDict, cast

from weft import loaded
from weft.errors import ObjectDamaged, ValueInvalid, WeftError
from weft.model.attempts import Assignment, Finished, Lost, Staged
from weft.model.keys import task_seed
from weft.model.records import check_rebuilt, rebuild, rebuild_args, types_of
from weft.model.results import TaskError, Temporary
from weft.model.values import Value, decode_trusted, encode
from weft.worker import context as task_context
from weft.worker.context import (
    SECRET,
    CommandFacilities,
    TaskContext,
    TaskFunction,
    WorkerPlace,
)
from weft.worker.ending import Ending
from weft.worker.frames import Hello

MAX_RESULT_CHARS = 16 * 2**20
MAX_DETAIL_CHARS = 16_000
TYPED = '"$t"'
"""Occurs in every text that holds typed values, and rarely in others."""


class AttemptOutcome(TypedDict, total=False):
    """The fields of `Finished` that are determined by how a body ends."""

    value: str
    error: TaskError | None
    retriable: bool
    detail: str
    staged: tuple[Staged, ...]


class Executor:
    """Runs assignments in this process, one after the other."""

    def __init__(
        self,
        run_seed: int,
        place: WorkerPlace,
        on_stage: Callable[[Assignment], None] | None = None,
    ) -> None:
        self._run_seed = run_seed
        self._place = place
        self._on_stage = on_stage
        self._functions: dict[str, TaskFunction] = {}

    @staticmethod
    def from_hello(hello: Hello, on_stage: Callable[[Assignment], None]) -> Executor:
        """Build one from the coordinator's first message; `on_stage` is called at each stage."""
        place = WorkerPlace(
            objects=Path(hello["objects"]),
            staging=Path(hello["staging"]),
            logs=Path(hello["logs"]),
            attempts=Path(hello["attempts"]),
            slot=hello["slot"],
            folder=hello["folder"],
            python=hello["python"],
            run_id=hello["run_id"],
            kept_folder=Path(hello["kept_folder"]) if hello["kept_folder"] else None,
            allow_paths=tuple(hello["allow_paths"]),
            facilities=CommandFacilities(
                hello["sandbox"], hello["secrets"], hello["outcome_token"]
            ),
        )
        return Executor(hello["seed"], place, on_stage)

    def prepare(
        self, assignment: Assignment
    ) -> tuple[Callable[..., Value], dict[str, Value]] | Lost:
        """Find the function and decode its arguments; a failure here is a loss."""
        try:
            task = self.load(assignment)
            args = decode_trusted(assignment.args)
            assert isinstance(args, dict), "arguments are recorded by name"
            if TYPED in assignment.args:
                args = restored(args, task, self.around(assignment))
        except Ending as ending:
            return cast("Lost", ending.outcome(assignment.ticket))
        except Exception as error:
            return unprepared(assignment.ticket, error)
        if task.needs_seed:
            args["seed"] = self.seed(assignment, assignment.index, assignment.args)
        return task.function, args

    def around(self, assignment: Assignment) -> TaskContext:
        """Return the context of a block's tasks."""
        around = TaskContext(self._place, assignment, self._on_stage)
        around.task = self._functions.get(assignment.function)
        return around

    def run(
        self, assignment: Assignment, function: Callable[..., Value], args: dict[str, Value]
    ) -> Finished | Lost:
        """Run one task and measure its run time."""
        start_s = perf_counter()
        end = self.run_in(self.around(assignment), assignment.ticket, function, args)
        run_s = perf_counter() - start_s
        if isinstance(end, Lost):
            return end
        if isinstance(end, str):
            return Finished(assignment.ticket, end, run_s=run_s)
        return replace(end, run_s=run_s)

    def run_in(
        self,
        around: TaskContext,
        ticket: int,
        function: Callable[..., Value],
        args: dict[str, Value],
    ) -> str | Finished | Lost:
        """Run the body and turn whatever happens into an outcome, usually a value's encoding."""
        task_context.enter(around)
        call = function if around.memory_mb is None else limited(function, around.memory_mb)
        end: AttemptOutcome
        try:
            value = call(**args)
        except Ending as ending:
            outcome = ending.outcome(ticket)
            if isinstance(outcome, Lost):
                return replace(outcome, detail=around.secrets.redacted_text(outcome.detail))
            end = {"error": outcome.error, "retriable": outcome.retriable, "detail": outcome.detail}
        except Temporary as error:
            end = _fault("temporary", around, error, retriable=True)
        except MemoryError as error:
            end = _fault("out-of-memory", around, error)
        except ObjectDamaged as error:  # the store's fault, not the task's
            return Lost(ticket, "object-damaged", _detail(error))
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else int(error.code is not None)
            end = _fault("exit", around, error, exit_code=code)
        except Exception as error:
            end = _fault("exception", around, error)
        else:
            encoded = _encoded(value, around)
            if type(encoded) is str and around.is_plain:
                return encoded
            end = {"value": encoded} if isinstance(encoded, str) else encoded
        finally:
            task_context.enter(None)
        end = without_secrets(end, around)
        notes = json.dumps(around.notes, sort_keys=True) if around.notes else None
        return Finished(ticket, **end, notes=notes)

    def load(self, assignment: Assignment) -> TaskFunction:
        """Import the task's function, once; raises ImportError if it cannot be found."""
        return self._functions.get(assignment.function) or self._load(assignment)

    def seed(self, assignment: Assignment, index: int, args: str) -> int:
        """Return the seed of a task of the assignment's round."""
        a = assignment
        return task_seed(self._run_seed, a.lane, a.round, index, a.function, args)

    def _load(self, assignment: Assignment) -> TaskFunction:
        path = assignment.import_path(assignment.function)
        module, _, attribute = path.partition(":")
        try:
            task: TaskFunction = getattr(loaded.import_first(module), attribute)
        except AttributeError as error:
            raise ImportError(f"{module} has no task {attribute}") from error
        if not hasattr(task, "needs_seed"):
            raise ImportError(f"{path} is not a @weft.task function")
        self._functions[assignment.function] = task
        return task


def unprepared(ticket: int, error: Exception) -> Lost:
    """Return the loss of a task that failed before its body began."""
    reason = "import-failed" if isinstance(error, ImportError) else "prepare-failed"
    return Lost(ticket, reason, _detail(error))


def limited(function: Callable[..., Value], memory_mb: int) -> Callable[..., Value]:
    """Return a function that runs within a memory limit."""

    def call(**args: Value) -> Value:
        with memory_limit(memory_mb):
            return function(**args)

    return call


@contextlib.contextmanager
def memory_limit(memory_mb: int) -> Iterator[None]:
    """Let the worker's memory grow by `memory_mb` within the context; beyond it, MemoryError."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_bytes().split()[0])
    limit = pages * resource.getpagesize() + memory_mb * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _encoded(value: object, around: TaskContext) -> str | AttemptOutcome:
    """Return a value's encoding, or fields of `Finished`; an invalid value is the task's fault."""
    try:
        text = encode(value, around)
        if around.has_records:
            _check_records(value, text, around)
        if len(text) > MAX_RESULT_CHARS:
            raise ValueInvalid(
                f"{len(text):,} characters, the limit is {MAX_RESULT_CHARS:,}",
                hint="store it with weft.put(data) and return the object",
            )
    except ValueInvalid as error:
        failure = TaskError("result-invalid", "collect")
        return {"error": failure, "detail": str(error)}
    except Ending as ending:  # a secret in bytes that became an object
        outcome = cast("Finished", ending.outcome(0))
        return {"error": outcome.error, "detail": outcome.detail}
    if not around.staged:
        return text
    staged = tuple(Staged(digest, name) for digest, name in around.staged.items())
    return {"value": text, "staged": staged}


def without_secrets(end: AttemptOutcome, around: TaskContext) -> AttemptOutcome:
    """Refuse a value that holds a secret; redact secrets in notes and error details."""
    secrets = around.secrets
    if not secrets:
        return end
    around.notes = json.loads(secrets.redacted_text(json.dumps(around.notes)))
    if name := secrets.found_in(end.get("value", "").encode()):
        why = f"the value of {name} is in the result; nothing of it is stored"
        return {"error": TaskError(SECRET, "collect"), "detail": why}
    return {**end, "detail": secrets.redacted_text(end.get("detail", ""))}


def _check_records(value: object, text: str, around: TaskContext) -> None:
    """Refuse dataclasses that the task's return annotation does not rebuild unchanged."""
    around.has_records = False
    returns = types_of(around.task.function).returns if around.task else None
    check_rebuilt(value, rebuild(decode_trusted(text), returns, around.get))


def restored(args: dict[str, Value], task: TaskFunction, around: TaskContext) -> dict[str, Any]:
    """Rebuild arguments as the search passed them; raises Ending if the attempt cannot begin."""
    try:
        return rebuild_args(args, types_of(task.function), around.get)
    except ObjectDamaged:
        raise
    except WeftError as error:  # would fail on every machine: retrying is pointless
        raise Ending(None, lost=str(error), cause="command") from None


def restoring(task: TaskFunction, around: TaskContext) -> Callable[..., Value]:
    """Return a task's function, wrapped to accept arguments as recorded."""

    def call(**args: Value) -> Value:
        return task.function(**restored(args, task, around))

    return call


def _fault(
    type_: str,
    around: TaskContext,
    error: BaseException,
    *,
    exit_code: int | None = None,
    retriable: bool = False,
) -> AttemptOutcome:
    """Return the fields of `Finished` for a failure."""
    failure = TaskError(type_, around.stage, exit_code)
    return {"error": failure, "retriable": retriable, "detail": _detail(error)}


def _detail(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))[-MAX_DETAIL_CHARS:]
