"""docs/api.md has every public name; each has a docstring that names its parameters and fields."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import weft

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def api() -> ModuleType:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        return importlib.import_module("api_page")
    finally:
        sys.path.remove(str(ROOT / "tools"))


def test_page_has_every_public_name_once(api: ModuleType) -> None:
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    assert sorted(re.findall(r"^### `weft\.(\w+)`$", page, re.M)) == sorted(weft.__all__)


def test_public_names_parameters_and_fields_are_documented(api: ModuleType) -> None:
    assert api.undocumented() == []


def test_function_without_a_word_on_a_parameter_is_found(
    api: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bare(x: int) -> int:
        return x

    def partly(width: int, *, most: int) -> int:
        """Take up to `most`, whatever the width."""
        return width + most

    monkeypatch.setattr(weft, "task", bare)
    assert list(api.gaps("weft.task", "task")) == ["weft.task", "weft.task(x)"]
    monkeypatch.setattr(weft, "task", partly)
    assert list(api.gaps("weft.task", "task")) == ["weft.task(width)"]


def test_name_that_is_in_no_group_is_on_the_page(
    api: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fresh(x: int) -> int:
        """Return `x`."""
        return x

    monkeypatch.setattr(weft, "fresh", fresh, raising=False)
    monkeypatch.setattr(weft, "__all__", [*weft.__all__, "fresh"])
    assert api.groups()[api.REST] == ("fresh",)
    assert "## More\n\n### `weft.fresh`\n\n```text\nweft.fresh(x: int) -> int\n```" in api.render()


def test_signature_on_page_is_the_real_one(api: ModuleType) -> None:
    shown = re.search(r"### `weft\.run`\n\n```text\n(.*?)\n```", api.render(), re.S)
    assert shown
    for name, parameter in inspect.signature(weft.run).parameters.items():
        assert re.search(rf"^    {name}: ", shown[1], re.M), parameter
    assert shown[1].endswith(") -> Run")


def test_examples_of_docstrings_become_blocks(api: ModuleType) -> None:
    text = "Do it.\n\n>>> 1 + 1\n2\n\n    a | b\n\nEnd."
    assert api.markdown(text) == (
        "Do it.\n\n```pycon\n>>> 1 + 1\n2\n```\n\n```text\na | b\n```\n\nEnd."
    )
