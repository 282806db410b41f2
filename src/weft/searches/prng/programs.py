"""Exports a recovered generator as a small program in Python, C or Java that prints its draws.

The program is generated from the source of the functions that explained the draws: step, output
map and everything they call. It starts from the state before the first call, so it needs no
seeding.

    hypothesis ──► functions by their source ──► one file: state, functions, a loop that prints
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from weft.errors import UsageError
from weft.searches.prng.dialects import JAVA, MOST_RETURNED, RETURNED, BraceWriter, C, Dialect
from weft.searches.prng.family import Family
from weft.searches.prng.generate import checked_family, first_state
from weft.searches.prng.hypothesis import Hypothesis

SUFFIXES = {"python": ".py", "c": ".c", "java": ".java"}
LANGUAGES = tuple(SUFFIXES)
DEFAULT_COUNT = 100
CLASS = "Draws"
PER_LINE = 4
SAFE = {
    "int", "range", "state", "modulus", "main", "count", "first", "short", "long", "double", "char",
    "at", "value", RETURNED,
}  # fmt: skip
"""Reserved names, which generated functions must not have."""


@dataclass(frozen=True, slots=True)
class SourceFunction:
    """The syntax tree of a function, and the values of its free names."""

    name: str
    tree: ast.FunctionDef
    names: Mapping[str, int | float | str]


def program(hypothesis: Hypothesis, language: str, count: int = DEFAULT_COUNT) -> str:
    """Return a program that prints draws of a hypothesis, `count` by default."""
    if language not in LANGUAGES:
        raise UsageError(f"--language must be one of {', '.join(LANGUAGES)}, not {language[:40]!r}")
    family = checked_family(hypothesis)
    functions = _functions(family.outputs[hypothesis.output])
    state = first_state(family, hypothesis)
    if language == "python":
        return _python(hypothesis, family, functions, state, count)
    return _braces(hypothesis, family, functions, state, count, C if language == "c" else JAVA)


def _functions(draw: Callable[..., int]) -> list[SourceFunction]:
    """Return a function and everything it calls, callees first; the last is `draw` itself."""
    functions: dict[Any, SourceFunction] = {}
    used = set(SAFE)

    def visit(function: Any) -> str:
        if function in functions:
            return functions[function].name
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        free = inspect.getclosurevars(function)
        values = {**free.globals, **free.nonlocals}
        names = {
            name: visit(value) if isinstance(value, FunctionType) else value
            for name, value in sorted(values.items())
        }
        own = tree.name
        while own in used:
            own += "_"
        used.add(own)
        functions[function] = SourceFunction(own, tree, names)
        return own

    visit(draw)
    return list(functions.values())


def _about(hypothesis: Hypothesis, family: Family) -> str:
    source = "a recovered state" if hypothesis.seed is None else f"seed {hypothesis.seed}"
    return f"{family.title}, {hypothesis.output}({hypothesis.modulus}), {source}"


def _gaps(hypothesis: Hypothesis) -> tuple[int, tuple[int, ...]]:
    """Return the constant skip, and the list of skips if they vary."""
    skips = hypothesis.skips
    return skips.between[0], () if skips.is_constant else skips.listed


def _leaves_out(hypothesis: Hypothesis) -> bool:
    """Whether there are calls before the first draw or between two draws."""
    return hypothesis.start > 0 or hypothesis.skips.between != (0, 0)


def _modulus(hypothesis: Hypothesis) -> int:
    return 1 if hypothesis.output == "raw" else hypothesis.modulus


# -- Python -----------------------------------------------------------------------------------


class _Named(ast.NodeTransformer):
    """Replaces free names by constants and by the new names of functions."""

    def __init__(self, names: Mapping[str, int | float | str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Replace a free name."""
        value = self.names.get(node.id)
        if value is None or not isinstance(node.ctx, ast.Load):
            return node
        return ast.Name(value, ast.Load()) if isinstance(value, str) else ast.Constant(value)


def _python_function(function: SourceFunction) -> str:
    tree = _Named(function.names).visit(function.tree)
    tree.name, tree.returns = function.name, None
    for argument in tree.args.args:
        argument.annotation = None
    tree.body = [node for node in tree.body if not _is_docstring(node)]
    return ast.unparse(ast.fix_missing_locations(tree))


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _python(
    hypothesis: Hypothesis,
    family: Family,
    functions: list[SourceFunction],
    state: list[int],
    count: int,
) -> str:
    skip, listed = _gaps(hypothesis)
    body = "\n\n\n".join(_python_function(function) for function in functions)
    draw, modulus = functions[-1].name, _modulus(hypothesis)
    table = f"SKIPS = {list(listed)}\n" if listed else ""
    gap = "SKIPS[at - 1]" if listed else str(skip)
    skipped = ""
    if _leaves_out(hypothesis):
        skipped = f"""\
    for _ in range({gap} if at else {hypothesis.start}):
        {draw}(state, {modulus})
"""
    return f'''"""{_about(hypothesis, family)}.

    python draws.py [COUNT [FIRST]]    prints COUNT draws, from draw FIRST on (0 is the first)
"""

import sys

STATE = {state}
{table}

{body}


count = int(sys.argv[1]) if len(sys.argv) > 1 else {count}
first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
state = list(STATE)
for at in range(first + count):
{skipped}    value = {draw}(state, {modulus})
    if at >= first:
        print(value)
'''


