"""Whether a chain of operators is worth having: not if a shorter one does the same.

Sameness is judged on everything the chain was applied to when the programs of a corpus ran on
their training inputs, and where it takes a grid, on all training inputs of the corpus too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from weft.searches.arc.ops.registry import BY_NAME, REGISTRY, apply_chain
from weft.searches.arc.program import Program
from weft.searches.arc.task import ArcTask
from weft.searches.arc.values import Grid, Value, ValueStage

Chain = tuple[str, ...]
Place = tuple[Value, Grid]
"""A value, and the input grid of the example it belongs to."""


@dataclass(frozen=True, slots=True)
class OperatorInputs:
    """What each operator was applied to, and all training inputs."""

    by_operator: Mapping[str, Sequence[Place]]
    inputs: Sequence[Place]

    def places(self, chain: Chain) -> list[Place]:
        """Return the values on which a chain is compared with others."""
        own = list(self.by_operator.get(chain[0], ()))
        return own + (list(self.inputs) if BY_NAME[chain[0]].takes is ValueStage.GRID else [])


def operator_inputs(corpus: Sequence[tuple[ArcTask, Program]]) -> OperatorInputs:
    """Run every program on its training inputs and note what each operator got."""
    by_operator: dict[str, list[Place]] = {}
    inputs: list[Place] = []
    for task, program in corpus:
        for pair in task.train:
            inputs.append((pair.input, pair.input))
            value: Value = pair.input
            steps = list(program.steps(pair.input))[: len(program.names)]
            for name, _, result in steps:
                by_operator.setdefault(name, []).append((value, pair.input))
                if result is None:
                    break
                value = result
    return OperatorInputs(by_operator, inputs)


def is_redundant(chain: Chain, inputs: OperatorInputs) -> bool:
    """Whether nothing, one operator, or a shorter part of the chain does the same as the chain."""
    places = inputs.places(chain)
    takes, gives = BY_NAME[chain[0]].takes, BY_NAME[chain[-1]].gives
    shorter: list[Chain] = [()] if takes is gives else []
    shorter += [(o.name,) for o in REGISTRY if o.takes is takes and o.gives is gives]
    shorter += [chain[:i] + chain[i + 1 :] for i in range(len(chain)) if len(chain) > 2]
    shorter = [other for other in shorter if _is_chain(other, takes, gives)]
    return any(
        all(_applied(chain, *place) == _applied(other, *place) for place in places)
        for other in shorter
    )


def _is_chain(names: Chain, takes: ValueStage, gives: ValueStage) -> bool:
    """Whether operators follow each other from one stage to another, or there are none."""
    if not names:
        return True
    ends = BY_NAME[names[0]].takes is takes and BY_NAME[names[-1]].gives is gives
    return ends and all(BY_NAME[a].gives is BY_NAME[b].takes for a, b in pairwise(names))


@lru_cache(maxsize=100_000)
def _applied(chain: Chain, value: Value, given: Grid) -> Value | None:
    """Apply a chain; results are cached, as chains are compared with many others."""
    return apply_chain(chain, value, given)
