"""docs/guide.md quotes Weft's messages; examples in docstrings hold."""

from __future__ import annotations

import doctest
import importlib
import re

import pytest

from tests.support.shown import ROOT, block_of


def test_guide_quotes_the_refusal_of_an_iterator() -> None:
    from weft.coordinator.lane import _checked_step
    from weft.errors import SearchInvalid

    with pytest.raises(SearchInvalid) as caught:
        _checked_step((x for x in ()), "")
    quoted = block_of("docs/guide.md", "text").removesuffix(", …\n")
    assert f"weft: {caught.value}".startswith(quoted)


MODULES = sorted(
    ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
    for path in (ROOT / "src" / "weft").rglob("*.py")
    if re.search(r"^\s*>>> ", path.read_text("utf-8"), re.M)
)


@pytest.mark.parametrize(
    "name", ["weft.define.tasks", *(m for m in MODULES if m != "weft.define.tasks")]
)
def test_docstring_examples_hold(name: str) -> None:
    module = importlib.import_module(name)
    assert dir(module)  # loads a lazy module
    failed, tried = doctest.testmod(module)
    assert tried > 0, module
    assert failed == 0
