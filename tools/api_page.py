"""Render docs/api.md from the docstrings of all public names.

A name that is in no group is listed in the last one. `undocumented` lists names without a
docstring, and parameters and fields that no docstring mentions; tests/test_docs_api.py fails if
there are any.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from types import ModuleType
from typing import Any

import weft

HEAD = """\
# Python API

Generated from the docstrings by `make docs`; do not edit.

Everything that `import weft` offers. Names are loaded when they are first used, so the import
itself takes a few milliseconds. [The guide](guide.md) shows them at work;
[the command line](cli.md) does the same from a shell.
"""
GROUPS = {
    "Declare": ("task", "search", "command", "hook", "reference"),
    "Run": ("run", "load", "Run", "Node", "Interrupted", "WeftError"),
    "Inside a search": (
        "round", "lazy", "stream", "lanes", "Plan", "Milestone", "Budget", "INPUTS", "Result",
        "TaskError", "TaskFailed", "Unknown",
    ),
    "Inside a task": (
        "SEED", "get", "put", "put_file", "note", "device", "Object", "Temporary", "Value",
    ),
    "Ship a search": ("Product", "__version__"),
}  # fmt: skip
REST = "More"
SUBMODULES = ("optuna", "asktell", "searches.prng")
"""Public modules below `weft`, each with its own `__all__`."""
WIDTH = 96
"""A longer signature is shown with one parameter per line."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A public name: its path, its value and its docstring."""

    path: str
    value: Any
    text: str


def render() -> str:
    """Return the page."""
    parts = [HEAD]
    for title, names in groups().items():
        parts.append(f"\n## {title}\n")
        parts += [_section(entry_of(weft, name)) for name in names]
    for module in submodules():
        text = markdown(inspect.getdoc(module) or "")
        parts.append(f"\n## `{module.__name__}`\n\n{text}\n")
        parts += [_section(entry_of(module, name)) for name in module.__all__]
    return "".join(parts)


def groups() -> dict[str, tuple[str, ...]]:
    """Return the public names of `weft` by group, each name once."""
    public = list(weft.__all__)
    grouped = {title: tuple(n for n in names if n in public) for title, names in GROUPS.items()}
    listed = {name for names in grouped.values() for name in names}
    rest = tuple(name for name in public if name not in listed)
    return {**grouped, REST: rest} if rest else grouped


def submodules() -> list[Any]:
    """Return the public modules that exist."""
    paths = [f"weft.{name}" for name in SUBMODULES]
    return [import_module(path) for path in paths if find_spec(path) is not None]


def entries() -> Iterator[Entry]:
    """Yield every public name, including those of public modules."""
    for module in (weft, *submodules()):
        yield from (entry_of(module, name) for name in module.__all__)


def entry_of(module: Any, name: str) -> Entry:
    """Return a public name with its docstring: its own, or the one below its assignment."""
    value, path = getattr(module, name), f"{module.__name__}.{name}"
    if inspect.isfunction(value) or inspect.isclass(value) or isinstance(value, ModuleType):
        return Entry(path, value, inspect.getdoc(value) or "")
    homes = weft._MODULES.items() if module is weft else ()
    home = next((f"weft.{home}" for home, names in homes if name in names), module.__name__)
    return Entry(path, value, attribute_docs(import_module(home)).get(name, ""))


def _section(entry: Entry) -> str:
    lines = [f"\n### `{entry.path}`\n"]
    signature = _signature(entry.path, entry.value)
    if signature:
        lines.append(f"\n```text\n{signature}\n```\n")
    lines.append(f"\n{markdown(entry.text)}\n")
    rows = [f"| `{member}` | {text} |" for member, text in _members(entry.value)]
    if rows:
        lines.append("\n| | |\n|---|---|\n" + "\n".join(rows) + "\n")
    return "".join(lines)


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
    except ValueError:  # a class implemented in C
        return ""
    returns = "" if inspect.isclass(value) else f" -> {_type(signature.return_annotation)}"
    parameters = list(_parameters(signature))
    line = f"{path}({', '.join(parameters)}){returns}"
    if len(line) <= WIDTH:
        return line
    lines = "".join(f"    {text},\n" for text in parameters)
    return f"{path}(\n{lines}){returns}"


def _type(annotation: Any) -> str:
    """Return an annotation as users write it: with the public name of a class."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\bLoadedRun\b", "Run", text)


def _parameters(signature: inspect.Signature) -> Iterator[str]:
    """Yield the parameters as declared, with the `/` and `*` markers between them."""
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
    """Yield fields, then properties and methods, each with its docstring's first paragraph."""
    if not inspect.isclass(value):
        return
    docs = field_docs(value)
    for name in _fields(value):
        if name in docs:
            yield name, _cell(docs[name])
    for name, member in _own(value).items():
        text = inspect.getdoc(member)
        if text and isinstance(member, property):
            yield name, _cell(text)
        elif text and (inspect.isfunction(member) or isinstance(member, staticmethod)):
            yield f"{name}()", _cell(text)


def _lineage(value: type) -> list[type]:
    """Return a class and those of its bases that are ours, base classes first."""
    return [base for base in value.__mro__[::-1] if base.__module__.partition(".")[0] == "weft"]


def _own(value: type) -> dict[str, Any]:
    members = {name: member for base in _lineage(value) for name, member in vars(base).items()}
    return {name: member for name, member in members.items() if not name.startswith("_")}


def field_docs(value: type) -> dict[str, str]:
    """Return the docstrings of a class's fields, inherited ones too."""
    return {name: text for base in _lineage(value) for name, text in attribute_docs(base).items()}


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
    """List everything that lacks documentation."""
    return [gap for entry in entries() for gap in gaps(entry)]


def gaps(entry: Entry) -> Iterator[str]:
    """Yield what a public name lacks: a docstring, or documentation of a parameter or a member."""
    path, value, text = entry.path, entry.value, entry.text
    if not text:
        yield path
    if inspect.isfunction(value):
        yield from (f"{path}({gap})" for gap in unmentioned(inspect.signature(value), text))
    if not inspect.isclass(value):
        return
    if not issubclass(value, BaseException):
        docs = field_docs(value)
        text += "".join(inspect.getdoc(base) or "" for base in _lineage(value))
        named = (name for name in _fields(value) if name not in docs)
        yield from (f"{path}.{name}" for name in named if not _mentions(text, name))
    for name, member in _own(value).items():
        if inspect.isfunction(member) and not inspect.getdoc(member):
            yield f"{path}.{name}()"


def unmentioned(signature: inspect.Signature, text: str) -> list[str]:
    """Return the parameters that a docstring does not name in backquotes."""
    return [name for name in signature.parameters if not _mentions(text, name)]


def _mentions(text: str, name: str) -> bool:
    quoted = re.findall(r"`([^`]*)`", text)
    return any(re.search(rf"\b{name}\b", piece) for piece in quoted)
