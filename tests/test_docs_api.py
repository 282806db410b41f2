"""docs/api.md has every public name; each has a docstring that names its parameters and fields."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from dataclasses import dataclass
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
    names = re.findall(r"^### `(weft\.[\w.]+)`$", page, re.M)
    assert sorted(names) == sorted(entry.path for entry in api.entries())
    assert {f"weft.{name}" for name in weft.__all__} <= set(names)


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
    assert list(api.gaps(api.entry_of(weft, "task"))) == ["weft.task", "weft.task(x)"]
    monkeypatch.setattr(weft, "task", partly)
    assert list(api.gaps(api.entry_of(weft, "task"))) == ["weft.task(width)"]


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


def test_fields_and_methods_of_a_base_are_those_of_the_class(api: ModuleType) -> None:
    @dataclass(frozen=True)
    class Longer(weft.Run):
        """A run that took long."""

        hours: int = 0
        bare: int = 0

        def wait(self) -> None: ...

    Longer.__module__ = "weft.longer"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "attribute_docs", lambda owner: {"hours": "So long."})
        lacking = list(api.gaps(api.Entry("weft.Longer", Longer, "A run: `run_id` and more.")))
    assert {"weft.Longer.bare", "weft.Longer.wait()"} <= set(lacking)
    assert not {"weft.Longer.hours", "weft.Longer.run_id", "weft.Longer.read()"} & set(lacking)


def test_signature_on_page_is_the_real_one(api: ModuleType) -> None:
    match = re.search(r"### `weft\.run`\n\n```text\n(.*?)\n```", api.render(), re.S)
    assert match
    for name, parameter in inspect.signature(weft.run).parameters.items():
        assert re.search(rf"^    {name}: ", match[1], re.M), parameter
    assert match[1].endswith(") -> Run")


def test_examples_of_docstrings_become_blocks(api: ModuleType) -> None:
    text = "Do it.\n\n>>> 1 + 1\n2\n\n    a | b\n\nEnd."
    assert api.markdown(text) == (
        "Do it.\n\n```pycon\n>>> 1 + 1\n2\n```\n\n```text\na | b\n```\n\nEnd."
    )
