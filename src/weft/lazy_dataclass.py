"""Dataclasses whose methods are made when they are first called.

    from weft.lazy_dataclass import dataclass      # as from dataclasses import dataclass

The standard decorator compiles six functions for a frozen class, which took a third of a short
command's time, and most of them are never called. Here `__init__` is compiled when the first
object is made, and the others are closures that need no compiler. Fields, slots and what
`dataclasses` offers for them (`fields`, `replace`, `asdict`) are the standard library's. A class
with a dataclass among its bases, or options that are not named here, gets the standard decorator.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414 - exported
else:

    def dataclass(
        cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, **others: bool
    ) -> Any:
        """Decorate as `dataclasses.dataclass` does."""

        def decorate(cls: type) -> type:
            options = {"frozen": frozen, "slots": slots, **others}
            if others.keys() - {"kw_only"} or any(map(dataclasses.is_dataclass, cls.__bases__)):
                return dataclasses.dataclass(**options)(cls)
            return _deferred(cls, frozen, slots, **others)

        return decorate if cls is None else decorate(cls)


class _Factory:
    """The default of an argument whose value a factory makes."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


class _DeferredInit:
    """Stands in a class for its `__init__`, which is compiled and put there when looked up."""

    def __init__(self, cls: Any, frozen: bool) -> None:
        self._cls = cls
        self._frozen = frozen

    def __get__(self, instance: object, owner: type) -> Any:
        method: Any = _compiled_init(self._cls, self._frozen)
        self._cls.__init__ = method
        return method.__get__(instance, owner)


def _deferred(cls: type, frozen: bool, slots: bool, **others: bool) -> Any:
    """Make fields and slots as usual, and the methods that the class does not define itself."""
    plain = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, **others)
    kind: Any = plain(cls)
    own = vars(kind)
    hashes = own.get("__hash__", MISSING)
    methods = {"__init__": _DeferredInit(kind, frozen), "__repr__": _repr, "__eq__": _eq_of(kind)}
    if frozen:
        methods |= {"__setattr__": _setattr_of(kind), "__delattr__": _delattr_of(kind)}
        kind.__dataclass_params__.frozen = True  # for the standard decorator of a subclass
    if frozen and slots:
        methods |= {"__getstate__": _getstate, "__setstate__": _setstate}
    if hashes is MISSING or (hashes is None and "__eq__" in own):
        kind.__hash__ = _hash_of(kind) if frozen else None
    for name in methods.keys() - own.keys():
        setattr(kind, name, methods[name])
    return kind


def _compiled_init(cls: Any, frozen: bool) -> Any:
    """Compile `__init__` from the fields: arguments, then an assignment each, then the hook."""
    fields = dataclasses.fields(cls)
    names: dict[str, Any] = {"_factory": _FACTORY, "_set": object.__setattr__}
    names |= {f"_default_{field.name}": field.default for field in fields}
    names |= {f"_make_{field.name}": field.default_factory for field in fields}
    arguments = [_argument(field) for field in fields if field.init and not field.kw_only]
    keywords = [_argument(field) for field in fields if field.init and field.kw_only]
    set_field = "_set(self, {0!r}, {1})" if frozen else "self.{0} = {1}"
    body = [set_field.format(field.name, value) for field in fields if (value := _value(field))]
    body += ["self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    head = ", ".join(["self", *arguments, *(["*", *keywords] if keywords else [])])
    # Names of fields of our own classes, as the standard decorator executes them.
    exec(f"def __init__({head}):\n " + "\n ".join(body or ["pass"]), names)  # noqa: S102
    method = names["__init__"]
    method.__qualname__ = f"{cls.__qualname__}.__init__"
    method.__module__ = cls.__module__
    method.__annotations__ = {field.name: field.type for field in fields if field.init}
    method.__annotations__["return"] = None
    return method


def _argument(field: Field[Any]) -> str:
    """Return an argument of `__init__`."""
    if field.default_factory is not MISSING:
        return f"{field.name}=_factory"
    return field.name if field.default is MISSING else f"{field.name}=_default_{field.name}"


def _value(field: Field[Any]) -> str:
    """Return what `__init__` assigns to a field; nothing for one that only the class sets."""
    if field.default_factory is not MISSING:
        made = f"_make_{field.name}()"
        return f"{made} if {field.name} is _factory else {field.name}" if field.init else made
    if field.init:
        return field.name
    return f"_default_{field.name}" if field.default is not MISSING else ""


@recursive_repr()
def _repr(self: Any) -> str:
    shown = [field.name for field in dataclasses.fields(self) if field.repr]
    values = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
    return f"{type(self).__qualname__}({values})"


def _values_of(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return what reads fields as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    if not names:
        return lambda _: ()
    value = attrgetter(*names)
    return lambda self: (value(self),)


def _eq_of(cls: Any) -> Callable[[Any, Any], Any]:
    fields = dataclasses.fields(cls)
    values = _values_of([field.name for field in fields if field.compare])

    def __eq__(self: Any, other: Any) -> Any:  # noqa: N807
        return values(self) == values(other) if type(self) is type(other) else NotImplemented

    return __eq__


def _hash_of(cls: Any) -> Callable[[Any], int]:
    fields = dataclasses.fields(cls)
    hashed = [f.name for f in fields if (f.compare if f.hash is None else f.hash)]
    values = _values_of(hashed)

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    return __hash__


def _setattr_of(cls: Any) -> Callable[[Any, str, Any], None]:
    names = _names(cls)

    def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    return __setattr__


def _delattr_of(cls: Any) -> Callable[[Any, str], None]:
    names = _names(cls)

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return __delattr__


def _names(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cls))


def _getstate(self: Any) -> list[Any]:
    """What pickle stores of a frozen object with slots."""
    return [getattr(self, name) for name in _names(type(self))]


def _setstate(self: Any, state: list[Any]) -> None:
    for name, value in zip(_names(type(self)), state, strict=True):
        object.__setattr__(self, name, value)