# -- C and Java -------------------------------------------------------------------------------

C_FRAME = """/* {about}.

   cc -O2 -o draws draws.c && ./draws [COUNT [FIRST]]
   prints COUNT draws, from draw FIRST on (0 is the first). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t STATE[{size}] = {{
{state}
}};
{skips}
{functions}int main(int argc, char **argv) {{
    uint64_t count = argc > 1 ? strtoull(argv[1], 0, 10) : {count};
    uint64_t first = argc > 2 ? strtoull(argv[2], 0, 10) : 0;
    for (uint64_t at = 0; at < first + count; at++) {{
{skipped}        uint64_t value = {draw}(STATE, {modulus});
        if (at >= first) printf("%" PRIu64 "\\n", value);
    }}
    return 0;
}}
"""
JAVA_FRAME = """/* {about}.

   java Draws.java [COUNT [FIRST]]
   prints COUNT draws, from draw FIRST on (0 is the first). */
public class Draws {{
static long[] STATE = {{
{state}
}};
{skips}
{functions}public static void main(String[] args) {{
    long count = args.length > 0 ? Long.parseLong(args[0]) : {count};
    long first = args.length > 1 ? Long.parseLong(args[1]) : 0;
    StringBuilder printed = new StringBuilder();
    for (long at = 0; at < first + count; at++) {{
{skipped}        long value = {draw}(STATE, {modulus});
        if (at >= first) printed.append(Long.toUnsignedString(value)).append('\\n');
    }}
    System.out.print(printed);
}}
}}
"""


SKIPPED = """\
        {word} gap = at == 0 ? {start} : {gap};
        for ({word} skipped = 0; skipped < gap; skipped++) {draw}(STATE, {modulus});
"""
"""Loop over the skipped calls before a draw, for C and Java."""


def _braces(
    hypothesis: Hypothesis,
    family: Family,
    functions: list[SourceFunction],
    state: list[int],
    count: int,
    dialect: Dialect,
) -> str:
    skip, listed = _gaps(hypothesis)
    lines = [
        line
        for function in functions
        for line in BraceWriter(dialect, function.names).function(function.tree, function.name)
    ]
    place = "SKIPS[(int) (at - 1)]" if dialect is JAVA else "SKIPS[at - 1]"
    kind = "static long[] SKIPS" if dialect is JAVA else "static uint64_t SKIPS[]"
    frame = JAVA_FRAME if dialect is JAVA else C_FRAME
    draw, modulus = functions[-1].name, dialect.constant(_modulus(hypothesis))
    skipped = SKIPPED.format(
        word=dialect.word, start=hypothesis.start, gap=place if listed else skip,
        draw=draw, modulus=modulus,
    )  # fmt: skip
    return frame.format(
        about=_about(hypothesis, family).replace("*/", "* /"),
        size=len(state),
        state=_table(state, dialect),
        skips=f"{kind} = {{\n{_table(listed, dialect)}\n}};" if listed else "",
        functions="\n".join([*_returned(functions, dialect), *lines, ""]),
        count=count,
        skipped=skipped if _leaves_out(hypothesis) else "",
        draw=draw,
        modulus=modulus,
    )


def _returned(functions: list[SourceFunction], dialect: Dialect) -> list[str]:
    """Declare the array RETURNED, if a function returns more than one word."""
    returns = [n for f in functions for n in ast.walk(f.tree) if isinstance(n, ast.Return)]
    if not any(isinstance(node.value, ast.Tuple) for node in returns):
        return []
    if dialect is JAVA:
        return [f"static long[] {RETURNED} = new long[{MOST_RETURNED}];"]
    return [f"static uint64_t {RETURNED}[{MOST_RETURNED}];"]


def _table(words: list[int] | tuple[int, ...], dialect: Dialect) -> str:
    texts = [dialect.constant(word) for word in words]
    rows = [texts[at : at + PER_LINE] for at in range(0, len(texts), PER_LINE)]
    return ",\n".join("    " + ", ".join(row) for row in rows)
