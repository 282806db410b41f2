"""What a search provides as a product: a command, searches by name, report pages, a warm-up.

A package declares one `Product` under the entry-point group `weft.searches`, as do the searches
that ship with Weft. A product only names its parts, as import paths `module:attribute`; they are
imported when they are used, so that `weft --help` stays fast.
A product that cannot be used is skipped and the reason reported; everything else still works.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from weft.errors import RunMismatch, SearchInvalid, WeftError
from weft.lazy_imports import EXTRAS, require

GROUP = "weft.searches"
SHIPPED = "weft"
"""The distribution whose products keep their names whatever else is installed."""
MAX_REASON_CHARS = 300
_COMMAND_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
_IMPORT_PATH = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class CommandNeeds:
    """What the commands of a run need from a machine besides programs."""

    sandbox: str = "off"
    """The strictest setting among them: `off`, `auto` or `required`."""
    variables: tuple[str, ...] = ()
    """Names of environment variables whose values no other process may see."""


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """What a package with a search adds to Weft; omit the parts it does not have."""

    name: str
    """The name of the command: `weft NAME …`."""
    summary: str
    """One line for `weft --help`."""
    app: str = ""
    """The command's `typer.Typer`."""
    searches: Mapping[str, str] = field(default_factory=dict)
    """Import path of each search by its declared name."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """A short title for each search, by its declared name. Default: derived from the name."""
    pages: str = ""
    """`pages(run: RunView) -> Sequence[Page]`, for the report of its runs."""
    lines: str = ""
    """`lines(run: RunView) -> Sequence[str]`, for `weft status`."""
    follow: str = ""
    """`follow(run: Path, watcher: Watcher | None, events: Path | None) -> Watcher`, with `close()`.

    The result follows the progress of a resumed run and forwards it to `watcher`. `events` is a
    file to which it appends what happens, one JSON object per line."""
    finish: str = ""
    """`finish(run: Path) -> None`: writes its own files into the folder of a finished run."""
    warm_up: str = ""
    """`warm_up(say: Callable[[str], None]) -> None`: slow one-time work, such as compiling.

    Called before the workers of each run of its searches start; returns at once if done before."""
    preload: str = ""
    """`preload() -> None`: loads what its tasks need, in a process from which workers fork.

    Only commands that ask for it, and `weft resume`, start that process."""
    check_resume: str = ""
    """`check_resume(inputs: Mapping[str, str], base: Path) -> None`: refuses to resume a run.

    `inputs` are the digests of its inputs by name, `base` is the folder of its config. Raises
    `RunMismatch` if a file there has changed since the run began."""
    command_needs: str = ""
    """`command_needs(args: Mapping[str, Value]) -> CommandNeeds`: what its commands will need.

    `args` are the arguments of its search, as recorded."""
    extra: str = ""
    """The extra of Weft that its commands and searches need: `arc` stands for `weft[arc]`."""
    search_extras: Mapping[str, str] = field(default_factory=dict)
    """Further extras that single searches need, by the search's declared name."""
    former_names: Mapping[str, str] = field(default_factory=dict)
    """Names of searches in older ledgers that cannot be continued, with their current names."""

    def __post_init__(self) -> None:
        if not _COMMAND_NAME.fullmatch(self.name):
            raise SearchInvalid(
                f"product name {self.name!r:.60} cannot be a command",
                hint="use lower-case letters, digits and '-', like hello",
            )
        if not (self.summary and self.summary.isprintable()):
            raise SearchInvalid(f"product {self.name}: summary must be one line of text")
        parts = (
            self.app, self.pages, self.lines, self.follow, self.finish, self.warm_up,
            self.preload, self.check_resume, self.command_needs,
        )  # fmt: skip
        for path in (*filter(None, parts), *self.searches.values()):
            if not _IMPORT_PATH.fullmatch(path):
                raise SearchInvalid(
                    f"product {self.name}: {path!r:.80} is not an import path",
                    hint="write module:attribute",
                )
        for title in self.titles.values():
            if not (isinstance(title, str) and title.strip() and title.isprintable()):
                raise SearchInvalid(f"product {self.name}: a title is one line of text")
        for extra in filter(None, (self.extra, *self.search_extras.values())):
            if extra not in EXTRAS:
                raise SearchInvalid(
                    f"product {self.name}: Weft has no extra {extra!r:.60}",
                    hint=f"it has {', '.join(EXTRAS)}",
                )

    def part(self, path: str) -> Any:
        """Import one of the parts above; raises `SearchInvalid` naming it if that fails."""
        module, _, attribute = path.partition(":")
        try:
            return getattr(importlib.import_module(module), attribute)
        except WeftError:
            raise
        except (Exception, SystemExit) as error:  # another package's code
            self.check_extra()
            raise SearchInvalid(
                f"product {self.name}: {path} cannot be imported: {_reason(error)}",
                hint="upgrade or reinstall the package that has it",
            ) from error

    def check_extra(self, search: str = "") -> None:
        """Raise `ExtraMissing`, with the install command, if an extra it needs is missing."""
        needed = dict.fromkeys(filter(None, (self.extra, self.search_extras.get(search))))
        require(f"weft {self.name}", *needed)

    def claims(self) -> set[str]:
        """Return the names that no other product may use: command, searches, former names."""
        return {self.name, *self.searches, *self.former_names}


