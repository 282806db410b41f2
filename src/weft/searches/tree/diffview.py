"""Render a diff as markup, with syntax colours for comments, strings, keywords and numbers.

Pure and language-independent: it colours what most languages share and parses nothing.
"""

from __future__ import annotations

import re

from markupsafe import Markup

from weft.inspect.report.svg import element

_KEYWORDS = (
    "and|as|assert|async|await|break|case|class|const|continue|def|del|do|elif|else|enum|except|"
    "export|extends|finally|fn|for|from|func|function|global|if|impl|import|in|is|lambda|let|"
    "match|mod|mut|new|not|null|nil|None|or|pass|pub|raise|return|self|static|struct|super|"
    "switch|this|throw|True|False|true|false|try|type|use|var|void|while|with|yield"
)
_TOKEN = re.compile(
    r"(?P<comment>(?:(?<=\s)|^)#.*|//.*|/\*.*?\*/)"
    r"|(?P<string>\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')"
    rf"|(?P<keyword>\b(?:{_KEYWORDS})\b)"
    r"|(?P<number>\b(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:e[-+]?\d+)?)\b)"
)
MAX_LINE_CHARS = 400


def draw_diff(text: str) -> Markup:
    """Return a diff line by line, with added and removed lines marked and code coloured."""
    lines = [_line(line) for line in text.splitlines()]
    return element("pre", *lines, class_="diff", tabindex=0)


def _line(line: str) -> Markup:
    if line.startswith(("diff ", "index ", "--- ", "+++ ", "new file", "deleted file")):
        return element("span", line, class_="file")
    if line.startswith("@@"):
        return element("span", line, class_="hunk")
    kind = {"+": "added", "-": "removed"}.get(line[:1])
    return element("span", line[:1], *_tokens(line[1:]), class_=kind)


def _tokens(code: str) -> list[str]:
    parts: list[str] = []
    end = 0
    for match in _TOKEN.finditer(code[:MAX_LINE_CHARS]):
        parts.append(code[end : match.start()])
        parts.append(element("span", match[0], class_=match.lastgroup))
        end = match.end()
    return [*parts, code[end:]]
