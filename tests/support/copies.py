"""Finds copied blocks of code, within one file or between files.

    source ──► code lines ──► every run of LIMIT + 1 equal lines ──► longest blocks, as pairs

A code line is what remains without indentation, comments, docstrings, imports and blank lines,
so a copy is found even if it was indented or commented differently. Renamed variables hide it.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

LIMIT = 10
"""The maximum length of a block, in code lines, that may occur again."""
LAYOUT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


@dataclass(frozen=True, slots=True)
class CodeLine:
    """One line of code: its position and its tokens."""

    file: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Copy:
    """Two equal blocks: their first lines, and the number of code lines they share."""

    first: CodeLine
    second: CodeLine
    lines: int

    def __str__(self) -> str:
        places = (f"{line.file}:{line.number}" for line in (self.first, self.second))
        return f"{' = '.join(places)} ({self.lines} lines)"


def find_copies(sources: Mapping[str, str]) -> list[Copy]:
    """Return every longest pair of equal blocks of more than LIMIT code lines."""
    files = {name: code_lines(name, sources[name]) for name in sorted(sources)}
    blocks: dict[tuple[str, ...], list[tuple[str, int]]] = {}
    for name, lines in files.items():
        for start in range(len(lines) - LIMIT):
            texts = tuple(line.text for line in lines[start : start + LIMIT + 1])
            blocks.setdefault(texts, []).append((name, start))
    pairs = [pair for places in blocks.values() for pair in combinations(places, 2)]
    return list(_longest(pairs, files))


def _longest(
    pairs: Sequence[tuple[tuple[str, int], tuple[str, int]]], files: Mapping[str, list[CodeLine]]
) -> Iterator[Copy]:
    for (file, start), (other, place) in sorted(pairs):
        lines, others = files[file], files[other]
        if start and place and lines[start - 1].text == others[place - 1].text:
            continue  # the rest of a block that began earlier
        size = 0
        most = len(lines) - start if file != other else place - start
        while size < min(most, len(others) - place):
            if lines[start + size].text != others[place + size].text:
                break
            size += 1
        if size > LIMIT:  # less where two blocks of one file overlap
            yield Copy(lines[start], others[place], size)


def code_lines(name: str, source: str) -> list[CodeLine]:
    """Return the lines of a source that contain code, each as its tokens."""
    left_out = set(_lines_without_code(ast.parse(source)))
    words: dict[int, list[str]] = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        number = token.start[0]
        if token.type not in LAYOUT and token.string and number not in left_out:
            words.setdefault(number, []).append(token.string)
    return [CodeLine(name, number, " ".join(words[number])) for number in sorted(words)]


def _lines_without_code(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of imports, docstrings and other standalone strings."""
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)
