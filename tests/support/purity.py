"""Finds forbidden code in our sources by reading their syntax trees.

Two rule sets: `check_pure` for packages whose outcome may depend on nothing but their
arguments, `check_safe` for all of src (no pickle, no shell, no eval). Both return findings
and judge nothing. Types are not inferred beyond names that the same function binds to a set.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

WORLD_MODULES = frozenset({"datetime", "random", "secrets", "time", "uuid"})
ENVIRONMENT = frozenset({"os.environ", "os.environb", "os.getenv", "os.getenvb", "os.putenv"})
LISTINGS = frozenset({"glob.glob", "glob.iglob", "os.listdir", "os.scandir", "os.walk"})
LISTING_METHODS = frozenset({"glob", "iterdir", "rglob", "walk"})
SET_MAKERS = frozenset({"frozenset", "set"})
SET_METHODS = frozenset({"difference", "intersection", "symmetric_difference", "union"})
# These iterate over their argument in its order and preserve that order in their result.
ORDER_KEEPERS = frozenset(
    {"enumerate", "filter", "iter", "list", "map", "reversed", "tuple", "zip"}
)
# The result of these does not depend on the order of their argument.
ORDER_FREE = frozenset({"all", "any", "frozenset", "len", "set", "sorted"})
UNSAFE_MODULES = frozenset({"cloudpickle", "dill", "marshal", "pickle", "shelve"})
SHELL_CALLS = frozenset(
    {"os.popen", "os.system", "subprocess.getoutput", "subprocess.getstatusoutput"}
)
EVALUATORS = frozenset({"builtins.eval", "builtins.exec", "eval", "exec"})
CONTROL_MODULES = frozenset({"multiprocessing", "sqlite3", "subprocess", "threading"})

Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One broken rule and its line."""

    line: int
    rule: str
    what: str


def check_pure(source: str) -> list[Finding]:
    """Return every dependence on clock, entropy, environment, hash or unordered iteration."""
    tree = ast.parse(source)
    names = _imported_names(tree)
    findings = list(_imports_of(tree, WORLD_MODULES, "world"))
    findings += _references_to(tree, names, ENVIRONMENT, "environment")
    findings += _hash_calls(tree)
    findings += _unsorted_listings(tree, names)
    findings += _set_iterations(tree)
    return sorted(findings)


def check_safe(source: str) -> list[Finding]:
    """Return every use of pickle and similar modules, a shell, `eval` or `exec`."""
    tree = ast.parse(source)
    names = _imported_names(tree)
    findings = list(_imports_of(tree, UNSAFE_MODULES, "pickle"))
    findings += _references_to(tree, names, SHELL_CALLS, "shell")
    for call in _calls(tree):
        called = _dotted(call.func, names)
        if called in EVALUATORS:
            findings.append(Finding(call.lineno, "eval", called))
        for keyword in call.keywords:
            if keyword.arg in {"allow_pickle", "shell"} and not _is_false(keyword.value):
                rule = "pickle" if keyword.arg == "allow_pickle" else "shell"
                findings.append(Finding(call.lineno, rule, keyword.arg))
    return sorted(findings)


def check_search(source: str) -> list[Finding]:
    """Return every import that lets a search start something or keep hidden state."""
    return sorted(_imports_of(ast.parse(source), CONTROL_MODULES, "control"))


@cache
def declares_search(source: str) -> bool:
    """Return whether a function here is decorated as a search."""
    return "search" in source and any(
        ast.unparse(decorator).partition("(")[0].rpartition(".")[2] == "search"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for decorator in node.decorator_list
    )


@cache
def imported_modules(source: str) -> tuple[str, ...]:
    """Return the imported names that may be modules, sorted, without those for type checkers.

    Relative imports are not used in this project.
    """
    tree = ast.parse(source)
    names = set[str]()
    unused = set(_typing_nodes(tree)) if "TYPE_CHECKING" in source else set[ast.AST]()
    for node in ast.walk(tree):
        if node in unused:
            continue
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(sorted(names))


def _typing_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Everything below `if TYPE_CHECKING:`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for statement in node.body:
                yield from ast.walk(statement)


def _imports_of(tree: ast.AST, modules: frozenset[str], rule: str) -> Iterator[Finding]:
    for node in ast.walk(tree):
        for module in _modules_of(node):
            if module.split(".")[0] in modules:
                yield Finding(getattr(node, "lineno", 0), rule, module)


def _modules_of(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        return [node.module or ""]
    if isinstance(node, ast.Call) and _dotted(node.func, {}) in {
        "__import__",
        "import_module",
        "importlib.import_module",
    }:
        return [
            a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)
        ]
    return []


