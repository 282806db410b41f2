"""What a search may yield: rounds, lazy rounds, streams, lanes; and what it may return.

Descriptions only: nothing here runs a task, opens a file or knows the coordinator.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, SupportsIndex, TypeAlias

from weft.errors import SearchInvalid
from weft.model import results
from weft.model.results import Result
from weft.model.values import Argument, Object, Value

Until = Callable[[Result], bool]
"""Judges each result of a round once, in task order; True ends the round with that result."""

COMMAND = results.COMMAND
FORMER_COMMAND = "weft.worker.command:run_command"
"""The name of `COMMAND` in ledgers of version 0.1, which cannot be continued."""

MAX_ARGS_CHARS = 200
"""Maximum length of the arguments in the `repr` of a call."""

Code = tuple[tuple[str, str], ...]
"""Declared names with their import paths `module:function`; never part of a key or the ledger."""

SearchBody = Generator[Any, Any, Any]
SearchContext: TypeAlias = Mapping[str, "int | Mapping[str, Object] | Budget"]
"""`seed`, `inputs` and `budget`; a search gets those that it has parameters for."""


Proposals: TypeAlias = "Generator[TaskCall, Result | None, Any]"
"""Yields the calls of a stream; after call n it is sent the result of call n + 1 − `width`."""


def import_path(code: Code, name: str) -> str:
    """Return where to import a function that a call names: `module:function`."""
    return next((path for declared, path in code if declared == name), name)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one attempt of a task may use; part of the decision, never of the key."""

    timeout_s: float | None = None
    retries: int | None = None
    memory_mb: int | None = None
    gpu: int = 0
    """1 for a task that needs a GPU slot."""
    group: str | None = None
    """Tasks of one group share a cap on how many run at a time."""


def _call_text(name: str, args: Mapping[str, Argument]) -> str:
    """Format a call as in source code, on one line and shortened if it is long."""
    text = " ".join(", ".join(f"{key}={value!r}" for key, value in args.items()).split())
    shortened = f"{text[:MAX_ARGS_CHARS]}…" if len(text) > MAX_ARGS_CHARS else text
    return f"{name}({shortened})"


@dataclass(slots=True)
class TaskCall:
    """One call of a task function, not yet placed in a round.

    Not frozen: a search may create a million, and frozen ones take twice as long to create.
    """

    json_hint: ClassVar = "yield the call, and pass the .value of its result"
    """Advice on what to pass instead where only JSON values are allowed."""
    function: str
    args: Mapping[str, Argument]
    limits: Limits = Limits()
    code: Code = ()
    """Import paths of the names in the call; a name missing here is itself an import path."""

    def __repr__(self) -> str:
        return f"<TaskCall {_call_text(self.function, self.args)}>"


@dataclass(frozen=True, slots=True)
class Round:
    """An ordered list of task calls whose results are returned together, in this order."""

    tasks: tuple[TaskCall, ...]
    until: Until | None = None


@dataclass(frozen=True, slots=True)
class LazyRound:
    """A round whose calls are created one by one by the pure function `make`."""

    size: int
    make: Callable[[int], TaskCall]
    until: Until | None = None


@dataclass(frozen=True, slots=True)
class StreamRound:
    """A round whose calls are proposed one by one, each from the results known by then."""

    tasks: Proposals
    width: int
    most: int


@dataclass(frozen=True, slots=True)
class SearchCall:
    """A search with its arguments, not yet started; starting it twice gives two equal bodies."""

    name: str
    version: int
    args: Mapping[str, Argument]
    body: Callable[..., SearchBody]
    libraries: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    """Which of `seed`, `inputs`, `budget` the body has as keyword-only parameters."""
    code: Code = ()
    failures_expected: bool = False
    """Whether it is normal that most of the search's tasks fail."""
    source: object = field(default=None, compare=False, repr=False)
    """Its source file as of its declaration, which `runs` compares with the current file."""

    @property
    def import_path(self) -> str:
        """Where the search is imported from: `module:function`."""
        return import_path(self.code, self.name)

    def __repr__(self) -> str:
        return f"<SearchCall {_call_text(self.name, self.args)}>"

    def start(self, context: SearchContext) -> SearchBody:
        """Start the generator with those parts of `context` that it needs."""
        return self.body(**self.args, **{name: context[name] for name in self.needs})


@dataclass(frozen=True, slots=True)
class Lanes:
    """Sub-searches that run in parallel; their answers are returned in this order."""

    bodies: tuple[tuple[str, SearchCall | SearchBody], ...]


@dataclass(frozen=True, slots=True)
class Milestone:
    """A named point in a search where a run can pause, and the expected work after it.

    It is not recorded in the ledger. `pause_at` of `weft.run` refers to `name`; `rounds` are the
    expected sizes of the rounds up to the next milestone, for progress displays.
    """

    name: str
    rounds: tuple[int, ...] = ()

    @property
    def tasks(self) -> int:
        """The number of tasks expected up to the next milestone."""
        return sum(self.rounds)


