"""Names of local variables: whether two modules differ in anything else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import pytest

from campaigns.freshness import statements
from campaigns.localnames import number_locals

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("campaigns", "src/weft/cells", "src/weft/coordinator")
SOURCES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def function(*lines: str, parameters: str = "a, b") -> str:
    return "\n    ".join([f"def work({parameters}):", *lines])


@pytest.mark.parametrize(
    "source",
    [
        function("NAME = a", "return NAME"),
        function("NAME: int = a", "NAME += b", "del NAME"),
        function("for NAME, (c, *d) in a:", "    print(NAME, c, d)"),
        function("with a as NAME:", "    return NAME.read()"),
        function("try:", "    a()", "except OSError as NAME:", "    print(NAME)"),
        function("if NAME := a:", "    return NAME"),
        function("match a:", "    case [NAME, *_]:", "        return NAME"),
        function("match a:", "    case {1: b, **NAME}:", "        return NAME"),
        function("return [NAME for NAME in a if NAME]"),
        function("return {NAME: c for NAME in a for c in NAME}"),
        function("print(any((NAME := c) for c in a))", "return NAME"),
        function("NAME = 1", "def inner():", "    return NAME", "return inner"),
        function("NAME = 1", "return lambda c: NAME + c"),
        function("NAME = 1", "def inner():", "    nonlocal NAME", "    NAME = 2"),
        function("NAME = 1", "class Inner:", "    c = NAME", "    def get(self):",
                 "        return NAME"),
        function("NAME = 1", 'return f"{NAME!r}"'),
        "class Outer:\n    def get(self):\n        NAME = self\n        return NAME",
        "async def work(a):\n    async for NAME in a:\n        yield NAME",
        "TABLE = [NAME for NAME in range(3)]",
        "TABLE = lambda a: (NAME := a) + NAME",
    ],
)  # fmt: skip
def test_another_name_of_a_local_variable_is_no_change(source: str) -> None:
    assert statements(source.replace("NAME", "e")) == statements(source.replace("NAME", "z"))


@pytest.mark.parametrize(
    "source",
    [
        function("return NAME", parameters="NAME"),
        function("return NAME", parameters="*, NAME=1"),
        function("return lambda NAME: NAME"),
        function("return a.NAME"),
        function("return a(NAME=b)"),
        function("return NAME"),
        function("global NAME", "NAME = 1"),
        function("import NAME", "return NAME"),
        function("from a import NAME", "return NAME"),
        function("def NAME():", "    return NAME", "return NAME"),
        function("class Inner:", "    NAME = 1"),
        function("NAME = 1", "return locals()"),
        function("NAME = 1", "def inner():", "    return NAME, eval(a)"),
        function('NAME = 1', 'return f"{NAME=}"'),
        "NAME = 1",
        "for NAME in range(3):\n    print(NAME)",
        "print([c for c in (1, 2) if (NAME := c)])",
        "class Outer:\n    NAME: int = 1",
        "class Outer:\n    def get(self):\n        self.NAME = 1",
    ],
)  # fmt: skip
def test_another_name_of_anything_else_is_a_change(source: str) -> None:
    assert statements(source.replace("NAME", "e")) != statements(source.replace("NAME", "z"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (function("c, d = a", "return c - d"), function("c, d = a", "return d - c")),
        (function("c = a", "return c"), function("c = a", "return d")),
        (function("c = a", "return c"), function("c = a", "return a")),
        (function("c = a", "global d", "d = 1"), function("d = a", "global d", "d = 1")),
        (function("c = 1", "def inner():", "    c = 2", "return c"),
         function("c = 1", "def inner():", "    nonlocal c", "    c = 2", "return c")),
        (function("c = 1", "def inner():", "    return c"),
         function("d = 1", "def inner():", "    return c")),
        (function("c = 1", "return lambda c: c"), function("c = 1", "return lambda d: c")),
        (function("c = 1", "return [c for d in a]"), function("c = 1", "return [d for d in a]")),
        (function("c = 1", "return [c for c in c]"), function("c = 1", "return [d for c in d]")),
        (function("c = 1", "return [d for d in a], d"),
         function("c = 1", "return [d for d in a], c")),
        (function("c = 1", "print((c := b) for d in a)"),
         function("c = 1", "print((e := b) for d in a)")),
        (function("c = 1", "class Inner:", "    c = 2", "    d = c"),
         function("e = 1", "class Inner:", "    c = 2", "    d = e")),
        (function("c = 1", "class Inner:", "    c = 2", "    def get(self):", "        return c"),
         function("d = 1", "class Inner:", "    c = 2", "    def get(self):", "        return c")),
        (function("c = 1", "def inner(e=lambda c: c):", "    return c"),
         function("d = 1", "def inner(e=lambda c: c):", "    return c")),
        (function("try:", "    a()", "except OSError as c:", "    d = c"),
         function("try:", "    a()", "except OSError as c:", "    d = d")),
    ],
)  # fmt: skip
def test_another_variable_in_a_place_is_a_change(before: str, after: str) -> None:
    assert statements(before) != statements(after)


def names_of(code: CodeType) -> Iterator[tuple[object, ...]]:
    """For each code object: its name, the names it uses, and its number of free variables."""
    yield code.co_name, code.co_names, len(code.co_freevars)
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from names_of(part)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_numbered_module_uses_the_same_globals_attributes_and_closures(path: Path) -> None:
    source = path.read_text("utf-8")
    tree = ast.parse(source)
    number_locals(tree)
    numbered = compile(tree, str(path), "exec")
    assert [*names_of(numbered)] == [*names_of(compile(source, str(path), "exec"))]
