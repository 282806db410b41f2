"""Drawings for a report, built from elements that cannot contain code: every text is escaped.

>>> print(element("text", "a < b", x=1.5))
<text x="1.5">a &lt; b</text>
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from markupsafe import Markup, escape

from weft.inspect.report.text import visible

ELEMENTS = frozenset([
    "a", "caption", "circle", "clipPath", "code", "defs", "desc", "details", "div", "ellipse",
    "figcaption", "figure", "g", "h3", "h4", "i", "line", "linearGradient", "p", "path", "pattern",
    "polygon", "polyline", "pre", "rect", "section", "small", "span", "stop", "strong", "summary",
    "svg", "table", "tbody", "td", "text", "th", "thead", "title", "tr", "tspan", "ul", "li",
    "use",
])  # fmt: skip
_ATTRIBUTE = re.compile(r"(?!on)[A-Za-z][A-Za-z0-9-]*")
_NUMBER = re.compile(r"[-+−]?[\d,.]+(?:e[-+]?\d+)?(?:/[\d,]+)?(?: ?(?:%|×|[mµ]?s|min|h))?|–")
MAX_COLUMNS = 4
"""A table with more columns does not fit on a phone."""
_LINKS = ("href", "src", "xlink-href")


def element(name: str, *children: str, **attributes: object) -> Markup:
    """Build one element; children that are plain strings are escaped.

    An underscore in an attribute's name becomes a dash, one at its end is dropped:
    `stroke_width=2, class_="axis"`. Links may only point inside the page.
    """
    if name not in ELEMENTS:
        raise ValueError(f"element {name!r:.40} is not allowed in a report")
    parts = [_attribute(key, value) for key, value in attributes.items() if value is not None]
    inside = Markup("").join(escape(c) if _is_markup(c) else escape(visible(c)) for c in children)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), Markup("").join(parts), inside)  # noqa: S704


def drawing(width: float, height: float, *children: str, label: str) -> Markup:
    """Build an SVG that scales with the page; `label` describes it in words."""
    box = f"0 0 {_number(width)} {_number(height)}"
    return element("svg", *children, viewBox=box, role="img", aria_label=label, class_="drawing")


def wide_drawing(width: float, height: float, *children: str, label: str) -> Markup:
    """Build an SVG that stays legible on a narrow page by scrolling sideways."""
    content = drawing(width, height, *children, label=label)
    return element("div", content, class_="wide", tabindex=0, role="group", aria_label=label)


def colour_key(kinds: Mapping[str, str]) -> Markup:
    """Build a colour key: the meaning of each class of a drawing."""
    entries = (element("span", element("i", class_=kind), text) for kind, text in kinds.items())
    return element("span", *entries, class_="key")


def table(headers: list[str], rows: list[list[str]]) -> Markup:
    """Build a table with a header; columns of numbers are aligned right.

    On a phone, the rows of a table of many columns become cards with a name for each cell.
    """
    columns = [[row[at] for row in rows if at < len(row)] for at in range(len(headers))]
    sides = ["n" if _are_numbers(column) else None for column in columns]
    heads = zip(headers, sides, strict=True)
    head = element("tr", *(element("th", text, scope="col", class_=side) for text, side in heads))
    wide = len(headers) > MAX_COLUMNS
    names = headers if wide else [None] * len(headers)
    body = [
        element(
            "tr",
            *(
                element("td", text, class_=side, data_label=name)
                for text, side, name in zip(row, sides, names, strict=False)
            ),
        )
        for row in rows
    ]
    kind = "cards" if wide else None
    return element("table", element("thead", head), element("tbody", *body), class_=kind)


def _are_numbers(cells: list[str]) -> bool:
    """Whether all non-empty cells are numbers; markup is never a number."""
    texts = [cell for cell in cells if cell]
    return bool(texts) and all(not _is_markup(c) and _NUMBER.fullmatch(c) for c in texts)


def _is_markup(text: str) -> bool:
    return hasattr(text, "__html__")


def _attribute(key: str, value: object) -> Markup:
    name = key.rstrip("_").replace("_", "-")
    if not _ATTRIBUTE.fullmatch(name):
        raise ValueError(f"attribute {name!r:.40} is not allowed in a report")
    text = _number(value) if isinstance(value, int | float) else visible(str(value))
    if name in _LINKS and not text.startswith("#"):
        raise ValueError(f"{name} may only point inside the page, not to {text!r:.40}")
    return Markup(' {}="{}"').format(Markup(name), text)  # noqa: S704 - matched just above


def _number(value: float) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
