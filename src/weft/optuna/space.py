"""The space of a sampler: parameters as dataclasses in Python, as plain data in a record.

    {"x": Float(-10, 10)}  ── space_of ──►  {"x": {"type": "float", "low": -10.0, "high": 10.0, …}}

Checked once, before a run exists. Does not need Optuna, but accepts its distributions too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weft.asktell.objective import path_of
from weft.errors import LedgerDamaged, SearchInvalid
from weft.model.codec import from_json, to_json
from weft.model.values import Value

Option: TypeAlias = bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class Float:
    """A number from `low` to `high`, both included; `log` samples its logarithm evenly.

    With a `step` it is one of `low`, `low + step` and so on. `type` names it in the record.
    """

    low: float
    high: float
    step: float | None = None
    log: bool = False
    type: Literal["float"] = "float"


@dataclass(frozen=True, slots=True)
class Int:
    """A whole number from `low` to `high`, both included; `step` and `log` as in `Float`.

    `type` names it in the record.
    """

    low: int
    high: int
    step: int = 1
    log: bool = False
    type: Literal["int"] = "int"


@dataclass(frozen=True, slots=True, init=False)
class Categorical:
    """One of `options`: strings, numbers, booleans or None; `type` names it in the record."""

    options: tuple[Option, ...]
    type: Literal["categorical"]

    def __init__(self, *options: Option) -> None:
        object.__setattr__(self, "options", options)
        object.__setattr__(self, "type", "categorical")


Parameter: TypeAlias = Float | Int | Categorical
Space: TypeAlias = Mapping[str, Parameter | Mapping[str, Value]]
DynamicSpace: TypeAlias = Callable[..., None] | str
"""A function that takes an Optuna trial and suggests parameters, or its import path."""


def space_of(given: Space | DynamicSpace) -> dict[str, Value] | str:
    """Return the space `given` in its recorded form; refuse one that no sampler could sample."""
    if isinstance(given, str) or callable(given):
        return path_of(given, "space")[0]
    if not isinstance(given, Mapping) or not given:
        raise SearchInvalid(
            "a space names at least one parameter", hint='write {"x": weft.optuna.Float(0, 1)}'
        )
    return {name: to_json(_checked(name, _parameter(name, item))) for name, item in given.items()}


def read_parameter(raw: object) -> Parameter:
    """Read a parameter from plain data."""
    kind = raw.get("type") if isinstance(raw, Mapping) else None
    if kind == "categorical":
        assert isinstance(raw, Mapping)
        return Categorical(*raw.get("options", ()))
    return from_json(Int, raw) if kind == "int" else from_json(Float, raw)


def _parameter(name: str, item: object) -> Parameter:
    if isinstance(item, Float | Int | Categorical):
        return item
    if type(item).__module__.startswith("optuna."):
        return _from_optuna(name, item)
    try:
        return read_parameter(item)
    except LedgerDamaged as error:
        raise SearchInvalid(
            f"parameter {name!r}: {error.message.removeprefix('a record’s ')}",
            hint='write {"type": "float", "low": 0, "high": 1}, "int" or "categorical"',
        ) from None


def _from_optuna(name: str, distribution: object) -> Parameter:
    """Convert a distribution of Optuna by its fields."""
    fields = vars(distribution)
    numbers = {key: fields.get(key) for key in ("low", "high", "step", "log")}
    kind = type(distribution).__name__
    if kind == "CategoricalDistribution":
        return Categorical(*fields["choices"])
    if kind == "IntDistribution":
        return from_json(Int, numbers)
    if kind == "FloatDistribution":
        return from_json(Float, numbers)
    raise SearchInvalid(f"parameter {name!r}: {kind} is not a distribution that can be recorded")


def _checked(name: str, parameter: Parameter) -> Parameter:
    problem = _problem(parameter)
    if not name.isidentifier():
        problem = "its name must be an identifier: it becomes an argument of the objective"
    if problem:
        raise SearchInvalid(f"parameter {name!r}: {problem}")
    if isinstance(parameter, Float):  # one form for 1 and 1.0
        step = None if parameter.step is None else float(parameter.step)
        return Float(float(parameter.low), float(parameter.high), step, parameter.log)
    return parameter


def _problem(parameter: Parameter) -> str:
    if isinstance(parameter, Categorical):
        plain = all(type(o) in {bool, int, float, str, type(None)} for o in parameter.options)
        return "" if parameter.options and plain else "give options: texts, numbers, bool or None"
    low, high, step = parameter.low, parameter.high, parameter.step
    kinds = {int} if isinstance(parameter, Int) else {int, float}
    if any(type(n) not in kinds or not math.isfinite(n) for n in (low, high)):
        return f"its bounds {low!r} and {high!r} are not numbers of type {parameter.type}"
    if low > high:
        return f"low {low!r} is above high {high!r}"
    if parameter.log and (low <= 0 or step not in {None, 1}):
        return "with log, low must be above 0 and there is no step"
    return "" if step is None or step > 0 else f"step {step!r} is not above 0"
