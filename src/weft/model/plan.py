"""A search's plan: how many tasks it expects, and what to show while they run.

For progress displays only: no decision depends on it, and nothing of it reaches the ledger.

    yield Plan(…) ─► plans by lane ─┬─► expected_tasks: the total
    rounds opened ─► tasks by lane ─┘
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Literal, Protocol, TypeAlias

from weft.errors import SearchInvalid
from weft.model.values import parse_trusted

Direction: TypeAlias = Literal["max", "min"]
Number: TypeAlias = int | float
MAX_WORD_CHARS = 60
MAX_NOTE_CHARS = 200


class NamedTask(Protocol):
    """A task, as `@weft.task` declares it."""

    @property
    def name(self) -> str:
        """The name that identifies it in keys and ledger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a search expects and what to show while it runs: `yield weft.Plan(total=400)`.

    The `yield` returns at once; a plan is not recorded in the ledger and never changes an outcome.
    A later plan of the same lane replaces the previous one. The root's plan determines what is
    shown; of the plans of lanes only the totals are used, added up.
    """

    total: int | None = None
    """The number of tasks that the search expects, including its lanes."""
    best: Direction | None = None
    """Show the largest or the smallest value so far, of results that are numbers."""
    key: str | None = None
    """The key of the number, if results are dicts."""
    of: str | NamedTask | None = None
    """The task whose results count, or its name. Default: all tasks."""
    unit: str = "tasks"
    """What users call tasks, in the plural."""
    lanes: str = "lanes"
    """What users call lanes, in the plural."""
    tally: str | None = None
    """A key of the lanes' answers; lanes are counted by its text, as in `3 solved`."""
    note: str = ""
    """A line about the state of the search."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", getattr(self.of, "name", self.of))
        total = self.total
        if total is not None and (type(total) is not int or total < 0):
            raise SearchInvalid(f"weft.Plan needs a total of 0 or more, not {total!r:.60}")
        if self.best not in (None, "max", "min"):
            raise SearchInvalid(f'weft.Plan: best is "max" or "min", not {self.best!r:.60}')
        for name, limit in (("unit", MAX_WORD_CHARS), ("lanes", MAX_WORD_CHARS)):
            _check_text(name, getattr(self, name), limit)
        _check_text("note", self.note or "-", MAX_NOTE_CHARS)
        for name, what in (("key", "a key"), ("tally", "a key"), ("of", "a task or its name")):
            if not isinstance(getattr(self, name), str | None):
                raise SearchInvalid(f"weft.Plan: {name} is {what}, not {getattr(self, name)!r:.60}")
        if self.tally is not None and (not self.tally.isprintable() or '"' in self.tally):
            raise SearchInvalid(f"weft.Plan: {self.tally!r:.60} cannot be a tally")

    def to_text(self) -> str:
        """Return the JSON form, without unset fields."""
        return json.dumps({name: v for name, v in asdict(self).items() if v is not None})

    @staticmethod
    def from_text(text: str) -> Plan:
        """Read the JSON form; unknown fields of newer versions are ignored."""
        known = {field.name for field in fields(Plan)}
        try:
            return Plan(**{name: v for name, v in json.loads(text).items() if name in known})
        except SearchInvalid as error:
            raise ValueError(str(error)) from None


def _check_text(name: str, text: object, limit: int) -> None:
    if not isinstance(text, str) or not 0 < len(text) <= limit or not text.isprintable():
        raise SearchInvalid(f"weft.Plan: {name} is one line of up to {limit} characters")


def expected_tasks(
    plans: Mapping[str, Plan], tasks: Mapping[str, int], ended: Collection[str]
) -> int:
    """Return how many tasks a run will have, as far as its plans and rounds show.

    `tasks` counts the tasks in the rounds that each lane has opened; `ended` has the lanes that
    have ended. A lane without a total counts its opened tasks; a total covers the lanes below, too.
    """
    totals = {
        lane: plan.total
        for lane, plan in plans.items()
        if plan.total is not None and lane not in ended
    }
    opened = dict.fromkeys(totals, 0)
    others = 0
    for lane, count in tasks.items():
        ruler = _ruler(lane, totals)
        if ruler is None:
            others += count
        else:
            opened[ruler] += count
    rulers = [lane for lane in totals if _ruler(lane, totals) == lane]
    return others + sum(max(totals[lane], opened[lane]) for lane in rulers)


def _ruler(lane: str, totals: Mapping[str, int]) -> str | None:
    """Return the outermost lane with a total that contains a lane or is the lane itself."""
    path = ""
    for name in lane.split("/"):
        path = f"{path}/{name}" if name else ""
        if path in totals:
            return path
    return None


class Best:
    """The best number among results; on a tie, the first."""

    def __init__(self, plan: Plan) -> None:
        self._key, self._function = plan.key, plan.of
        self._sign = 1 if plan.best == "max" else -1
        self.value: Number | None = None

    def offer(self, function: str, text: str) -> None:
        """Consider a result's value, in wire form; ignore it if it has no number."""
        if self._function not in (None, function):
            return
        number = number_in(text, self._key)
        if number is None:
            return
        if self.value is None or self._sign * number > self._sign * self.value:
            self.value = number


_FLOAT = '{"$f":"'


def number_in(text: str, key: str | None) -> Number | None:
    """Return the number that a value in wire form is, or has under `key`.

    >>> number_in("7", None), number_in('{"score":{"$f":"0.5"}}', "score"), number_in('"a"', None)
    (7, 0.5, None)
    """
    if key is None and text.startswith(_FLOAT):
        return float(text[len(_FLOAT) : -2])  # the commonest kind, in a third of the time
    raw = parse_trusted(text)
    if type(raw) is dict and "$t" in raw:
        raw = raw["$t"][2]  # the fields of a dataclass
    if key is not None:
        raw = raw.get(f"${key}" if key[:1] == "$" else key) if type(raw) is dict else None
    return raw if type(raw) is int else _tagged_number(raw)


def _tagged_number(raw: object) -> Number | None:
    """Read a float or a large integer from its tag; None for anything else."""
    if type(raw) is not dict or len(raw) != 1:
        return None
    [(tag, body)] = raw.items()
    return float(body) if tag == "$f" else int(body, 16) if tag == "$i" else None