@dataclass(frozen=True, slots=True)
class Unknown:
    """Returned by a search that has no answer; `reason` is one word, such as `ambiguous`."""

    reason: str
    detail: Value = None
    """What is known nevertheless, such as the candidates or the best so far."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Named counts (programs, evaluations, seeds) that a search may spend; never seconds."""

    counts: Mapping[str, int] = field(default_factory=dict)
    """What may be spent, by name; `budget["tries"]` reads one of them."""

    def __post_init__(self) -> None:
        for name, count in self.counts.items():
            if type(count) is not int or count < 0:
                raise SearchInvalid(f"budget {name!r} must be a count of 0 or more, not {count!r}")

    def __getitem__(self, name: str) -> int:
        return self.counts[name]

    def split(self, parts: int) -> tuple[Budget, ...]:
        """Divide every count into `parts` shares; remainders go to the first shares."""
        if parts < 1:
            raise SearchInvalid(f"a budget cannot be split into {parts} parts")
        return tuple(
            Budget({n: c // parts + (i < c % parts) for n, c in self.counts.items()})
            for i in range(parts)
        )

    def spend(self, **counts: int) -> Budget:
        """Return what is left after spending `counts`, never below zero."""
        return Budget({n: max(0, c - counts.get(n, 0)) for n, c in self.counts.items()})


def make_round(tasks: Iterable[TaskCall], until: Until | None = None) -> Round:
    """Describe a round of `tasks`, a list or tuple of task calls.

    A bare iterator is refused, because replay could not iterate over it again. `until(result)` is
    called with each result in task order and ends the round at the first one for which it is true.
    """
    if not isinstance(tasks, list | tuple):
        raise SearchInvalid(
            f"a round must be a list or tuple of task calls, not {type(tasks).__name__}",
            hint="wrap it in list(...), or use weft.lazy(n, make) for many tasks",
        )
    for index, task in enumerate(tasks):
        check_call(task, index)
    return Round(tuple(tasks), until)


def check_call(task: object, index: int) -> TaskCall:
    """Return `task` if it is a task call; raises `SearchInvalid` naming its type otherwise."""
    if isinstance(task, TaskCall):
        return task
    raise SearchInvalid(
        f"task {index} of a round is {type(task).__name__}, not a call of a @weft.task function"
    )


def make_lazy(size: int, make: Callable[[int], TaskCall], until: Until | None = None) -> LazyRound:
    """Describe a round of `size` tasks created on demand; `make(i)` must be pure.

    `until(result)` may end it early, as in `weft.round`.
    """
    return LazyRound(_count("weft.lazy needs a size", size, 0), make, until)


def make_stream(tasks: Proposals, *, width: int, most: int) -> StreamRound:
    """Describe a round without a barrier: up to `width` tasks are in flight at a time.

    `tasks` is a generator. After yielding call n it is sent the result of call n + 1 − `width`, or
    None if there is no such call, so its proposals do not depend on which task ends first. With a
    width of 1 it is sent the result of the call itself. The round ends when the generator returns,
    or after `most` tasks; the search gets all results in task order.
    """
    if not isinstance(tasks, Generator):
        raise SearchInvalid(
            f"weft.stream needs a generator of task calls, not {type(tasks).__name__}",
            hint="call the generator function: weft.stream(propose(), width=8, most=100)",
        )
    width = _count("weft.stream needs a width", width, 1)
    return StreamRound(tasks, width, _count("weft.stream needs a most", most, 1))


def _count(what: str, value: SupportsIndex, least: int) -> int:
    """Return an integer of any type, such as NumPy's, as an int; refuse values below `least`."""
    count = (
        None
        if isinstance(value, bool) or not hasattr(value, "__index__")
        else operator.index(value)
    )
    if count is None or count < least:
        raise SearchInvalid(f"{what} of {least} or more, not {value!r}")
    return count


def make_lanes(bodies: Mapping[str, SearchCall | SearchBody]) -> Lanes:
    """Describe sub-searches that run in parallel: `bodies` maps names to searches.

    The order of the mapping is the order of the answers.
    """
    running = [id(body) for body in bodies.values() if isinstance(body, Generator)]
    if len(set(running)) < len(running):
        raise SearchInvalid("one generator cannot serve two lanes", hint="start one for each")
    for name, body in bodies.items():
        if not isinstance(name, str) or not name or "/" in name or not name.isprintable():
            raise SearchInvalid(f"lane name {name!r}: use printable text without '/'")
        if not isinstance(body, SearchCall | Generator):
            raise SearchInvalid(f"lane {name!r} is {type(body).__name__}, not a search")
    return Lanes(tuple(bodies.items()))
