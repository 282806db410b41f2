"""Small HTML cards that show our objects in notebooks; every text is escaped. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

MAX_CHARS = 1000
_TABLE = '<table style="border-collapse:collapse;text-align:left">'
_CELL = "padding:2px 12px 2px 0;text-align:left;vertical-align:top"


def card(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """Return names and values as a titled list."""
    lines = "".join(
        f'<tr><th scope="row" style="{_CELL};font-weight:normal;opacity:.7">{shown(name)}</th>'
        f'<td style="{_CELL}"><code>{shown(value)}</code></td></tr>'
        for name, value in rows
    )
    caption = f'<caption style="text-align:left"><b>{shown(title)}</b></caption>'
    return f"{_TABLE}{caption}{lines}</table>"


def table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a titled table."""
    first = "".join(f'<th scope="col" style="{_CELL}">{shown(head)}</th>' for head in heads)
    lines = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}"><code>{shown(t)}</code></td>' for t in row) + "</tr>"
        for row in rows
    )
    caption = f'<caption style="text-align:left">{shown(title)}</caption>'
    return f"{_TABLE}{caption}<thead><tr>{first}</tr></thead><tbody>{lines}</tbody></table>"


def shown(text: str) -> str:
    """Truncate a text, replace non-printable characters by escapes, and escape markup."""
    cut = text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS]}…"
    printable = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in cut)
    return escape(printable)
