"""`weft.command`, and names for the functions around it: `weft.hook`, `weft.reference`."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from weft.define.functions import checked_limits, source_of
from weft.define.names import declared, described, register
from weft.errors import SearchInvalid
from weft.model.codec import to_json
from weft.model.sandbox import Sandbox
from weft.model.tasks import COMMAND, TaskCall
from weft.model.templates import ENGINE_NAMES, names_in, text_of
from weft.model.values import Argument

P = ParamSpec("P")
R = TypeVar("R")
Run = TypeVar("Run")
Template = TypeVar("Template")
COMMAND_PATH = "weft.worker.command:run_command"


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
    sandbox: Sandbox | None = None,
) -> TaskCall:
    """Describe an external command as a task.

    `argv`, `env` and `cwd` are templates: `{name}` stands for that entry of `args` (text or a
    number), for an entry that `prepare` returns, or for one of `{out_dir}`, `{tmp_dir}`,
    `{attempt}`, `{seed}`, `{slot}`, `{python}`, `{run_id}`, `{work_dir}` (the node's folder). Any
    other name is an error; write `{{name}}` for the text `{name}`. `${name}` is left to the shell.
    `prepare(run)` and `collect(run)` are functions that run on the same slot before and after the
    command, or references to them; `run.args` are the `args` given here.
    The value is what `collect` returns, or `{"exit_code": 0, "stdout": …}`.
    Variables named in `env_from` are taken from the node's environment and never recorded.
    `timeout_s`, `retries`, `memory_mb`, `gpu` and `group` are those of `weft.task`; exit code 75 is
    also retried.
    `on_broken(run, template, exit_code)` is called if the command cannot run (126, 127); it may
    determine whose fault that is and raise its own `weft.worker.ending.Ending`. `sandbox` confines
    the command where the machine supports it; exit codes of 128+n then count as signal n.
    """
    _check_argv(argv)
    templates = (*argv, cwd, *(env or {}).values())
    for word in templates:
        if "\0" in word:
            raise SearchInvalid(f"a command cannot be given a NUL byte: {word!r:.60}")
    if prepare is None or not (isinstance(prepare, Reference) or is_literal(prepare)):
        _check_placeholders(templates, args or {}, prepare is not None)
    limits = checked_limits(timeout_s, retries, memory_mb, gpu, group)
    code = {COMMAND: COMMAND_PATH}
    recorded: dict[str, Argument] = {
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
    if sandbox is not None:
        recorded["sandbox"] = to_json(sandbox)
    return TaskCall(COMMAND, recorded, limits, tuple(code.items()))


def _check_argv(argv: Sequence[str]) -> None:
    if isinstance(argv, str) or not argv or not all(isinstance(word, str) for word in argv):
        raise SearchInvalid(
            "a command is a list of words, not one line", hint='write ["sort", "-n", "file"]'
        )


def _check_placeholders(
    templates: Sequence[str], args: Mapping[str, object], prepared: bool
) -> None:
    """Refuse placeholders that are undefined, ambiguous, or not text.

    Names that a `prepare` function may add are known only on the slot and are checked there.
    """
    for name in names_in(templates):
        where = f"command {templates[0][:40]!r}: {{{name}}}"
        if name in ENGINE_NAMES and name in args:
            raise SearchInvalid(
                f"{where} is in args, but Weft sets it itself", hint="rename the one in args"
            )
        if name in args and text_of(args[name]) is None:
            raise SearchInvalid(
                f"{where} is {described(args[name])} in args; only text and numbers are allowed",
                hint="give it as text, such as json.dumps(…)",
            )
        if name not in (*ENGINE_NAMES, *args) and not prepared:
            raise SearchInvalid(
                f"{where} is not defined",
                hint=f"give {name} in args, or write {{{{{name}}}}} for the text in braces;"
                f" known names are {', '.join(sorted({*ENGINE_NAMES, *args}))}",
            )


def is_literal(hook: object) -> bool:
    """Whether a `prepare` function leaves undefined names in braces as they are."""
    return getattr(hook, "__weft_literal__", False) is True


def hook(*, name: str, literal: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare the name of a function that runs around a command: `prepare`, `collect`, `on_broken`.

    Like `name` of a task it identifies the function in keys and ledger instead of its import path.
    In commands prepared by a `literal` hook, `{name}` refers only to Weft's own names and those the
    hook returns; other braces are left alone. Use it for commands that other people wrote.
    """

    def declare(function: Callable[P, R]) -> Callable[P, R]:
        declared(function, "hook", name)
        source_of(function)
        function.__weft_name__ = name  # type: ignore[attr-defined] # marks the function
        function.__weft_literal__ = literal  # type: ignore[attr-defined] # marks the function
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

    This lets a pure search use functions whose modules start processes or write files.
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
    register(name, path, module, "reference")
    return Reference(name, path)


def _exists(module: str) -> bool:
    """Whether a module can be found; imports only its parent packages."""
    try:
        return importlib.util.find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):  # no such package; a module without a spec
        return module in sys.modules


def _hook_name(hook: Callable[P, R] | Reference, role: str, code: dict[str, str]) -> str:
    """Return the name to record for a hook; a declared one is added to `code`."""
    if isinstance(hook, Reference):
        code[hook.name] = hook.path
        return hook.name
    name, path = declared(hook, role, getattr(hook, "__weft_name__", None))
    code.update(path)
    return name
