"""Assembles the source of a module that contains a notebook's search and all that it uses.

    names in use ─► import | definition of a cell | constant as a literal | refused, by name

Values are the current ones, as Python would see them. The order is fixed (imports, constants,
definitions after what they need when executed), so unchanged cells give the same text.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator
from types import FunctionType, ModuleType

from weft.cells import is_stored_name
from weft.cells.definitions import (
    Definition,
    Namespace,
    find_definition,
    find_import,
    is_of_cell,
    module_statement,
    parsed,
    unwrapped,
)
from weft.cells.literals import LiteralError, literal
from weft.cells.names import UsedNames, bound_names, used_names
from weft.errors import SearchInvalid

HEADER = '"""Cells of a notebook, stored by Weft; named by the SHA-256 of this text."""\n\n'
FUTURE = "from __future__ import annotations\n"
SHELL = "get_ipython"
"""The function that magics and `!` lines call."""
FRONT_ENDS = ("IPython", "ipykernel")
_MISSING = object()
_ADVICE = "pass it as an argument or load it inside the task"


def search_source(body: object) -> str:
    """Return the source of a module with a cell's search and all that it uses."""
    function = unwrapped(body)
    assert isinstance(function, FunctionType)
    assembly, name = Assembly(function.__globals__), function.__name__
    assembly.add_definition(name, function, f"search {name}")
    return assembly.source()


def cell_source(cell: str, namespace: Namespace) -> str:
    """Return the source of a module with a whole cell and what it uses from other cells."""
    body, lines = ast.parse(cell).body, cell.split("\n")
    assembly = Assembly(namespace)
    own = bound_names(body)
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            assembly.future = True  # it moves to the first line
            _blank(lines, node, body)
        assembly.add_used(used_names(node), f"line {node.lineno} of the cell", node, skip=own)
    return assembly.source("\n".join(lines).strip("\n"))


def _blank(lines: list[str], node: ast.stmt, body: list[ast.stmt]) -> None:
    """Blank the lines of a statement; the others keep their numbers in the cell."""
    own = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    if any(
        other is not node and (other.lineno in own or other.end_lineno in own) for other in body
    ):
        raise SearchInvalid(f"line {node.lineno} of the cell: put the import on its own line")
    for number in own:
        lines[number - 1] = ""


class Assembly:
    """A module under construction; `add_…` refuse what cannot be part of it."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace
        self._imports: dict[str, str] = {}
        self._constants: dict[str, str] = {}
        self._definitions: dict[str, Definition] = {}
        self._used: dict[str, UsedNames] = {}
        self.future = False
        """Whether annotations are left unevaluated."""

    # -- collecting -----------------------------------------------------------------------

    def add_definition(self, name: str, value: object, user: str) -> None:
        """Add a function or class of a cell and what it uses."""
        own = getattr(unwrapped(value), "__name__", name)
        if own not in (name, "<lambda>"):
            self._add_alias(name, own, value, user)
            return
        definition = find_definition(value, name, self._namespace)
        if definition is None:
            raise SearchInvalid(f"{user} uses `{name}`, {_without_source(value)}")
        self._definitions[name] = definition
        self.future = self.future or definition.future
        self._used[name] = used_names(definition.node)
        whose = _described(name, self._namespace.get(name, value))
        self.add_used(self._used[name], whose, definition.node)

    def _add_alias(self, name: str, own: str, value: object, user: str) -> None:
        """Add `name = own` if `own` still has this value."""
        if self._namespace.get(own) is not value:
            raise SearchInvalid(
                f"{user} uses `{name}`, a function named {own} that no cell defines by that name",
                hint="define it by the name that is used, and use functools.wraps in decorators",
            )
        text = f"{name} = {own}"
        self._definitions[name] = Definition(ast.parse(text).body[0], text)
        self._used[name] = UsedNames((own,), (), ())
        self._add(own, user)

    def add_used(
        self, used: UsedNames, user: str, node: ast.stmt, skip: tuple[str, ...] = ()
    ) -> None:
        """Add all names that a definition uses; those only in annotations if they can be added."""
        if SHELL in used.at_definition or SHELL in used.at_call:
            raise SearchInvalid(
                f"{user} uses {_shell_line(node)}, which a worker does not have",
                hint="write it outside the functions that workers run, or in plain Python",
            )
        for name in (*used.at_definition, *used.at_call):
            if name not in skip:
                self._add(name, user)
        for name in used.in_annotations:
            if name not in skip:
                self._add_annotation(name, user)

    def _add_annotation(self, name: str, user: str) -> None:
        before = [dict(table) for table in self._tables()]
        try:
            self._add(name, user)
        except SearchInvalid:
            self.future = True
            for table, earlier in zip(self._tables(), before, strict=True):
                table.clear()
                table.update(earlier)

    def _tables(self) -> list[dict[str, object]]:
        return [self._imports, self._constants, self._definitions, self._used]  # type: ignore[list-item] # dicts of several types

    def _add(self, name: str, user: str) -> None:
        """Add what a name currently stands for."""
        if name in self._imports or name in self._constants or name in self._definitions:
            return
        value = self._namespace.get(name, getattr(builtins, name, _MISSING))
        if _is_dunder(name) or _is_builtin(name, value):
            return
        if value is _MISSING:
            raise SearchInvalid(f"{user} uses `{name}`, which no cell defines")
        if isinstance(value, ModuleType):
            self._imports[name] = module_statement(name, value)
        elif is_of_cell(value):
            self.add_definition(name, value, user)
        elif statement := find_import(name, value, self._namespace) or _import_of(name, value):
            self._imports[name] = statement
        else:
            self._add_constant(name, value, user)

    def _add_constant(self, name: str, value: object, user: str) -> None:
        try:
            self._constants[name] = literal(value)
        except LiteralError as reason:
            raise SearchInvalid(
                f"{user} uses `{name}`, {reason} defined in the notebook", hint=_ADVICE
            ) from None

    # -- writing --------------------------------------------------------------------------

    def source(self, cell: str = "") -> str:
        """Return the module's source; `cell` comes last."""
        nodes = [definition.node for definition in self._definitions.values()]
        tree = parsed(cell)
        nodes += tree.body if tree else []
        imports = set(self._imports.values())
        imports |= set(_submodules(self._namespace, self._imports, nodes))
        constants = [f"{name} = {text}" for name, text in sorted(self._constants.items())]
        parts = [HEADER + FUTURE * self.future, "\n".join(sorted(imports)), "\n".join(constants)]
        text = "\n\n".join(part.strip() for part in parts if part)
        bodies = [self._definitions[name].text for name in self._ordered()]
        return "\n\n\n".join([text, *bodies, *([cell] * bool(cell))]) + "\n"

    def _ordered(self) -> list[str]:
        """Return the names of definitions, each after those that it needs when executed."""
        order: list[str] = []
        visited: set[str] = set()
        for name in sorted(self._definitions):
            self._place(name, visited, order)
        return order

    def _place(self, name: str, begun: set[str], order: list[str]) -> None:
        if name in begun or name not in self._definitions:
            return
        begun.add(name)
        used = self._used[name]
        early = (*used.at_definition, *(() if self.future else used.in_annotations))
        for needed in early:
            self._place(needed, begun, order)
            for reached in self._reached(needed):  # it may be called, as decorators are
                self._place(reached, begun, order)
        order.append(name)

    def _reached(self, name: str) -> list[str]:
        """Return what a definition uses, directly or indirectly."""
        reached, waiting = set[str](), [name]
        while waiting:
            used = self._used.get(waiting.pop(), UsedNames((), (), ()))
            fresh = {*used.at_definition, *used.at_call} - reached
            reached |= fresh
            waiting += sorted(fresh)
        return sorted(reached)


