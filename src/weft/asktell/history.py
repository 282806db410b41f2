"""What was asked and told so far, as a chain of small objects: each names the one before it.

    ask 0 ◄── ask 1 ◄── ask 2          a node: what was told since the node before, what was asked

An ask task is given the last node and adds one, so a run stores every trial once, however many
asks there are. A process remembers the chains that it has read: their names are their content.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.asktell.trials import Params, TrialRecord
from weft.model.codec import Table, from_json, to_json
from weft.model.values import Object, Value, decode, encode
from weft.worker.context import get, note, put

REMEMBERED = 64
"""Chains in memory: a stream has as many as trials under way."""


@dataclass(frozen=True, slots=True)
class AskStep:
    """One ask: what was told just before it, and what it asked for."""

    told: tuple[TrialRecord, ...]
    asked: tuple[Value, ...]
    seed: int
    """The seed of the ask task; that of the first one seeds an optimizer that lives on."""
    spec: Value
    """Which optimizer, with which options."""
    previous: Object | None = None


_chains: dict[str, list[AskStep]] = {}


def read(state: Object | None) -> list[AskStep]:
    """Return the steps up to a state, the first one first."""
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
    """Store a step after others and return the state that it makes."""
    state = put(encode(to_json(step)).encode())
    _remember(state.digest, [*steps, step])
    return state


def read_told(told: Sequence[Table]) -> tuple[TrialRecord, ...]:
    """Read trials as an ask task is given them."""
    return tuple(from_json(TrialRecord, trial) for trial in told)


def note_trial(number: int, params: Params) -> None:
    """Show a trial's parameters with its task: one that fails has no value to show them."""
    note(trial=number, params=dict(params))


def _remember(digest: str, steps: list[AskStep]) -> None:
    _chains[digest] = steps
    while len(_chains) > REMEMBERED:
        del _chains[next(iter(_chains))]
