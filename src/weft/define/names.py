"""The name that identifies a task, a search or a hook, and the import path that a worker needs.

Names are part of keys and the ledger; the import path is sent along with them. A script run
as `__main__` is known by its file's name.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from weft.cells import MAIN, is_stored_name
from weft.cells.definitions import cell_of
from weft.errors import SearchInvalid
from weft.model.tasks import Code

P = ParamSpec("P")
R = TypeVar("R")
MAX_NAME_CHARS = 100
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")
_DECLARED: dict[str, tuple[str, str]] = {}
"""Import path and module behind each declared name; two functions cannot share one."""


def declared(function: Callable[P, R], role: str, name: str | None) -> tuple[str, Code]:
    """Return the name that identifies a function, and its import path if the two differ."""
    path = import_name(function, role)
    if name is None:
        return path, ()
    register(name, path, function.__module__, role)
    return name, ((name, path),)


def register(name: str, path: str, module: str, role: str) -> None:
    """Record where a declared name is defined; refuse invalid names and duplicates."""
    if len(name) > MAX_NAME_CHARS or not _NAME.fullmatch(name):
        raise SearchInvalid(
            f"{role} {path}: name {name[:MAX_NAME_CHARS]!r} is not valid",
            hint="use letters, digits, '_', '-' and single dots, like pricing.score",
        )
    earlier_path, earlier_module = _DECLARED.get(name, (path, ""))
    # a module that was unloaded holds no name
    if earlier_path != path and earlier_module in sys.modules and _holds(earlier_path, path):
        raise SearchInvalid(
            f"{earlier_path} and {path} are both named {name!r}", hint="rename one of them"
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
    """Refuse anything but a function of a module: a worker could not import it by name."""
    if inspect.isfunction(function):
        if function.__name__ == "<lambda>":
            raise SearchInvalid(
                f"{role} is a lambda, which has no name that a worker could import",
                hint="write it as a def at the top level of its module",
            )
        return
    if getattr(function, "is_task", False):
        known_as = getattr(function, "name", "")
        raise SearchInvalid(f"{role} {known_as} is already a task", hint="declare it once")
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


def described(value: object) -> str:
    """Return the type of a value in words.

    >>> described(3), described(len), described(described)
    ('an int', 'a builtin_function_or_method', 'a function')
    """
    name = type(value).__name__
    return f"{'an' if name[:1] in 'aeiou' else 'a'} {name}"


def _is_of_cell(function: Callable[P, R]) -> bool:
    """Whether a function of `__main__` was typed into a cell or prompt that keeps its source.

    `weft.run` builds a module from such functions.
    """
    file = getattr(sys.modules[MAIN], "__file__", None) or "<"
    place = cell_of(function)
    return place is not None and (file.startswith("<") or place.startswith("<"))


def _main_module(role: str, name: str) -> str:
    """Return the name under which the running script can be imported again."""
    main = sys.modules[MAIN]
    spec = getattr(main, "__spec__", None)
    if spec is not None and spec.name != "__main__":  # python -m; a folder or zip has that name
        return str(spec.name)
    file = getattr(main, "__file__", None)
    if file is not None and file.startswith("<"):  # a script that is read from a pipe
        file = None
    if file is None or Path(file).stem == "__main__" or not Path(file).stem.isidentifier():
        where = Path(file).name if file else "an interactive session whose source is not kept"
        others = "" if file else ", or use IPython, Jupyter or the prompt of Python 3.13"
        raise SearchInvalid(
            f"{role} {name} is defined in {where}, which a worker cannot import",
            hint=f"put it in a file such as my_search.py and `from my_search import` it{others}",
        )
    return Path(file).stem
