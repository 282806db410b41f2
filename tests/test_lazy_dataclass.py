"""Lazy dataclasses behave as those of the standard library, which are their plain twin."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar

import pytest

from weft import lazy_dataclass

Decorator = Callable[..., Any]
BOTH = pytest.mark.parametrize(
    "dataclass", [dataclasses.dataclass, lazy_dataclass.dataclass], ids=["standard", "lazy"]
)


def shape(dataclass: Decorator, **options: bool) -> Any:
    class Shape:
        """Every kind of field."""

        unit: ClassVar = "cm"
        width: int
        tags: list[str] = field(default_factory=list)
        name: str = "box"
        secret: str = field(default="x", repr=False, compare=False)
        depth: int = field(default=3, kw_only=True)
        area: int = field(init=False)
        notes: tuple[str, ...] = field(init=False, default=())
        log: list[str] = field(init=False, default_factory=list)

        def __post_init__(self) -> None:
            object.__setattr__(self, "area", self.width * self.depth)

    return dataclass(**options)(Shape)


def pair(dataclass: Decorator, **options: bool) -> Any:
    class Pair:
        """Two fields."""

        left: int
        right: str = "r"

    return dataclass(**options)(Pair)


@lazy_dataclass.dataclass(frozen=True, slots=True)
class Stored:
    """At module level, where pickle finds it."""

    number: int
    text: str = ""


ALL_OPTIONS = pytest.mark.parametrize(
    "options",
    [{}, {"slots": True}, {"frozen": True}, {"frozen": True, "slots": True}, {"order": True}],
    ids=str,
)


@ALL_OPTIONS
def test_objects_behave_as_standard_ones(options: dict[str, bool]) -> None:
    twins = [shape(make, **options) for make in (dataclasses.dataclass, lazy_dataclass.dataclass)]
    outcomes = [
        (
            repr(cls(2)), repr(cls(2, ["a"], depth=5)), cls(2) == cls(2), cls(2) == cls(3),
            cls(2, secret="y") == cls(2), cls(2) == 2, cls(2).tags is cls(2).tags,
            dataclasses.asdict(cls(2, name="n")), repr(dataclasses.replace(cls(2), width=9)),
            [(f.name, f.type, f.init) for f in dataclasses.fields(cls)], cls.__match_args__,
            str(inspect.signature(cls)), cls.__init__.__qualname__, cls.__hash__ is None,
            getattr(cls, "__slots__", None), cls.__doc__, cls.unit,
        )
        for cls in twins
    ]  # fmt: skip
    assert outcomes[0] == outcomes[1]


@BOTH
def test_frozen_object_refuses_changes_and_hashes(dataclass: Decorator) -> None:
    cls = pair(dataclass, frozen=True, slots=True)
    thing = cls(1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'left'"):
        thing.left = 2
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'left'"):
        del thing.left
    assert hash(thing) == hash((1, "r"))


@BOTH
def test_subclass_of_frozen_class_may_add_attributes(dataclass: Decorator) -> None:
    class Wider(pair(dataclass, frozen=True)):  # type: ignore[misc]
        """Not a dataclass itself."""

    thing = Wider(1)
    thing.extra = 5
    del thing.extra
    with pytest.raises(FrozenInstanceError):
        thing.left = 2
    with pytest.raises(FrozenInstanceError):
        del thing.left


@BOTH
@pytest.mark.parametrize("options", [{}, {"frozen": True, "slots": True}], ids=str)
def test_methods_of_the_class_itself_stay(dataclass: Decorator, options: dict[str, bool]) -> None:
    class Own:
        """Defines what would be made."""

        number: int

        def __init__(self) -> None:
            object.__setattr__(self, "number", 7)

        def __repr__(self) -> str:
            return "mine"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 5

    cls = dataclass(**options)(Own)
    assert (repr(cls()), cls() == 3, hash(cls()), cls().number) == ("mine", True, 5, 7)


@BOTH
def test_class_with_own_equality_is_hashed_by_its_fields(dataclass: Decorator) -> None:
    class Alike:  # noqa: PLW1641 - the decorator makes it
        """All equal."""

        number: int

        def __eq__(self, other: object) -> bool:
            return True

    cls = dataclass(frozen=True)(Alike)
    assert hash(cls(4)) == hash((4,))


@BOTH
def test_wrong_arguments_are_refused_by_name(dataclass: Decorator) -> None:
    cls = pair(dataclass, frozen=True, slots=True)
    with pytest.raises(TypeError, match=r"__init__\(\) missing 1 required .*'left'"):
        cls()
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'middle'"):
        cls(1, middle=2)


@BOTH
def test_classes_without_fields_and_bare_decorators_work(dataclass: Decorator) -> None:
    @dataclass
    class Empty:
        """No fields."""

    assert Empty() == Empty()
    assert repr(Empty()).endswith("Empty()")


def test_dataclass_among_the_bases_gets_the_standard_decorator() -> None:
    base: Any = pair(lazy_dataclass.dataclass, frozen=True, slots=True)

    @lazy_dataclass.dataclass(frozen=True, slots=True)
    class Wider(base):  # type: ignore[misc]
        """One more field."""

        more: int = 0

    assert Wider(1, "x", 2) == Wider(1, "x", 2)
    assert repr(Wider(1)).endswith("Wider(left=1, right='r', more=0)")
    with pytest.raises(FrozenInstanceError):
        Wider(1).more = 3


def test_methods_wait_for_the_first_object() -> None:
    cls = pair(lazy_dataclass.dataclass, frozen=True, slots=True)
    waiting = vars(cls)["__init__"]
    assert not inspect.isfunction(waiting)
    assert cls(1).right == "r"
    assert inspect.isfunction(vars(cls)["__init__"])
    assert waiting.__get__(cls(1), cls)(2) is None  # looked up by another thread meanwhile


def test_frozen_objects_are_copied_and_pickled() -> None:
    thing = Stored(3, "t")
    assert pickle.loads(pickle.dumps(thing)) == thing
    assert copy.deepcopy(thing) == thing
    assert copy.copy(thing) == thing