def _imported_names(tree: ast.AST) -> dict[str, str]:
    """Map each imported local name to its full dotted name."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {a.asname: a.name for a in node.names if a.asname}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return names


def _dotted(node: ast.AST, names: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value, names)}.{node.attr}"
    return ""


def _references_to(
    tree: ast.AST, names: dict[str, str], targets: frozenset[str], rule: str
) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and _dotted(node, names) in targets:
            yield Finding(node.lineno, rule, _dotted(node, names))


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _hash_calls(tree: ast.AST) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "hash" and isinstance(node.ctx, ast.Load):
            yield Finding(node.lineno, "hash", "hash")


def _unsorted_listings(tree: ast.AST, names: dict[str, str]) -> Iterator[Finding]:
    inside_sorted = {
        id(inner)
        for call in _calls(tree)
        if _dotted(call.func, names) == "sorted"
        for inner in ast.walk(call)
    }
    for call in _calls(tree):
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        called = _dotted(call.func, names)
        listing = called in LISTINGS or (method in LISTING_METHODS and called != "ast.walk")
        if listing and id(call) not in inside_sorted:
            yield Finding(call.lineno, "listing", called or method)


def _set_iterations(tree: ast.Module) -> Iterator[Finding]:
    order_free = _order_free_arguments(tree)
    for scope, set_names in _scopes(tree, frozenset()):
        for node in _own_nodes(scope):
            walked = [] if id(node) in order_free else _walked_in_order(node)
            for expression in walked:
                if _is_set(expression, set_names):
                    yield Finding(expression.lineno, "set-order", ast.unparse(expression))


def _order_free_arguments(tree: ast.AST) -> set[int]:
    """Return the identities of generator expressions whose consumer ignores their order."""
    return {
        id(argument)
        for call in _calls(tree)
        if _dotted(call.func, {}) in ORDER_FREE
        for argument in call.args
        if isinstance(argument, ast.GeneratorExp)
    }


def _scopes(scope: Scope, outer: frozenset[str]) -> Iterator[tuple[Scope, frozenset[str]]]:
    """Yield each function with the names that are sets in it, enclosing ones included."""
    own, other = _set_names(scope, outer)
    known = (outer - other) | own
    yield scope, known
    for node in _own_nodes(scope):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _scopes(node, known)


def _own_nodes(scope: Scope) -> Iterator[ast.AST]:
    """Walk a scope without entering the functions defined in it (but yield them)."""
    waiting: list[ast.AST] = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))


def _set_names(scope: Scope, outer: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names a scope binds to sets, and those it binds to something else."""
    sets: set[str] = set()
    others: set[str] = set()
    if not isinstance(scope, ast.Module):
        every = [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]
        for argument in every:
            (sets if _is_set_annotation(argument.annotation) else others).add(argument.arg)
    for node in _own_nodes(scope):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            (sets if _is_set_annotation(node.annotation) else others).add(node.target.id)
        elif isinstance(node, ast.Assign):
            into = sets if _is_set(node.value, outer) else others
            into |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return frozenset(sets), frozenset(others - sets)


def _is_set_annotation(node: ast.expr | None) -> bool:
    base = node.value if isinstance(node, ast.Subscript) else node
    return base is not None and _dotted(base, {}).split(".")[-1] in {
        *SET_MAKERS,
        "AbstractSet",
        "FrozenSet",
        "MutableSet",
        "Set",
    }


def _is_set(node: ast.expr, known: Iterable[str]) -> bool:
    match node:
        case ast.Set() | ast.SetComp():
            return True
        case ast.Name(id=name):
            return name in known
        case ast.Call(func=ast.Name(id=name)):
            return name in SET_MAKERS
        case ast.Call(func=ast.Attribute(value=value, attr=attr)):
            return attr in SET_METHODS and _is_set(value, known)
        case ast.BinOp(
            left=left, op=ast.BitAnd() | ast.BitOr() | ast.BitXor() | ast.Sub(), right=right
        ):
            return any(_is_set(side, known) or _is_keys(side) for side in (left, right))
        case ast.IfExp(body=body, orelse=orelse):
            return _is_set(body, known) or _is_set(orelse, known)
    return False


def _is_keys(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "keys"


def _walked_in_order(node: ast.AST) -> list[ast.expr]:
    """Return the expressions over which `node` iterates in a way that exposes their order."""
    match node:
        case ast.For() | ast.AsyncFor():
            return [node.iter]
        case ast.ListComp() | ast.DictComp() | ast.GeneratorExp():
            return [part.iter for part in node.generators]
        case ast.Starred() if isinstance(node.ctx, ast.Load):
            return [node.value]
        case ast.YieldFrom():
            return [node.value]
        case ast.Call(func=ast.Name(id=name)):
            return list(node.args) if name in ORDER_KEEPERS else []
        case ast.Call(func=ast.Attribute(attr="join" | "extend")):
            return list(node.args)
        case ast.Call(func=ast.Attribute(attr="pop", value=value)) if not node.args:
            return [value]
    return []
