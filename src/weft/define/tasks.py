"""`@weft.task`: a pure function that runs in a worker; calling it only describes the call."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from typing import Any, Final, Generic, ParamSpec, TypeVar, cast, overload

from weft.define.functions import (
    checked_limits,
    plain_signature,
    refuse_unusual,
    source_of,
    takes_keyword,
)
from weft.define.names import declared, described, import_name
from weft.errors import SearchInvalid
from weft.model.records import NO_TYPES, FunctionTypes, types_of
from weft.model.tasks import Limits, TaskCall, import_path

P = ParamSpec("P")
R = TypeVar("R")
SEED: Final[int] = 0
"""`*, seed: int = weft.SEED`: tells type checkers that callers leave it out; Weft fills it in.

The default is optional, but without it type checkers require a seed from every caller."""
_TASKS: dict[str, Task[..., object]] = {}
"""The tasks that loaded modules declare, by import path."""


class Task(Generic[P, R]):
    """A task function. Calling it describes a call; `function` is the plain function itself."""

    is_task = True

    def __init__(self, function: Callable[P, R], limits: Limits, name: str | None = None) -> None:
        self.function = function
        self.limits = limits
        self.name, self.code = declared(function, "task", name)
        self.source = source_of(function)
        """Its source file, as of its declaration."""
        self.__doc__ = function.__doc__
        self.__wrapped__ = function
        refuse_unusual(function, self.name)
        signature = plain_signature(function, self.name)
        self.needs_seed = takes_keyword(signature, "seed")
        self._parameters = [p for p in signature.parameters.values() if p.name != "seed"]
        if not self.needs_seed:
            self._parameters = list(signature.parameters.values())
        self._names = tuple(p.name for p in self._parameters)
        self._positional = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in self._parameters)
        self._quick_count = -1
        """A call with this many positional arguments needs no checks; with -1 every call does."""
        _remember(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> TaskCall:
        """Describe a call with these arguments; defaults are filled in and recorded.

        Type checkers see the function's own parameters; callers leave out `seed: int = weft.SEED`.
        """
        if len(args) == self._quick_count and not kwargs:
            values: dict[str, Any] = (
                {self._names[0]: args[0]}
                if len(args) == 1
                else dict(zip(self._names, args, strict=True))
            )
            return TaskCall(self.name, values, self.limits, self.code)
        self._check_bound()
        signature = inspect.Signature(self._parameters)
        try:
            binding = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise SearchInvalid(f"call of task {self.name}: {error}") from None
        binding.apply_defaults()
        self._quick_count = len(self._names) if self._positional else -1
        return TaskCall(self.name, binding.arguments, self.limits, self.code)

    def _check_bound(self) -> None:
        """Refuse a task whose name in its module differs from its function's name.

        A worker imports it by the function's name, and would find the plain function.
        """
        name = self.function.__name__
        module = sys.modules.get(self.function.__module__)
        bound = getattr(module, name, None)
        if bound is not None and not isinstance(bound, Task):
            raise SearchInvalid(
                f"task {self.name}: {import_name(self.function, 'task')} is"
                f" {described(bound)} there, not the task",
                hint=f"decorate it with @weft.task, or write {name} = weft.task({name})",
            )

    def __repr__(self) -> str:
        return f"<weft task {self.name}>"


@overload
def task(function: Callable[P, R], /) -> Task[P, R]: ...
@overload
def task(
    *,
    name: str | None = None,
    timeout_s: float | None = None,
    retries: int | None = None,
    memory_mb: int | None = None,
    gpu: int = 0,
    group: str | None = None,
) -> Callable[[Callable[P, R]], Task[P, R]]: ...
def task(
    function: Callable[P, R] | None = None,
    /,
    *,
    name: str | None = None,
    timeout_s: float | None = None,
    retries: int | None = None,
    memory_mb: int | None = None,
    gpu: int = 0,
    group: str | None = None,
) -> Task[P, R] | Callable[[Callable[P, R]], Task[P, R]]:
    """Declare a task: a pure function of JSON values that runs in a worker.

    >>> import weft
    >>> @weft.task
    ... def double(x: int) -> int:
    ...     return 2 * x
    >>> double.function(21)
    42

    `name`, such as `pricing.score`, identifies the task in keys and ledger instead of its import
    path, so that its file can be moved without changing a head.
    A keyword-only parameter `seed` receives the task's own 64-bit seed, which does not depend on
    workers or attempts.

    Without options it decorates `function` directly. `timeout_s` and `memory_mb` limit an attempt;
    exceeding them fails it with `timeout` or `out-of-memory`. `retries` overrides how often the run
    retries a timeout or `weft.Temporary`. `gpu=1` requests a GPU slot.
    `weft.run(…, group_cap=N)` runs at most N tasks with the same `group` at a time.
    """
    limits = checked_limits(timeout_s, retries, memory_mb, gpu, group)

    def declare(target: Callable[P, R]) -> Task[P, R]:
        return Task(target, limits, name)

    return declare if function is None else declare(function)


def declared_types(path: str, *, load: bool = False) -> FunctionTypes:
    """Return the annotations of the task with this import path, if its module is loaded.

    With `load` the module is imported; use it only for paths that the running search itself named.
    """
    if load and path not in _TASKS:
        importlib.import_module(path.partition(":")[0])
    return types_of(_TASKS[path].function) if path in _TASKS else NO_TYPES


def _remember(task: Task[P, R]) -> None:
    """Register a task; a declaration of the running script stays if its file is also imported."""
    path = import_path(task.code, task.name)
    earlier = _TASKS.get(path)
    if earlier is None or earlier.function.__module__ != "__main__":
        _TASKS[path] = cast("Task[..., object]", task)
