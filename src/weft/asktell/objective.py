"""The objective of a search as plain data: the task, its import path, its limits.

A search's arguments are recorded, so an objective is given as a task in Python, or as
`module:function` on the command line, and recorded as an `Objective`.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from weft.define import Task, import_name
from weft.errors import InputError, SearchInvalid
from weft.model.codec import from_json, to_json
from weft.model.tasks import Code, Limits, SearchCall, TaskCall, import_path
from weft.model.values import Argument, Value

AnyTask: TypeAlias = Task[..., Any]


@dataclass(frozen=True, slots=True)
class Objective:
    """The task that evaluates parameters."""

    task: str
    path: str
    limits: Limits = field(default_factory=Limits)

    @property
    def code(self) -> Code:
        """The import path of the task."""
        return ((self.task, self.path),)

    def call(self, args: Mapping[str, Argument]) -> TaskCall:
        """Return the call of one evaluation."""
        return TaskCall(self.task, dict(args), self.limits, self.code)


def objective_of(given: AnyTask | str | Mapping[str, Value]) -> tuple[Objective, frozenset[str]]:
    """Return an objective and the names of its parameters; import one given by name."""
    if isinstance(given, Mapping):
        given = from_json(Objective, given).path
    task = load_task(given) if isinstance(given, str) else given
    if not isinstance(task, Task):
        raise SearchInvalid(
            f"the objective is {type(task).__name__}, not a @weft.task function",
            hint="pass the task itself, or its import path module:function",
        )
    path = import_path(task.code, task.name)
    names = [name for name in inspect.signature(task.function).parameters if name != "seed"]
    return Objective(task.name, path, task.limits), frozenset(names)


def check_parameters(objective: Objective, known: Iterable[str], given: Iterable[str]) -> None:
    """Refuse arguments that the objective does not take."""
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise SearchInvalid(
            f"{objective.task} takes no parameter {unknown[0]!r}",
            hint=f"its parameters are: {', '.join(sorted(known)) or 'none'}",
        )


def load_task(path: str) -> AnyTask:
    """Import a task by `module:function`."""
    task = load(path, "objective")
    if isinstance(task, Task):
        return task
    raise InputError(f"objective {path} is not a @weft.task function")


def load(path: str, role: str) -> Any:
    """Import the object that `module:name` names."""
    module, _, name = path.partition(":")
    if not name or not all(part.isidentifier() for part in (*module.split("."), name)):
        raise InputError(f"{role} {path!r:.80} is not an import path", hint="write module:function")
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        raise InputError(
            f"{role} {path}: there is no module {error.name}",
            hint="give its folder with --path, or run from that folder",
        ) from None
    except AttributeError:
        raise InputError(f"{role} {path}: {module} has no {name}") from None


def path_of(given: Callable[..., Any] | str, role: str) -> tuple[str, Callable[..., Any]]:
    """Return the import path of a function or class, and the object; refuse one without a path."""
    if isinstance(given, str):
        return given, load(given, role)
    return import_name(given, role, or_class=True), given


def with_code(call: SearchCall, objective: Objective) -> SearchCall:
    """Add the objective's module to the search's code, so that `weft resume` finds it."""
    return replace(call, code=(*call.code, *objective.code))


def plain(objective: Objective) -> dict[str, Value]:
    """Return the recorded form of an objective."""
    return to_json(objective)
