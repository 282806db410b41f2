"""How users declare tasks and searches: `@weft.task`, `@weft.search`.

A task is known by the name it declares, or by its import path `module:function`; calling it in
a search only describes the call. Names enter keys and the ledger; the import path, which is what
a worker needs, travels beside them. A script run as `__main__` is known by its file's name.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, ParamSpec, TypeVar, cast, overload

from weft.cells import MAIN, is_stored_name
from weft.cells.definitions import cell_of
from weft.errors import SearchInvalid
from weft.model.records import NO_TYPES, FunctionTypes, types_of
from weft.model.tasks import COMMAND, Code, Limits, SearchBody, SearchCall, TaskCall, import_path
from weft.model.values import Argument

P = ParamSpec("P")
R = TypeVar("R")
Run = TypeVar("Run")
Template = TypeVar("Template")
CONTEXT = ("seed", "inputs", "budget")
"""Keyword-only parameters that the engine fills in: all for a search, `seed` for a task."""
COMMAND_PATH = "weft.worker.command:run_command"
MAX_NAME_CHARS = 100
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")
_DECLARED: dict[str, tuple[str, str]] = {}
"""Import path and module behind each declared name; two functions cannot share one."""
_TASKS: dict[str, Task[..., object]] = {}
"""Tasks by import path, as the modules that are loaded declare them."""


class Task(Generic[P, R]):
    """A task function. Calling it describes a call; `function` is the plain function itself."""

    def __init__(self, function: Callable[P, R], limits: Limits, name: str | None = None) -> None:
        self.function = function
        self.limits = limits
        self.name, self.code = _declared(function, "task", name)
        self.__doc__ = function.__doc__
        self.__wrapped__ = function
        signature = _plain_signature(function, self.name)
        self.needs_seed = _takes_keyword(signature, "seed")
        self._parameters = [p for p in signature.parameters.values() if p.name != "seed"]
        if not self.needs_seed:
            self._parameters = list(signature.parameters.values())
        self._names = tuple(p.name for p in self._parameters)
        self._positional = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in self._parameters)
        _remember(self)

    def __call__(self, *args: Argument, **kwargs: Argument) -> TaskCall:
        """Describe a call with these arguments; defaults are filled in and recorded."""
        if self._positional and len(args) == len(self._names) and not kwargs:
            values = dict(zip(self._names, args, strict=True))
            return TaskCall(self.name, values, self.limits, self.code)
        signature = inspect.Signature(self._parameters)
        try:
            binding = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise SearchInvalid(f"call of task {self.name}: {error}") from None
        binding.apply_defaults()
        return TaskCall(self.name, binding.arguments, self.limits, self.code)

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
    A keyword-only parameter `seed` is filled with the task's own 64-bit seed, the same whatever
    the worker, the attempt or the number of workers.

    Without options it decorates `function` directly. `timeout_s` and `memory_mb` limit an attempt;
    one that exceeds them fails as `timeout` or `out-of-memory`. `retries` says how often a time-out
    or `weft.Temporary` is tried again, instead of what the run says. `gpu=1` asks for a GPU slot.
    `weft.run(…, group_cap=N)` runs at most N tasks with the same `group` at a time.
    """
    limits = _checked_limits(timeout_s, retries, memory_mb, gpu, group)

    def declare(target: Callable[P, R]) -> Task[P, R]:
        return Task(target, limits, name)

    return declare if function is None else declare(function)


def command(
    argv: Sequence[str],
    *,
    timeout_s: float,
    args: Mapping[str, object] | None = None,
    prepare: Callable[[Run], Mapping[str, str] | None] | Reference | None = None,
    collect: Callable[[Run], R] | Reference | None = None,
    env: Mapping[str, str] | None = None,
    env_from: Sequence[str] = (),
    cwd: str = "{out_dir}",
    on_broken: Callable[[Run, Template, int], None] | Reference | None = None,
    retries: int | None = None,
    memory_mb: int | None = None,
    gpu: int = 0,
    group: str | None = None,
) -> TaskCall:
    """Describe the run of an external command, as a task.

    `argv`, `env` and `cwd` are templates: `{out_dir}`, `{tmp_dir}`, `{attempt}`, `{seed}`,
    `{slot}`, `{python}`, `{work_dir}` (the node's folder), and whatever `prepare` returns.
    `prepare(run)` and `collect(run)` are plain functions that run on the same slot around it,
    or references to them; `run.args` are the `args` given here.
    The value is what `collect` returns, or `{"exit_code": 0, "stdout": …}`.
    Variables named in `env_from` are taken from the node's environment and never recorded.
    `timeout_s`, `retries`, `memory_mb`, `gpu` and `group` are those of `weft.task`; exit code 75 is
    retried, too.
    `on_broken(run, template, exit_code)` is called when the command cannot be run (126, 127); it
    may find out whose fault that is and raise a `weft.worker.ending.Ending` of its own.
    """
    if isinstance(argv, str) or not argv or not all(isinstance(word, str) for word in argv):
        raise SearchInvalid(
            "a command is a list of words, not one line", hint='write ["sort", "-n", "file"]'
        )
    for word in (*argv, cwd, *(env or {}).values()):
        if "\0" in word:
            raise SearchInvalid(f"a command cannot be given a NUL byte: {word!r:.60}")
    limits = _checked_limits(timeout_s, retries, memory_mb, gpu, group)
    code = {COMMAND: COMMAND_PATH}
    recorded = {
        "argv": list(argv),
        "args": dict(args or {}),
        "prepare": None if prepare is None else _hook_name(prepare, "prepare", code),
        "collect": None if collect is None else _hook_name(collect, "collect", code),
        "env": dict(env or {}),
        "env_from": list(env_from),
        "cwd": cwd,
    }
    if on_broken is not None:
        recorded["on_broken"] = _hook_name(on_broken, "on_broken", code)
    return TaskCall(COMMAND, recorded, limits, tuple(code.items()))