def _submodules(
    namespace: Namespace, names: dict[str, str], nodes: list[ast.stmt]
) -> Iterator[str]:
    """Yield imports of submodules that code reaches through a package, as in `xml.etree.x.y`."""
    for node in (part for root in nodes for part in ast.walk(root)):
        chain, base = list[str](), node
        while isinstance(base, ast.Attribute):
            chain.insert(0, base.attr)
            base = base.value
        if not isinstance(base, ast.Name) or base.id not in names:
            continue
        module = namespace.get(base.id)
        while chain and isinstance(module, ModuleType):
            inner = sys.modules.get(f"{module.__name__}.{chain.pop(0)}")
            if inner is None or getattr(module, inner.__name__.rpartition(".")[2], None) != inner:
                break
            module = inner
            yield f"import {module.__name__}"


def _import_of(name: str, value: object) -> str | None:
    """Return the import of a function or class that names its module; None if that is not valid."""
    target = unwrapped(value)
    module, own = getattr(target, "__module__", None), getattr(target, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(own, str) or module not in sys.modules:
        return None
    current = getattr(sys.modules[module], own, None)
    is_same = current is value or (is_stored_name(module) and current is not None)
    if not own.isidentifier() or not is_same:  # modules of cells are executed anew for each run
        return None
    return f"from {module} import {own}" + (f" as {name}" if name != own else "")


def _is_builtin(name: str, value: object) -> bool:
    """Whether a name is a standard built-in; IPython wraps some, and adds others."""
    if name in ("exit", "quit"):
        return True
    standard = getattr(builtins, name, _MISSING)
    module = str(getattr(standard, "__module__", "")).partition(".")[0]
    return standard is not _MISSING and unwrapped(value) is standard and module not in FRONT_ENDS


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _described(name: str, value: object) -> str:
    """Return a definition in words: `task score`."""
    if getattr(value, "is_search", False):
        return f"search {name}"
    if hasattr(value, "needs_seed"):
        return f"task {name}"
    return f"{'class' if isinstance(value, type) else 'function'} {name}"


def _without_source(value: object) -> str:
    target = unwrapped(value)
    kind = "class" if isinstance(target, type) else "function"
    if "<locals>" in getattr(target, "__qualname__", ""):
        return f"a {kind} defined inside a function: define it at the top level of a cell"
    return f"a {kind} whose source was not kept: run the cell that defines it again"


def _shell_line(node: ast.stmt) -> str:
    """Return in words which line of a definition needs IPython."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id == SHELL:
            inside = part.lineno - getattr(node, "lineno", part.lineno) + 1
            return f"a magic or a shell command in its line {inside}"
    return "a magic or a shell command"
