"""What speaks against a program that is right on every training pair: grounds of doubt, counted.

    foretold  its last rule, fitted without a pair, gives that pair's output; two should be (one
              where there are only two pairs). Without a fitted rule every pair is foretold
    refuted   fitted without a pair, it gives another output than that pair's
    turned    the task turned, mirrored or recoloured: it is right on all pairs still, and says
              something else about the tests. Then a tie was broken by place or colour number
    broken    laws that all pairs keep and its answer breaks

Doubts cost bits, as if the program were so much longer. All is integer, and decided by the task
and the program alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from weft.arc.laws import broken
from weft.arc.ops.operator import BIT
from weft.arc.program import Program
from weft.arc.refit import predict
from weft.arc.task import ArcTask
from weft.arc.turns import TURNS, Turn
from weft.arc.values import Grid

LACKING, CONTRARY, REFUTED = 30 * BIT, 60 * BIT, 90 * BIT
"""What doubts cost: a pair that lacks, being turned or each broken law, being refuted.

Tuned on the training split: on its tasks, and on those with one pair less and that as the test.
"""
FORETOLD = 2
"""Pairs that a fitted program should foretell."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """How a program fared beyond the pairs it was found for."""

    foretold: int
    wanted: int
    """Pairs that it should foretell."""
    refuted: int = 0
    turned: int = 0
    broken: tuple[str, ...] = ()

    @property
    def doubt_millibits(self) -> int:
        """What the doubts cost."""
        lacking = max(0, self.wanted - self.foretold)
        contrary = (self.turned > 0) + len(self.broken)
        return LACKING * lacking + CONTRARY * contrary + REFUTED * (self.refuted > 0)

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "foretold": self.foretold, "wanted": self.wanted, "refuted": self.refuted,
            "turned": self.turned, "broken": list(self.broken),
            "doubt_millibits": self.doubt_millibits,
        }  # fmt: skip

    @staticmethod
    def from_dict(raw: Mapping[str, Any]) -> Evidence:
        """Read what `to_dict` wrote."""
        return Evidence(
            raw["foretold"], raw["wanted"], raw["refuted"], raw["turned"], tuple(raw["broken"])
        )


def examine(
    task: ArcTask, program: Program, outputs: tuple[Grid, ...], foretold: int | None = None
) -> Evidence:
    """Gather the evidence on a program that is right on every pair and gives `outputs`.

    Of a list its maker knows what it `foretold`, and that must be all pairs: it was chosen among
    too many. Else the last rule is fitted without each pair.
    """
    pairs, refuted = len(task.train), 0
    wanted = min(FORETOLD, max(1, pairs - 1)) if foretold is None else pairs
    if foretold is None:
        foretold, refuted = _left_out(task, program) if program.fitted else (pairs, 0)
    turned = sum(_contradicts(task, program, outputs, turn) for turn in TURNS)
    return Evidence(foretold, wanted, refuted, turned, broken(task, outputs))


def _left_out(task: ArcTask, program: Program) -> tuple[int, int]:
    """Fit without each pair in turn; count those foretold and those foretold wrongly."""
    right = wrong = 0
    for left, pair in enumerate(task.train if len(task.train) > 1 else ()):
        others = [other for i, other in enumerate(task.train) if i != left]
        inputs = [*(other.input for other in others), pair.input]
        found = predict(program, inputs, [other.output for other in others])
        if found is not None:
            right, wrong = right + (found[-1] == pair.output), wrong + (found[-1] != pair.output)
    return right, wrong


def _contradicts(task: ArcTask, program: Program, outputs: tuple[Grid, ...], turn: Turn) -> bool:
    """Whether a program is right on the turned pairs too, but not of one mind on the tests."""
    if program.view is not None:
        program = replace(program, view=program.view.turned(turn))
    inputs = [*(turn.there(pair.input) for pair in task.train), *map(turn.there, task.test)]
    found = predict(program, inputs, [turn.there(pair.output) for pair in task.train])
    return found is not None and tuple(map(turn.back, found[len(task.train) :])) != outputs
