"""The asks and tells so far, as a chain of small objects: each names its predecessor.

    ask 0 ◄── ask 1 ◄── ask 2          a step: trials told since the previous one, points asked

An ask task takes the last step and adds one, so a run stores every trial once, regardless of the
number of asks. A process caches the chains that it has read by the digest of their last step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.asktell.trials import Params, TrialRecord
from weft.model.codec import Table, from_json, to_json
from weft.model.values import Object, Value, decode, encode
from weft.worker.context import get, note, put

REMEMBERED = 64
"""Number of cached chains; a stream has as many as trials in flight."""


@dataclass(frozen=True, slots=True)
class AskStep:
    """One ask: the trials told just before it, and the points it asked for."""

    told: tuple[TrialRecord, ...]
    asked: tuple[Value, ...]
    seed: int
    """The seed of the ask task; that of the first one seeds an optimizer that keeps state."""
    spec: Value
    """The optimizer and its options."""
    previous: Object | None = None


_chains: dict[str, list[AskStep]] = {}


def read(state: Object | None) -> list[AskStep]:
    """Return the steps up to a state, oldest first."""
    unread: list[AskStep] = []
    place = state
    while place is not None and place.digest not in _chains:
        step = from_json(AskStep, decode(get(place).decode()))
        unread.append(step)
        place = step.previous
    steps = [*(_chains[place.digest] if place else ()), *reversed(unread)]
    if state is not None:
        _remember(state.digest, steps)
    return steps


def append(steps: Sequence[AskStep], step: AskStep) -> Object:
    """Store a step that follows `steps` and return the new state."""
    state = put(encode(to_json(step)).encode())
    _remember(state.digest, [*steps, step])
    return state


def read_told(told: Sequence[Table]) -> tuple[TrialRecord, ...]:
    """Decode trials passed to an ask task."""
    return tuple(from_json(TrialRecord, trial) for trial in told)


def note_trial(number: int, params: Params) -> None:
    """Note a trial's parameters with its task: a failed task has no value that shows them."""
    note(trial=number, params=dict(params))


def _remember(digest: str, steps: list[AskStep]) -> None:
    _chains[digest] = steps
    while len(_chains) > REMEMBERED:
        del _chains[next(iter(_chains))]
