"""Finds a search by name, and continues a run from nothing but its folder.

run.toml ── where to import from ──► the search's code ─┐
genesis (manifest or ledger) ── args, seed, limits ─────┴─► Decision ──► execute
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from weft import loaded
from weft.coordinator.loop import Watcher
from weft.define.searches import SearchDeclaration
from weft.errors import InputError, RunFolderInvalid, SearchInvalid, WeftError
from weft.model.records import rebuild_args, types_of
from weft.model.tasks import SearchCall
from weft.model.values import JsonValue, from_wire
from weft.product import check_extra, check_name, check_resume, locate
from weft.runs import execution as executions
from weft.runs.decision import Decision, check_same, decision_from_genesis
from weft.runs.execution import ExecutionChanges
from weft.runs.opening import recorded_genesis
from weft.runs.outcome import Run, read_outcome
from weft.runs.remember import recalled
from weft.runs.results import StoredValues
from weft.runs.run import execute, real_place
from weft.runs.sealing import is_over
from weft.runs.sources import package_of
from weft.runs.storedcode import load_stored
from weft.storage.disk import Disk
from weft.storage.folder import RunFile, RunFolder
from weft.storage.ledgerfile import read_checkpoint
from weft.storage.objects import ObjectStore

MAX_NAMED = 8
"""How many searches a message lists at most."""


def load_search(spec: str, search_path: Path | None = None) -> Callable[..., SearchCall]:
    """Import the search given as `module:search`, `path/to/file.py:search` or a declared name.

    A declared name is that of a search of an installed product. Modules in `search_path`, or in
    the current folder, take precedence over installed ones. Raises an `InputError` that states
    what was found instead.
    """
    check_extra(spec)
    place, _, name = (locate(spec) or spec).rpartition(":")
    if not place or not name:
        raise InputError(
            f"{spec!r} does not name a search",
            hint="write module:search, path/file.py:search or the name of an installed search",
        )
    if place.endswith(".py") or "/" in place:
        module = _import_file(Path(place))
    else:
        module = _import_module(place, search_path or Path.cwd())
    search: Callable[..., SearchCall] | None = getattr(module, name, None)
    if search is not None and getattr(search, "is_search", False):
        return search
    what = (
        "has no search"
        if search is None
        else f"has {name}, a {type(search).__name__}, but no search"
    )
    raise InputError(f"{place} {what} {name}; {_searches_in(module)}")


def called(
    search: Callable[..., SearchCall], spec: str, args: Mapping[str, JsonValue]
) -> SearchCall:
    """Call a search with `args`; raises SearchInvalid for arguments that it does not take.

    `search` may be declared with `@weft.search`, or be a function that returns a search, such as
    a study.
    """
    declaration = getattr(search, "declaration", None)
    signature = inspect.signature(search, follow_wrapped=False)
    if isinstance(declaration, SearchDeclaration):
        signature = declaration.signature
    try:
        signature.bind(**args)
    except TypeError as error:
        hint = _expected_args(signature)
        raise SearchInvalid(f"call of search {spec}: {error}", hint=hint) from None
    return search(**args)


def _expected_args(signature: inspect.Signature) -> str:
    r"""Return a hint that shows the option with a search's arguments.

    >>> _expected_args(inspect.signature(lambda width, depth=4: None))
    'give its arguments as --args \'{"width": …, "depth": 4}\''
    """
    values = [
        f'"{name}": {_default_text(parameter)}' for name, parameter in signature.parameters.items()
    ]
    if not values:
        return "it takes no arguments"
    return f"give its arguments as --args '{{{', '.join(values)}}}'"


def _default_text(parameter: inspect.Parameter) -> str:
    """Return a parameter's default as JSON, or `…` if it has none that JSON can express."""
    try:
        return json.dumps(parameter.default, ensure_ascii=False)
    except (TypeError, ValueError):  # no default, or one that is an object
        return "…"


def find_search(
    name: str, imports: Mapping[str, str], search_path: Path | None
) -> Callable[..., SearchCall]:
    """Import the search that a recorded run names: by its import path, or by its declared name.

    A declared name is imported from where it was according to run.toml, or from where it is now
    according to an installed product.
    """
    check_name(name)
    check_extra(name)
    if ":" in name:
        return load_search(name, search_path)
    places = dict.fromkeys(path for path in (imports.get(name), locate(name)) if path)
    broken: SearchInvalid | None = None
    for place in places:
        try:
            search = load_search(place, search_path)
        except SearchInvalid as error:
            broken = broken or error
        except InputError:  # it was moved: an installed product may know where to
            continue
        else:
            if getattr(search, "search_name", None) == name:
                return search
    raise broken or _not_installed(name, imports.get(name))


def _not_installed(name: str, place: str | None) -> InputError:
    before = "" if place is None else f"; this run imported it from {place}, where it no longer is"
    return InputError(
        f"no installed package has a search named {name!r}{before}",
        hint="install the package, or give its folder with --path",
    )


def search_of(run: Path) -> str:
    """Return the name of a run's search."""
    return RunFolder(run).read_run_file().search


def resume(
    run: Path,
    changes: ExecutionChanges | None = None,
    *,
    path: Path | None = None,
    watcher: Watcher | None = None,
) -> Run:
    """Continue an interrupted run; a finished one answers at once and starts nothing.

    A finished run that the given key has not signed is signed, after the same checks.

    What determines the outcome comes from the run's own records, inputs from its objects. The
    search is imported from `path`, or from where run.toml says, or from the current folder.
    It is executed as before, apart from the changes.
    """
    folder = RunFolder(run)
    execution = recalled(folder, folder.read_run_file(), changes)
    sign_key = execution.sign_key
    if is_over(folder, sign_key):
        return read_outcome(folder, None)
    try:
        with executions.preloaded(execution, search_of(run)) as forking:
            decision, _ = recorded_decision(folder, path, execution.accept)
            check_resume(decision.call.name, decision.inputs, execution.base)
            return execute(decision, forking, {}, watcher)
    except InputError:
        if sign_key or not folder.is_finished():
            raise
        return read_outcome(folder, None)  # only file modes were left to set: not here, then


