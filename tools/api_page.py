"""The page docs/api.md, written from the docstrings of `weft.__all__`.

A name that nobody put into a group is listed in the last one; `undocumented` names what lacks a
docstring, and every parameter and field that no docstring mentions. tests/test_docs_api.py fails
for any of these.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from types import ModuleType
from typing import Any

import weft

HEAD = """\
# Python API

Written from the docstrings by `make docs`; do not edit.

Everything that `import weft` offers. Names are loaded when they are first used, so the import
itself takes a few milliseconds. [The guide](guide.md) shows them at work;
[the command line](cli.md) does the same from a shell.
"""
GROUPS = {
    "Declare": ("task", "search", "command", "hook", "reference"),
    "Run": ("run", "Run", "Node", "Interrupted", "WeftError"),
    "Inside a search": (
        "round", "lazy", "stream", "lanes", "Milestone", "Budget", "Result", "TaskError",
        "TaskFailed", "Unknown",
    ),
    "Inside a task": ("get", "put", "put_file", "note", "device", "Object", "Temporary", "Value"),
    "Ship a search": ("Product", "__version__"),
}  # fmt: skip
REST = "More"
WIDTH = 96
"""A signature that is longer is shown with a parameter on each line."""


def render() -> str:
    """Return the page."""
    parts = [HEAD]
    for title, names in groups().items():
        parts.append(f"\n## {title}\n")
        parts += [_section(name) for name in names]
    return "".join(parts)


def groups() -> dict[str, tuple[str, ...]]:
    """Return the public names by group, each of them once."""
    public = list(weft.__all__)
    grouped = {title: tuple(n for n in names if n in public) for title, names in GROUPS.items()}
    listed = {name for names in grouped.values() for name in names}
    rest = tuple(name for name in public if name not in listed)
    return {**grouped, REST: rest} if rest else grouped


def _section(name: str) -> str:
    value = getattr(weft, name)
    lines = [f"\n### `weft.{name}`\n"]
    signature = _signature(f"weft.{name}", value)
    if signature:
        lines.append(f"\n```text\n{signature}\n```\n")
    lines.append(f"\n{markdown(docstring(name))}\n")
    rows = [f"| `{member}` | {text} |" for member, text in _members(value)]
    if rows:
        lines.append("\n| | |\n|---|---|\n" + "\n".join(rows) + "\n")
    return "".join(lines)


def docstring(name: str) -> str:
    """Return the docstring of a public name: its own, or the one below its assignment."""
    value = getattr(weft, name)
    if inspect.isfunction(value) or inspect.isclass(value) or isinstance(value, ModuleType):
        return inspect.getdoc(value) or ""
    module = next(module for module, names in weft._MODULES.items() if name in names)
    return attribute_docs(import_module(f"weft.{module}")).get(name, "")


def attribute_docs(owner: Any) -> dict[str, str]:
    """Return the strings below the assignments of a module or class, by the assigned name."""
    tree: Any = ast.parse(textwrap.dedent(inspect.getsource(owner)))
    body = tree.body if isinstance(owner, ModuleType) else tree.body[0].body
    docs: dict[str, str] = {}
    for statement, below in pairwise(body):
        target = getattr(statement, "target", None) or next(
            iter(getattr(statement, "targets", ())), None
        )
        is_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if isinstance(target, ast.Name) and is_text and isinstance(below.value.value, str):
            docs[target.id] = inspect.cleandoc(below.value.value)
    return docs


def _signature(path: str, value: Any) -> str:
    if not callable(value) or (inspect.isclass(value) and issubclass(value, BaseException)):
        return ""
    try:
        signature = inspect.signature(value)
    except ValueError:  # a class of C
        return ""
    returns = "" if inspect.isclass(value) else f" -> {_type(signature.return_annotation)}"
    parameters = list(_parameters(signature))
    line = f"{path}({', '.join(parameters)}){returns}"
    if len(line) <= WIDTH:
        return line
    lines = "".join(f"    {text},\n" for text in parameters)
    return f"{path}(\n{lines}){returns}"


def _type(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _parameters(signature: inspect.Signature) -> Iterator[str]:
    """The parameters as they are declared, with the marks before keyword-only ones."""
    before = None
    for parameter in signature.parameters.values():
        if before is inspect.Parameter.POSITIONAL_ONLY and parameter.kind is not before:
            yield "/"
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and before is not parameter.kind:
            yield "*"
        before = parameter.kind
        yield _parameter(parameter)


def _parameter(parameter: inspect.Parameter) -> str:
    empty = inspect.Parameter.empty
    text = str(parameter.replace(annotation=empty, default=empty))
    if parameter.annotation is not empty:
        text += f": {_type(parameter.annotation)}"
    if parameter.default is not empty:
        default = "…" if "<factory>" in str(parameter.default) else repr(parameter.default)
        text += f" = {default}" if ":" in text else f"={default}"
    return text


def _members(value: Any) -> Iterator[tuple[str, str]]:
    """Fields, then properties and methods, each with the first paragraph of its docstring."""
    if not inspect.isclass(value):
        return
    docs = attribute_docs(value)
    for name in _fields(value):
        if name in docs:
            yield name, _cell(docs[name])
    for name, member in vars(value).items():
        if name.startswith("_") or not inspect.getdoc(member):
            continue
        if isinstance(member, property):
            yield name, _cell(inspect.getdoc(member) or "")
        elif inspect.isfunction(member) or isinstance(member, staticmethod | classmethod):
            yield f"{name}()", _cell(inspect.getdoc(member) or "")


def _fields(value: type) -> list[str]:
    fields = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
    return [field.name for field in fields if not field.name.startswith("_")]


def _cell(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split()).replace("|", "\\|")


def markdown(text: str) -> str:
    """Turn a docstring into Markdown: examples and indented parts become blocks."""
    blocks = []
    for paragraph in re.split(r"\n\s*\n", text):
        if paragraph.startswith(">>>"):
            blocks.append(f"```pycon\n{paragraph}\n```")
        elif paragraph.startswith("    "):
            blocks.append(f"```text\n{textwrap.dedent(paragraph)}\n```")
        else:
            blocks.append(paragraph)
    return "\n\n".join(blocks)


def undocumented() -> list[str]:
    """Name what a reader of the page would miss."""
    return [gap for name in weft.__all__ for gap in gaps(f"weft.{name}", name)]


def gaps(path: str, name: str) -> Iterator[str]:
    """Name what a public name lacks: a docstring, or words on a parameter, field or method."""
    value, text = getattr(weft, name), docstring(name)
    if not text:
        yield path
    if inspect.isfunction(value):
        yield from (f"{path}({gap})" for gap in unmentioned(inspect.signature(value), text))
    if inspect.isclass(value) and not issubclass(value, BaseException):
        docs = attribute_docs(value)
        named = _fields(value)
        yield from (f"{path}.{f}" for f in named if f not in docs and not _mentions(text, f))
    if inspect.isclass(value):
        for member, function in vars(value).items():
            public = inspect.isfunction(function) and not member.startswith("_")
            if public and not inspect.getdoc(function):
                yield f"{path}.{member}()"


def unmentioned(signature: inspect.Signature, text: str) -> list[str]:
    """Return the parameters that a docstring does not name in backquotes."""
    return [name for name in signature.parameters if not _mentions(text, name)]


def _mentions(text: str, name: str) -> bool:
    quoted = re.findall(r"`([^`]*)`", text)
    return any(re.search(rf"\b{name}\b", piece) for piece in quoted)
