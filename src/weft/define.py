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
from types import MappingProxyType
from typing import Final, Generic, ParamSpec, TypeAlias, TypeVar, cast, overload

from weft import loaded
from weft.cells import MAIN, is_stored_name
from weft.cells.definitions import cell_of
from weft.errors import SearchInvalid
from weft.model.records import NO_TYPES, FunctionTypes, types_of
from weft.model.tasks import COMMAND, Code, Limits, SearchBody, SearchCall, TaskCall, import_path
from weft.model.templates import ENGINE_NAMES, names_in, text_of
from weft.model.values import Argument, Object

P = ParamSpec("P")
R = TypeVar("R")
Libraries: TypeAlias = tuple[str, ...] | Callable[[Mapping[str, Argument]], tuple[str, ...]]
Run = TypeVar("Run")
Template = TypeVar("Template")
CONTEXT = ("seed", "inputs", "budget")
"""Keyword-only parameters that the engine fills in: all for a search, `seed` for a task."""
SEED: Final[int] = 0
"""`*, seed: int = weft.SEED`: tells type checkers that callers leave it out; the engine fills it.

Without the default it works just the same; then a type checker asks every caller for a seed."""
INPUTS: Final[Mapping[str, Object]] = MappingProxyType({})
"""`*, inputs: Mapping[str, weft.Object] = weft.INPUTS`: the same for the inputs of a search."""
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
        self.source = _source_of(function)
        """The file it was declared in, as it was then."""
        self.__doc__ = function.__doc__
        self.__wrapped__ = function
        _refuse_unusual(function, self.name)
        signature = _plain_signature(function, self.name)
        self.needs_seed = _takes_keyword(signature, "seed")
        self._parameters = [p for p in signature.parameters.values() if p.name != "seed"]
        if not self.needs_seed:
            self._parameters = list(signature.parameters.values())
        self._names = tuple(p.name for p in self._parameters)
        self._positional = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in self._parameters)
        self._is_quick = False
        """Whether a call by position needs no checks; not before the first one."""
        _remember(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> TaskCall:
        """Describe a call with these arguments; defaults are filled in and recorded.

        Type checkers see the function's own parameters; `seed: int = weft.SEED` is one that
        callers leave out.
        """
        if self._is_quick and len(args) == len(self._names) and not kwargs:
            values: dict[str, Argument] = dict(zip(self._names, args, strict=True))  # type: ignore[arg-type]
            return TaskCall(self.name, values, self.limits, self.code)
        self._check_bound()
        signature = inspect.Signature(self._parameters)
        try:
            binding = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise SearchInvalid(f"call of task {self.name}: {error}") from None
        binding.apply_defaults()
        self._is_quick = self._positional
        return TaskCall(self.name, binding.arguments, self.limits, self.code)

    def _check_bound(self) -> None:
        """Refuse a task that its module has under another name than its function's.

        A worker imports it by the function's name, and would find the function there.
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

    `argv`, `env` and `cwd` are templates: `{name}` stands for that value of `args`, text or a
    number, for what `prepare` returns by that name, or for one of `{out_dir}`, `{tmp_dir}`,
    `{attempt}`, `{seed}`, `{slot}`, `{python}`, `{run_id}`, `{work_dir}` (the node's folder). Any
    other name is an error; write `{{name}}` for the text `{name}`. `${name}` is left to the shell.
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
    if prepare is None or not (isinstance(prepare, Reference) or is_literal(prepare)):
        _check_placeholders((*argv, cwd, *(env or {}).values()), args or {}, prepare is not None)
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


def _check_placeholders(
    templates: Sequence[str], args: Mapping[str, object], prepared: bool
) -> None:
    """Refuse placeholders that stand for nothing, for two things, or for what is no text.

    Names that a `prepare` function may add are known on the slot only, and checked there.
    """
    for name in names_in(templates):
        where = f"command {templates[0][:40]!r}: {{{name}}}"
        if name in ENGINE_NAMES and name in args:
            raise SearchInvalid(
                f"{where} is a name of the engine and one of args", hint="rename the one in args"
            )
        if name in args and text_of(args[name]) is None:
            raise SearchInvalid(
                f"{where} is {described(args[name])} in args; only text and numbers can be put in",
                hint="give it as text, such as json.dumps(…)",
            )
        if name not in (*ENGINE_NAMES, *args) and not prepared:
            raise SearchInvalid(
                f"{where} stands for nothing",
                hint=f"give {name} in args, or write {{{{{name}}}}} for the text in braces;"
                f" there are {', '.join(sorted({*ENGINE_NAMES, *args}))}",
            )


def is_literal(hook: object) -> bool:
    """Whether a `prepare` function leaves braces that name nothing as they are."""
    return getattr(hook, "__weft_literal__", False) is True


def hook(*, name: str, literal: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare the name of a function that runs around a command: `prepare`, `collect`, `on_broken`.

    Like `name` of a task it identifies the function in keys and ledger instead of its import path.
    In commands that a `literal` one prepares, `{name}` stands for names of the engine and for what
    it returns only; other braces stay as they are. That suits commands that other people wrote.
    """

    def declare(function: Callable[P, R]) -> Callable[P, R]:
        _declared(function, "hook", name)
        _source_of(function)
        function.__weft_name__ = name  # type: ignore[attr-defined]
        function.__weft_literal__ = literal  # type: ignore[attr-defined]
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
    libraries: Libraries = (),
    failures_expected: bool = False,
) -> Callable[[Callable[P, SearchBody]], Callable[P, SearchCall]]:
    """Declare a search: a generator that yields rounds of tasks and returns the answer.

    `version` is part of a run's identity: raise it when the search decides differently.
    `name`, such as `pricing.fit`, identifies the search in the ledger instead of its import path.
    `libraries` names installed distributions whose version can change the outcome, or is a
    function that names them from the search's arguments.
    `failures_expected` says that the run is in order when most tasks fail: no warning, exit code 0.
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

    def declare(body: Callable[P, SearchBody]) -> Callable[P, SearchCall]:
        declaration = _declare_search(body, name, version, libraries, failures_expected)

        def call(*args: P.args, **kwargs: P.kwargs) -> SearchCall:
            # by the attribute: %autoreload of a notebook puts a newer one there
            current: SearchDeclaration = call.declaration  # type: ignore[attr-defined]
            return current.bind(args, kwargs)  # type: ignore[arg-type]

        call.__doc__, call.__name__, call.__qualname__ = body.__doc__, body.__name__, body.__name__
        call.__module__, call.__wrapped__ = body.__module__, body  # type: ignore[attr-defined]
        call.declaration, call.is_search = declaration, True  # type: ignore[attr-defined]
        call.search_name = declaration.name  # type: ignore[attr-defined]
        return call

    return declare


@dataclass(frozen=True, slots=True)
class SearchDeclaration:
    """What `@weft.search` knows of a search: all that a call of it needs beside its arguments."""

    name: str
    version: int
    body: Callable[..., SearchBody]
    libraries: Libraries
    needs: tuple[str, ...]
    code: Code
    failures_expected: bool
    source: loaded.LoadedSource | None
    signature: inspect.Signature

    def bind(self, args: Sequence[Argument], kwargs: Mapping[str, Argument]) -> SearchCall:
        """Describe a call with these arguments; defaults are filled in and recorded."""
        try:
            binding = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise SearchInvalid(f"call of search {self.name}: {error}") from None
        binding.apply_defaults()
        values, libraries = binding.arguments, self.libraries
        return SearchCall(
            self.name, self.version, values, self.body,
            libraries(values) if callable(libraries) else libraries, self.needs,
            self.code, self.failures_expected, self.source,
        )  # fmt: skip


def _declare_search(
    body: Callable[..., SearchBody],
    name: str | None,
    version: int,
    libraries: Libraries,
    failures_expected: bool,
) -> SearchDeclaration:
    known_as, code = _declared(body, "search", name)
    if not inspect.isgeneratorfunction(body):
        raise SearchInvalid(f"search {known_as} never yields", hint="yield rounds of tasks")
    signature = _plain_signature(body, known_as)
    needs = tuple(word for word in CONTEXT if _takes_keyword(signature, word))
    parameters = [p for p in signature.parameters.values() if p.name not in needs]
    public = inspect.Signature(parameters)
    source = _source_of(body)
    return SearchDeclaration(
        known_as, version, body, libraries, needs, code, failures_expected, source, public
    )


def _source_of(function: Callable[P, R]) -> loaded.LoadedSource | None:
    """The file that a function is declared in, as it is now; None for a cell or a prompt."""
    typed = getattr(function, "__code__", None)
    if typed is None or typed.co_filename.startswith("<"):
        return None
    return loaded.note(function.__module__)


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


def import_name(function: Callable[P, R], role: str, *, or_class: bool = False) -> str:
    """Return `module:function`; refuse what a worker could not import by that name."""
    if not (or_class and inspect.isclass(function)):
        _refuse_nameless(function, role)
    module, name = function.__module__, function.__qualname__
    if "<" in name or "." in name:
        raise SearchInvalid(
            f"{role} {module}:{name} is defined inside a function or class",
            hint="move it to the top level of its module",
        )
    if module == MAIN and not _is_of_cell(function):
        module = _main_module(role, name)
    return f"{module}:{name}"


def _refuse_nameless(function: object, role: str) -> None:
    """Refuse what is no function of a module: a worker could not import it by name."""
    if inspect.isfunction(function):
        if function.__name__ == "<lambda>":
            raise SearchInvalid(
                f"{role} is a lambda, which has no name that a worker could import",
                hint="write it as a def at the top level of its module",
            )
        return
    if isinstance(function, Task):
        raise SearchInvalid(f"{role} {function.name} is a task already", hint="declare it once")
    named = f"{getattr(function, '__module__', None)}:{getattr(function, '__qualname__', '')}"
    if inspect.isclass(function):
        what = f"is class {named}"
    elif inspect.isbuiltin(function):
        what = f"{named} is built in"
    else:
        what = f"is {described(function)}"
    raise SearchInvalid(
        f"{role} {what}, not a function of a module",
        hint="write a def at the top level of a module that calls it",
    )


def _refuse_unusual(function: Callable[P, R], name: str) -> None:
    """Refuse a function whose calls give no value by themselves."""
    if inspect.iscoroutinefunction(function):
        raise SearchInvalid(
            f"task {name} is async", hint="write a plain function, with asyncio.run(…) inside"
        )
    if inspect.isgeneratorfunction(function):
        raise SearchInvalid(f"task {name} yields", hint="return its values, as one list")


def described(value: object) -> str:
    """The kind of a value in words.

    >>> described(3), described(len), described(described)
    ('an int', 'a builtin_function_or_method', 'a function')
    """
    name = type(value).__name__
    return f"{'an' if name[:1] in 'aeiou' else 'a'} {name}"


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