def recorded_decision(
    folder: RunFolder, path: Path | None, accept: tuple[str, ...] = ()
) -> tuple[Decision, str]:
    """Return a recorded run's decision, with its search imported, and its genesis.

    A notebook's search is executed from the code that the run stores, if that is allowed.

    Raises `RunMismatch` if the current search or a library differs from the recorded one, and
    `ObjectDamaged` if an input is damaged.
    """
    genesis = recorded_genesis(folder, read_checkpoint(folder.checkpoint))
    if genesis is None:
        raise RunFolderInvalid(
            f"{folder.path} was stopped before anything was recorded",
            hint="repeat the command that started it",
        )
    raw = json.loads(genesis)
    run_file = folder.read_run_file()
    base = recalled(folder, run_file).base
    if base is not None and str(base) not in sys.path:
        sys.path.append(str(base))  # where modules that a config names were found
    search = _recorded_search(folder, run_file, raw["search"], path, accept)
    objects = ObjectStore(folder.objects, Disk())
    body: Any = inspect.unwrap(search)
    recorded = from_wire(raw["config"]["args"])
    args = rebuild_args(recorded, types_of(body), StoredValues(objects).read)
    decision = decision_from_genesis(genesis, search(**args))
    check_same(genesis, decision.genesis_text(), folder.path)
    for digest in decision.inputs.values():
        objects.check(digest)
    if decision.retry is not None:
        objects.check(decision.retry.ledger)
    return decision, genesis


def _recorded_search(
    folder: RunFolder, run_file: RunFile, name: str, path: Path | None, accept: tuple[str, ...]
) -> Callable[..., SearchCall]:
    """Load the search from the code that the run stores, or import it."""
    place, run_id = real_place(), run_file.run_id
    import_path = run_file.imports.get(name, name)
    search = load_stored(folder, import_path, run_id, accept, place.heads, place.host)
    if search is not None:
        return search
    return find_search(name, run_file.imports, path or recorded_folder(folder, run_file))


def recorded_folder(folder: RunFolder, run_file: RunFile) -> Path | None:
    """Return the folder that run.toml names for the search, unless the run was moved away."""
    if not run_file.search_path:
        return None
    place = (folder.path.absolute() / run_file.search_path).resolve()
    paths = (run_file.imports.get(run_file.search, run_file.search), *run_file.imports.values())
    tops = [package_of(path) for path in paths]
    has_modules = any((place / f"{top}.py").is_file() or (place / top).is_dir() for top in tops)
    return place if has_modules else None


# -- importing ----------------------------------------------------------------------------


def _import_file(file: Path) -> ModuleType:
    """Import a file under the name that workers will know it by."""
    try:
        file = file.absolute()
        if not file.is_file():
            what = "is not a file" if file.exists() else "does not exist"
            raise InputError(f"{file} {what}", hint="write path/file.py:search")
    except (OSError, ValueError) as error:
        raise InputError(f"{str(file)[:200]!r}: {error}") from None
    folder, names = file.parent, [file.stem]
    while (folder / "__init__.py").is_file():
        folder, names = folder.parent, [folder.name, *names]
    if not all(name.isidentifier() for name in names):
        raise InputError(
            f"{file.name} cannot be imported by a worker", hint="name it like my_search.py"
        )
    module = _import_module(".".join(names), folder)
    imported = getattr(module, "__file__", None)
    if imported is None or not Path(imported).samefile(file):
        raise InputError(
            f"{file}: the name {names[0]} is taken by {imported or 'a built-in module'}",
            hint="rename the file",
        )
    return module


def _import_module(name: str, folder: Path) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise InputError(f"{name!r} is not a module name", hint="write module:search")
    place = str(folder.absolute())
    if place not in sys.path[:1]:  # further back, a module of Python's own could be found first
        sys.path.insert(0, place)
    importlib.invalidate_caches()
    try:
        _check_own(name, folder)
        return loaded.import_first(name)
    except WeftError:
        raise
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise _broken(name, error) from error
        raise InputError(
            f"there is no module {name} in {place} or among the installed ones",
            hint="give its folder with --path, or write path/file.py:search",
        ) from None
    except (Exception, SystemExit) as error:
        raise _broken(name, error) from error


def _check_own(name: str, folder: Path) -> None:
    """Refuse a file whose name is taken by a module that Weft needs."""
    top = package_of(name)
    file = folder / f"{top}.py"
    if top in (*loaded.ENGINE_NEEDS, *sys.builtin_module_names) and file.is_file():
        raise InputError(
            f"{file}: the name {top} is taken by a module of Python itself", hint="rename the file"
        )


def _broken(name: str, error: BaseException) -> SearchInvalid:
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    if isinstance(error, SyntaxError):
        where = f" ({Path(error.filename or name).name}:{error.lineno})"
        error = SyntaxError(error.msg)
    reason = " ".join(str(error).split())
    return SearchInvalid(f"importing {name} raised {type(error).__name__}: {reason}{where}")


def _searches_in(module: ModuleType) -> str:
    """Return in words which searches a module has."""
    names = sorted(n for n, v in list(vars(module).items()) if getattr(v, "is_search", False))
    if not names:
        return "it has no function marked @weft.search"
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return f"its searches are: {', '.join(names[:MAX_NAMED])}{more}"
