"""Rebuilds the typed values inside a value, dataclasses by the annotations of a function.

    value as recorded ── rebuild(hint) ──► arrays, tables, bytes, dataclasses in place of `Typed`

The type of a dataclass comes from the annotation at its path, never from the record: a record
names the class only to choose among those that the annotation allows.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final, Protocol, Union, get_args, get_origin, get_type_hints

from weft.errors import LedgerDamaged, ValueInvalid
from weft.model.codec import from_json
from weft.model.leaves import DATACLASS, JsonValue, Object, Typed
from weft.model.natives import UNKNOWN, Read, lower, restore

AS_DICT: Final = object()
"""In place of a hint: a dataclass whose type is not known is read as the dict of its fields."""
_UNIONS = (Union, types.UnionType)


@dataclass(frozen=True, slots=True)
class FunctionTypes:
    """The resolved annotations of a task or search."""

    parameters: Mapping[str, Any]
    returns: Any = None
    unnamed: Any = None
    """In place of the annotation of a parameter that has none."""

    def hint(self, name: str) -> Any:
        """Return the annotation of a parameter."""
        return self.parameters.get(name, self.unnamed)


NO_TYPES: Final = FunctionTypes({}, AS_DICT, AS_DICT)
"""The types of a function that is not loaded."""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """In place of an annotation that cannot be evaluated, with the reason."""

    reason: str


class ValueSource(Protocol):
    """What is needed to rebuild a recorded value."""

    def read(self, reference: Object) -> bytes:
        """Return the bytes of an object of the run."""

    def types(self, function: str) -> FunctionTypes:
        """Return the annotations of a task, by its name."""


@functools.lru_cache(maxsize=1024)
def types_of(function: Callable[..., Any]) -> FunctionTypes:
    """Resolve a function's annotations one by one, so that a failure affects no other."""
    hints = {name: _resolved(function, hint) for name, hint in function.__annotations__.items()}
    return FunctionTypes(hints, hints.pop("return", None))


def _resolved(function: Callable[..., Any], hint: Any) -> Any:
    holder = types.SimpleNamespace(__annotations__={"hint": hint})
    try:
        return get_type_hints(holder, getattr(function, "__globals__", {}))["hint"]
    except Exception as error:  # whatever evaluating an annotation raises
        return Unresolved(f"{type(error).__name__}: {error}")


def rebuild_args(args: Any, types_: FunctionTypes, read: Read) -> dict[str, Any]:
    """Rebuild the typed values inside arguments."""
    return {
        name: rebuild(item, types_.hint(name), read, f"$.{name}") for name, item in args.items()
    }


def rebuild(value: Any, hint: Any, read: Read, path: str = "$") -> Any:
    """Rebuild every typed value inside `value`; `hint` is the annotation at its path."""
    if type(value) is Typed:
        if value.kind == DATACLASS:
            return _build(value, hint, read, path)
        return restore(value, read)
    if type(value) is list:
        item_hint = _item_hint(hint, 0)
        return [rebuild(item, item_hint, read, path) for item in value]
    if type(value) is dict:
        item_hint = _item_hint(hint, 1)
        return {key: rebuild(item, item_hint, read, path) for key, item in value.items()}
    return value


def check_rebuilt(before: Any, after: Any, path: str = "$") -> None:
    """Raise ValueInvalid if a dataclass was not rebuilt as one of its own class."""
    if is_dataclass(before):
        if type(before) is not type(after):
            name = type(before).__name__
            raise ValueInvalid(
                f"a dataclass {name} would come back as {type(after).__name__}",
                path=path,
                hint=f"annotate it with {name}",
            )
        for field in fields(before):
            inside = f"{path}.{field.name}"
            check_rebuilt(getattr(before, field.name), getattr(after, field.name), inside)
    elif isinstance(before, list | tuple):
        for number, pair in enumerate(zip(before, after, strict=True)):
            check_rebuilt(*pair, f"{path}[{number}]")
    elif isinstance(before, Mapping):
        for key, item in before.items():
            check_rebuilt(item, after[key], f"{path}[{key!r:.40}]")


def shown(value: Any) -> JsonValue:
    """Return a value for display; leaves beyond JSON are shown by type, not by content."""
    if type(value) is dict:
        return {key: shown(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return [shown(item) for item in value]
    typed = value if type(value) in (Typed, Object) else lower(value, None)
    if type(typed) is not Typed:
        plain: JsonValue = value if typed is UNKNOWN else typed
        return plain
    return shown({typed.summary: typed.payload}) if typed.kind == DATACLASS else typed.label


def _build(value: Typed, hint: Any, read: Read, path: str) -> Any:
    recorded = rebuild(value.payload, AS_DICT, read, path)
    if hint is AS_DICT:
        return recorded
    if isinstance(hint, Unresolved):
        raise ValueInvalid(
            f"a dataclass whose annotation cannot be resolved: {hint.reason}",
            path=path,
            hint="import what it names at run time, not only under TYPE_CHECKING",
        )
    kind = next((c for c in _choices(hint) if _class(c).__name__ == value.summary), None)
    if kind is None or not is_dataclass(_class(kind)):
        raise ValueInvalid(
            f"a dataclass {value.summary!r:.60}, which no annotation names",
            path=path,
            hint="annotate it, as in `def task(p: Point) -> list[Point]`, or pass asdict(p)",
        )
    try:
        return from_json(_class(kind), recorded)
    except LedgerDamaged as error:
        reason = error.message.removeprefix("a record's ")
    except Exception as error:  # whatever the class's own code raises
        reason = f"{type(error).__name__}: {error}"
    raise ValueInvalid(f"not a {value.summary}: {reason}", path=path)


def _item_hint(hint: Any, number: int) -> Any:
    """Return the annotations that the items of a list (0) or values of a mapping (1) may have."""
    if hint is None or hint is AS_DICT or isinstance(hint, Unresolved):
        return hint
    arguments = [get_args(choice) for choice in _choices(hint)]
    if number:
        inside = [pair[1] for pair in arguments if len(pair) == 2]
    else:
        inside = [item for items in arguments for item in items if item is not Ellipsis]
    return tuple(inside) or None


def _choices(hint: Any) -> Iterator[Any]:
    if isinstance(hint, tuple) or get_origin(hint) in _UNIONS:
        for choice in hint if isinstance(hint, tuple) else get_args(hint):
            yield from _choices(choice)
    elif hint is not None:
        yield hint


def _class(choice: Any) -> Any:
    """Return the class of an annotation; for `Point[int]`, `Point`."""
    origin = get_origin(choice) or choice
    return origin if isinstance(origin, type) else object
