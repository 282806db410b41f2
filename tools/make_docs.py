"""Write the generated pages under docs/, or check that they are current.

    python tools/make_docs.py            write every page
    python tools/make_docs.py --check    write nothing, exit 1 when a page is stale

A page is a path and a function that returns its text; add it to PAGES.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import api_page
import cli_page
import language_page

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Page:
    """A generated page: its path relative to the project, and the function that renders it."""

    path: str
    render: Callable[[], str]


PAGES: tuple[Page, ...] = (
    Page("docs/api.md", api_page.render),
    Page("docs/cli.md", cli_page.render),
    Page("docs/arc-language.md", language_page.render),
)


def stale(pages: tuple[Page, ...], root: Path) -> list[tuple[Path, str]]:
    """Return the file and the new text of every page that differs from its file."""
    outdated = []
    for page in pages:
        target = root / page.path
        text = page.render()
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            outdated.append((target, text))
    return outdated


def main(argv: list[str]) -> int:
    """Write stale pages; with `--check` only name them."""
    if argv not in ([], ["--check"]):
        print("usage: make_docs.py [--check]", file=sys.stderr)
        return 2
    changes = stale(PAGES, ROOT)
    for target, text in changes:
        name = target.relative_to(ROOT)
        if argv:
            print(f"{name} is stale; next: make docs", file=sys.stderr)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            print(f"wrote {name}")
    return 1 if argv and changes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