@dataclass(frozen=True, slots=True)
class SkippedProduct:
    """An installed product that is not used; `error` says whose it is, why, and what to do."""

    name: str
    error: SearchInvalid


@dataclass(frozen=True, slots=True)
class Installed:
    """The installed products by name, and those that were skipped."""

    products: tuple[Product, ...]
    skipped: tuple[SkippedProduct, ...]


@dataclass(frozen=True, slots=True)
class _Loaded:
    product: Product
    package: str
    shipped: bool


@cache
def installed() -> Installed:
    """Load every installed product, once; an error in one does not affect the others."""
    loaded: list[_Loaded] = []
    skipped: list[SkippedProduct] = []
    entries = importlib.metadata.entry_points(group=GROUP)
    for entry in sorted(entries, key=lambda entry: (entry.name, entry.value, _package(entry))):
        try:
            loaded.append(_Loaded(_load(entry), _package(entry), _named(entry.dist)[0] == SHIPPED))
        except SearchInvalid as error:
            skipped.append(SkippedProduct(entry.name, error))
    usable: dict[str, Product] = {}
    for candidate in loaded:
        conflict = _conflict(candidate, loaded)
        if conflict is None:
            usable[candidate.product.name] = candidate.product
        else:
            skipped.append(SkippedProduct(candidate.product.name, conflict))
    return Installed(tuple(usable[name] for name in sorted(usable)), tuple(skipped))


def products() -> tuple[Product, ...]:
    """Return the installed products that can be used, by name."""
    return installed().products


def _load(entry: importlib.metadata.EntryPoint) -> Product:
    where = f"product {entry.name!r} of package {_package(entry)} is skipped"
    hint = f"upgrade it, or pip uninstall {_named(entry.dist)[0]}"
    try:
        product = entry.load()
    except (Exception, SystemExit) as error:  # another package's code
        raise SearchInvalid(f"{where}: {entry.value} raised {_reason(error)}", hint=hint) from error
    if not isinstance(product, Product):
        kind = type(product).__name__
        raise SearchInvalid(f"{where}: {entry.value} is a {kind}, not a weft.Product", hint=hint)
    return product


def _conflict(candidate: _Loaded, loaded: Sequence[_Loaded]) -> SearchInvalid | None:
    """Return why a product cannot be used with the others; only Weft's own take precedence."""
    if candidate.shipped:
        return None
    for other in loaded:
        shared = sorted(candidate.product.claims() & other.product.claims())
        if other is not candidate and shared:
            return SearchInvalid(
                f"product {candidate.product.name!r} of package {candidate.package} is skipped:"
                f" package {other.package} has the name {shared[0]!r} too",
                hint="uninstall one of the two packages",
            )
    return None


def _package(entry: importlib.metadata.EntryPoint) -> str:
    return " ".join(filter(None, _named(entry.dist)))


@cache
def _named(distribution: importlib.metadata.Distribution | None) -> tuple[str, str]:
    """Return name and version; cached, since they are read from a file that may be long."""
    return ("?", "") if distribution is None else (distribution.name, distribution.version)


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:MAX_REASON_CHARS]


def product_of(search: str) -> Product | None:
    """Return the product that provides the search with this declared name."""
    return next((product for product in products() if search in product.searches), None)


def locate(search: str) -> str | None:
    """Return the import path of a search of an installed product."""
    product = product_of(search)
    return None if product is None else product.searches[search]


def check_extra(search: str) -> None:
    """Refuse a search of an installed product whose extra is missing."""
    product = product_of(search)
    if product is not None:
        product.check_extra(search)


def warm_up(search: str, say: Callable[[str], None]) -> None:
    """Run the slow one-time work of a search's product; `say` receives a description of it.

    A search known by its import path, `module:function`, has no product.
    """
    product = None if ":" in search else product_of(search)
    if product is None or not product.warm_up:
        return
    function = product.part(product.warm_up)
    try:
        function(say)
    except WeftError:
        raise
    except (Exception, SystemExit) as error:  # another package's code
        raise SearchInvalid(
            f"product {product.name}: {product.warm_up} raised {_reason(error)}",
            hint="upgrade or reinstall the package that has it",
        ) from error


def check_resume(search: str, inputs: Mapping[str, str], base: Path | None) -> None:
    """Let a search's product refuse to resume a run whose files beside the config have changed."""
    product = None if ":" in search else product_of(search)
    if product is not None and product.check_resume and base is not None:
        product.part(product.check_resume)(inputs, base)


def command_needs(search: str, args: Mapping[str, Any]) -> CommandNeeds:
    """Return what a search's commands will need, as stated by its product, else the defaults."""
    product = None if ":" in search else product_of(search)
    if product is None or not product.command_needs:
        return CommandNeeds()
    needs: CommandNeeds = product.part(product.command_needs)(args)
    return needs


def check_name(search: str) -> None:
    """Refuse to continue a run whose search had another name when it began."""
    for product in products():
        if search in product.former_names:
            raise RunMismatch(
                f"the run was started by an older Weft: its search {search} is now"
                f" {product.former_names[search]}, which makes decisions under another name",
                hint="finish it with the version that began it, or start again with a new --out",
            )
