"""What a search brings as a product: a command, searches by name, report pages, a warm-up.

A package declares one `Product` under the entry-point group `weft.searches`; the searches that
ship with Weft come through the same door. A product only names its parts, as import paths
`module:attribute`; they are imported when they are used, so that `weft --help` stays quick.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from weft.errors import RunMismatch, SearchInvalid

GROUP = "weft.searches"


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """What a package with a search adds to Weft; empty paths are parts that it does not have."""

    name: str
    """Of the command: `weft NAME …`."""
    summary: str
    """One line for `weft --help`."""
    app: str = ""
    """The command's `typer.Typer`."""
    searches: Mapping[str, str] = field(default_factory=dict)
    """Import path of each search by its declared name."""
    pages: str = ""
    """`pages(run: RunView) -> Sequence[Page]`, for the report of its runs."""
    lines: str = ""
    """`lines(run: RunView) -> Sequence[str]`, for `weft status`."""
    finish: str = ""
    """`finish(run: Path) -> None`: writes its own files into the folder of a finished run."""
    warm_up: str = ""
    """`warm_up(say: Callable[[str], None]) -> None`: what takes long once, such as compiling."""
    former_names: Mapping[str, str] = field(default_factory=dict)
    """Names of searches in older ledgers that cannot be continued, with their present names."""

    def part(self, path: str) -> Any:
        """Import one of the parts above."""
        module, _, attribute = path.partition(":")
        return getattr(importlib.import_module(module), attribute)


@cache
def products() -> tuple[Product, ...]:
    """Return the installed products, by name; two of one name are refused."""
    entries = importlib.metadata.entry_points(group=GROUP)
    by_name: dict[str, Product] = {}
    for entry in sorted(entries, key=lambda entry: (entry.name, entry.value)):
        product = entry.load()
        if not isinstance(product, Product):
            raise SearchInvalid(f"entry point {entry.value} of {GROUP} is not a weft.Product")
        if by_name.setdefault(product.name, product) is not product:
            raise SearchInvalid(f"two installed packages have a search called {product.name!r}")
    return tuple(by_name[name] for name in sorted(by_name))


def product_of(search: str) -> Product | None:
    """Return the product that has the search of this declared name."""
    return next((product for product in products() if search in product.searches), None)


def locate(search: str) -> str | None:
    """Return the import path of a search of an installed product."""
    product = product_of(search)
    return None if product is None else product.searches[search]


def check_name(search: str) -> None:
    """Refuse to continue a run whose search had another name when it began."""
    for product in products():
        if search in product.former_names:
            raise RunMismatch(
                f"the run was begun by an older Weft: its search {search} is now"
                f" {product.former_names[search]}, which decides under another name",
                hint="finish it with the version that began it, or start again with a new --out",
            )
