"""Controls for a search's page: a search box, and chips that filter.

Searchable elements have `data_find`, their words in lower case, and `data_kinds`. The page's own
script handles the controls, in the report and on the live page; without scripts they are hidden.
"""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from weft.inspect.report.text import number, visible

_BOX = Markup(
    '<div class="tools js"><label>Find <input type=search data-finder placeholder="{}"'
    ' autocomplete=off></label><div class=chips role=group aria-label="{}">{}</div></div>'
    '<p class="said js" data-found aria-live=polite></p>'
)
_CHIP = Markup('<button type=button data-only="{}" aria-pressed={}>{}</button>')


def finder(placeholder: str, label: str, kinds: Mapping[str, int]) -> Markup:
    """Return a search box and a chip for each kind with its count; kinds are single words."""
    chips = [_CHIP.format("", "true", "all")]
    for kind, count in kinds.items():
        text = f"{visible(kind)} {number(count)}"
        chips.append(_CHIP.format(visible(kind), "false", text))
    return _BOX.format(visible(placeholder), visible(label), Markup("").join(chips))