def hook(*, name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare the name of a function that runs around a command: `prepare`, `collect`, `on_broken`.

    Like `name` of a task it identifies the function in keys and ledger instead of its import path.
    """

    def declare(function: Callable[P, R]) -> Callable[P, R]:
        _declared(function, "hook", name)
        function.__weft_name__ = name  # type: ignore[attr-defined]
        return function

    return declare


@dataclass(frozen=True, slots=True)
class Reference:
    """A task or a hook by its declared name and import path; its module is not imported."""

    name: str
    path: str

    def __call__(self, **arguments: Argument) -> TaskCall:
        """Describe a call of the task; every argument is given by name."""
        return TaskCall(self.name, arguments, code=((self.name, self.path),))


def reference(name: str, path: str) -> Reference:
    """Name a task or a hook of another module, without importing that module.

    A search that only decides can so use functions whose modules start processes or write files.
    `path` is `module:function`, where the function is declared with the same `name`.

    >>> import weft
    >>> weft.reference("lab.weigh", "weft.testing.tasks:weigh")(sample=3).function
    'lab.weigh'
    """
    module, _, function = path.partition(":")
    if not all(part.isidentifier() for part in (*module.split("."), function)):
        raise SearchInvalid(f"{path!r:.80} is not an import path", hint="write module:function")
    if not _exists(module):
        raise SearchInvalid(f"reference {name}: there is no module {module}")
    _register(name, path, module, "reference")
    return Reference(name, path)


def _exists(module: str) -> bool:
    """Whether a module can be found; only the packages that it lies in are loaded."""
    try:
        return importlib.util.find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):  # no such package; a module without a spec
        return module in sys.modules


def declared_types(path: str, *, load: bool = False) -> FunctionTypes:
    """Return the annotations of the task with an import path, if its module is loaded.

    With `load` the module is imported: only for a path that the running search itself named.
    """
    if load and path not in _TASKS:
        importlib.import_module(path.partition(":")[0])
    return types_of(_TASKS[path].function) if path in _TASKS else NO_TYPES


def _remember(task: Task[P, R]) -> None:
    """Note a task; what the running script declares stays when its file is also imported."""
    path = import_path(task.code, task.name)
    earlier = _TASKS.get(path)
    if earlier is None or earlier.function.__module__ != "__main__":
        _TASKS[path] = cast("Task[..., object]", task)


def _hook_name(hook: Callable[P, R] | Reference, role: str, code: dict[str, str]) -> str:
    """The name to record of a hook; a declared one is added to `code`."""
    if isinstance(hook, Reference):
        code[hook.name] = hook.path
        return hook.name
    name, path = _declared(hook, role, getattr(hook, "__weft_name__", None))
    code.update(path)
    return name


def search(
    *,
    version: int,
    name: str | None = None,
    libraries: tuple[str, ...] | Callable[[Mapping[str, Argument]], tuple[str, ...]] = (),
) -> Callable[[Callable[..., SearchBody]], Callable[..., SearchCall]]:
    """Declare a search: a generator that yields rounds of tasks and returns the answer.

    `version` is part of a run's identity: raise it when the search decides differently.
    `name`, such as `pricing.fit`, identifies the search in the ledger instead of its import path.
    `libraries` names installed distributions whose version can change the outcome, or is a
    function that names them from the search's arguments.
    Keyword-only parameters `seed`, `inputs` and `budget` are filled in by the engine.

    >>> import weft
    >>> @weft.search(version=1)
    ... def nothing():
    ...     yield []
    ...     return 7
    >>> nothing().version
    1
    """
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise SearchInvalid(f"a search's version is a whole number from 1, not {version!r}")

    def declare(body: Callable[..., SearchBody]) -> Callable[..., SearchCall]:
        known_as, code = _declared(body, "search", name)
        if not inspect.isgeneratorfunction(body):
            raise SearchInvalid(f"search {known_as} never yields", hint="yield rounds of tasks")
        signature = _plain_signature(body, known_as)
        needs = tuple(word for word in CONTEXT if _takes_keyword(signature, word))
        parameters = [p for p in signature.parameters.values() if p.name not in needs]
        public = inspect.Signature(parameters)

        def call(*args: Argument, **kwargs: Argument) -> SearchCall:
            try:
                binding = public.bind(*args, **kwargs)
            except TypeError as error:
                raise SearchInvalid(f"call of search {known_as}: {error}") from None
            binding.apply_defaults()
            values = binding.arguments
            names = libraries(values) if callable(libraries) else libraries
            return SearchCall(known_as, version, values, body, names, needs, code)

        call.__doc__, call.__name__, call.__wrapped__ = body.__doc__, body.__name__, body  # type: ignore[attr-defined]
        call.is_search, call.search_name = True, known_as  # type: ignore[attr-defined]
        return call

    return declare


def _declared(function: Callable[P, R], role: str, name: str | None) -> tuple[str, Code]:
    """The name that identifies a function, and where to import it if that is not the name."""
    path = import_name(function, role)
    if name is None:
        return path, ()
    _register(name, path, function.__module__, role)
    return name, ((name, path),)


def _register(name: str, path: str, module: str, role: str) -> None:
    """Note where a declared name is; refuse what is no name, and a name that is taken."""
    if len(name) > MAX_NAME_CHARS or not _NAME.fullmatch(name):
        raise SearchInvalid(
            f"{role} {path}: name {name[:MAX_NAME_CHARS]!r} is not a name",
            hint="use letters, digits, '_', '-' and single dots, like pricing.score",
        )
    earlier_path, earlier_module = _DECLARED.get(name, (path, ""))
    # a module that was unloaded holds no name
    if earlier_path != path and earlier_module in sys.modules and _holds(earlier_path, path):
        raise SearchInvalid(
            f"{earlier_path} and {path} are both named {name!r}", hint="give one another name"
        )
    _DECLARED[name] = (path, module)


def _holds(earlier: str, path: str) -> bool:
    """Whether a function still holds its name: cells may be edited, renamed and run again."""
    module = earlier.partition(":")[0]
    return module != MAIN and (not is_stored_name(module) or path.startswith(f"{module}:"))


def import_name(function: Callable[P, R], role: str) -> str:
    """Return `module:function`; refuse what a worker could not import by that name."""
    module, name = function.__module__, function.__qualname__
    if "<" in name or "." in name:
        raise SearchInvalid(
            f"{role} {module}:{name} is defined inside a function or class",
            hint="move it to the top level of its module",
        )
    if module == MAIN and not _is_of_cell(function):
        module = _main_module(role, name)
    return f"{module}:{name}"


def _is_of_cell(function: Callable[P, R]) -> bool:
    """Whether a function of `__main__` was typed in, and its source kept: not one of a script.

    `weft.run` makes a module of such functions.
    """
    file = getattr(sys.modules[MAIN], "__file__", None) or "<"
    place = cell_of(function)
    return place is not None and (file.startswith("<") or place.startswith("<"))


def _main_module(role: str, name: str) -> str:
    """The name under which the running script can be imported again."""
    main = sys.modules[MAIN]
    spec = getattr(main, "__spec__", None)
    if spec is not None and spec.name != "__main__":  # python -m; a folder or zip has that name
        return str(spec.name)
    file = getattr(main, "__file__", None)
    if file is not None and file.startswith("<"):  # what is read from a pipe
        file = None
    if file is None or Path(file).stem == "__main__" or not Path(file).stem.isidentifier():
        where = Path(file).name if file else "an interactive session whose source is not kept"
        others = "" if file else ", or use IPython, Jupyter or the prompt of Python 3.13"
        raise SearchInvalid(
            f"{role} {name} is defined in {where}, which a worker cannot import",
            hint=f"put it in a file such as my_search.py and `from my_search import` it{others}",
        )
    return Path(file).stem


def _plain_signature(function: Callable[P, R], name: str) -> inspect.Signature:
    signature = inspect.signature(function)
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise SearchInvalid(
                f"{name} takes *{parameter.name}; arguments are recorded by name",
                hint="name each parameter, or take one list or dict",
            )
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise SearchInvalid(f"{name}: parameter {parameter.name} must not be positional-only")
    return signature


def _takes_keyword(signature: inspect.Signature, word: str) -> bool:
    parameter = signature.parameters.get(word)
    return parameter is not None and parameter.kind is parameter.KEYWORD_ONLY


def _checked_limits(
    timeout_s: float | None,
    retries: int | None,
    memory_mb: int | None,
    gpu: int,
    group: str | None,
) -> Limits:
    if timeout_s is not None and not timeout_s > 0:
        raise SearchInvalid(f"timeout_s must be above 0, not {timeout_s!r}")
    if retries is not None and not 0 <= retries <= 100:
        raise SearchInvalid(f"retries must be 0 to 100, not {retries!r}")
    if memory_mb is not None and memory_mb < 1:
        raise SearchInvalid(f"memory_mb must be 1 or more, not {memory_mb!r}")
    if gpu not in (0, 1):
        raise SearchInvalid(f"gpu must be 0 or 1, not {gpu!r}")
    return Limits(timeout_s, retries, memory_mb, gpu, group)
