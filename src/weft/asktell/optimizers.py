"""Optimizers that keep state, rebuilt by repeating the recorded asks and tells.

There are two kinds: an `Optimizer` has `ask` and `tell`; a callback optimizer is a function that
calls its objective itself. Neither needs to know about tasks. A rebuilt optimizer must ask for the
recorded points; one that does not, because it draws unseeded random numbers, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from weft.asktell.history import AskStep
from weft.asktell.trials import Params, TrialRecord
from weft.model.values import Value, encode

LIVE = 4
"""Number of optimizers that a process keeps between asks."""
T = TypeVar("T")
Point = TypeVar("Point")


class Optimizer(Protocol):
    """The interface that `optimize` needs; created as `factory(seed=…, **options)`."""

    def ask(self) -> Mapping[str, Any]:
        """Return the next point, as arguments of the objective; called once per trial of a batch.

        Raise StopIteration when there is nothing left to try.
        """

    def tell(self, params: Params, value: Any) -> None:
        """Receive the value of a point; None if its trial failed. Called in the order of asks."""


class TrialOptimizer(Protocol):
    """An optimizer that is told whole trials."""

    def ask(self) -> Value:
        """Return the next point; raises StopIteration if there is none."""

    def tell_trial(self, trial: TrialRecord) -> None:
        """Receive a trial that has ended."""


class ByValue:
    """A user's optimizer, told the value of each trial."""

    def __init__(self, optimizer: Optimizer) -> None:
        self._optimizer = optimizer

    def ask(self) -> Value:
        """Ask, and convert NumPy's scalars and arrays to plain values."""
        return plain_params(self._optimizer.ask())

    def tell_trial(self, trial: TrialRecord) -> None:
        """Tell parameters and value."""
        self._optimizer.tell(trial.params, trial.value)


class Diverged(RuntimeError):  # noqa: N818 - read as a state of the optimizer
    """A rebuilt optimizer asked for a point other than the recorded one."""

    def __init__(self, asked: str, recorded: str) -> None:
        super().__init__(
            f"the optimizer asked for {asked:.200} where {recorded:.200} is recorded: it must "
            "depend only on its seed, its options and the values it was told"
        )


_live: dict[str, TrialOptimizer] = {}


def revived(
    key: str, steps: Sequence[AskStep], make: Callable[[], TrialOptimizer]
) -> TrialOptimizer:
    """Return the optimizer in its state after `steps`: from memory, or rebuilt.

    It is removed from memory; the caller that asks it again keeps it under its next state.
    """
    optimizer = _live.pop(key, None)
    return rebuilt(steps, make) if optimizer is None else optimizer


def keep(key: str, optimizer: TrialOptimizer) -> None:
    """Keep an optimizer in case this process runs the next ask."""
    _live[key] = optimizer
    while len(_live) > LIVE:
        del _live[next(iter(_live))]


def rebuilt(steps: Sequence[AskStep], make: Callable[[], TrialOptimizer]) -> TrialOptimizer:
    """Repeat recorded steps with a new optimizer; raises Diverged if it asks for other points."""
    optimizer = make()
    for step in steps:
        proposals = advance(optimizer, step.told, len(step.asked))
        for now, recorded in zip(proposals, step.asked, strict=True):
            if encode(now) != encode(recorded):
                raise Diverged(encode(now), encode(recorded))
    return optimizer


def advance(optimizer: TrialOptimizer, told: Sequence[TrialRecord], count: int) -> list[Value]:
    """Tell trials, then ask for `count` points; return fewer if the optimizer has no more."""
    for trial in told:
        optimizer.tell_trial(trial)
    proposals: list[Value] = []
    for _ in range(count):
        try:
            proposals.append(optimizer.ask())
        except StopIteration:
            break
    return proposals


def plain_params(params: Mapping[str, Any]) -> dict[str, Value]:
    """Convert NumPy's scalars and arrays to plain values."""
    return {
        name: value.tolist() if hasattr(value, "tolist") else value
        for name, value in params.items()
    }


# -- optimizers that call their objective ------------------------------------------------------


class _Suspended(BaseException):
    """Ends an optimizer's call when it needs a value that is not known yet.

    Not an Exception: libraries catch those of an objective and continue.
    """


class Evaluate:
    """The objective passed to a callback optimizer: returns recorded values.

    `evaluate(x)` calls the objective with an argument `x`, a list for an array;
    `evaluate(lr=0.1, depth=3)` names its arguments. `evaluate.map(function, points)` is for
    parameters that take a map-like callable (SciPy's `workers=`): all its points are evaluated in
    parallel. A failed trial counts as `inf`, or `-inf` when maximizing.
    """

    def __init__(self, trials: Sequence[TrialRecord], worst: float) -> None:
        self._trials = trials
        self._worst = worst
        self._known = 0
        self.pending: list[Value] = []

    def __call__(self, x: object = None, **params: object) -> float:
        """Return the recorded value of the next evaluation."""
        point = plain_params(params if x is None else {"x": x, **params})
        if self._known == len(self._trials):
            self.pending.append(point)
            raise _Suspended
        trial = self._trials[self._known]
        self._known += 1
        if encode(point) != encode(trial.params):
            raise Diverged(encode(point), encode(trial.params))
        return trial.values[0] if trial.values else self._worst

    def map(self, function: Callable[[Point], T], points: Iterable[Point]) -> list[T]:
        """Evaluate many points at once, as `map(function, points)`."""
        values = list(self._mapped(function, points))
        if self.pending:
            raise _Suspended
        return values

    def _mapped(self, function: Callable[[Point], T], points: Iterable[Point]) -> Iterator[T]:
        for point in points:
            try:
                yield function(point)
            except _Suspended:
                continue


def callback(function: Callable[..., object]) -> Callable[..., object]:
    """Mark `function(evaluate, *, seed, **options)` as an optimizer that calls its objective."""
    function.is_callback = True  # type: ignore[attr-defined] # marks the function
    return function


def next_points(
    optimizer: Callable[..., object],
    trials: Sequence[TrialRecord],
    worst: float,
    options: Mapping[str, Value],
    seed: int,
) -> list[Value]:
    """Run a callback optimizer on recorded values; return the first points that have none yet.

    Returns no points if it reaches its end. It runs from its start every time: n evaluations
    requested one by one take n²/2 lookups of recorded values, each a few microseconds.
    """
    evaluate = Evaluate(trials, worst)
    try:
        optimizer(evaluate, seed=seed, **options)
    except _Suspended:
        return evaluate.pending
    return []
