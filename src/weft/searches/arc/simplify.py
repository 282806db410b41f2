"""Equivalent chains of operators: shorter ones, and other spellings of solved programs.

A chain is redundant if a shorter one does the same. Chains are compared on every value to which
their first operator was applied when the programs of a corpus ran on their training inputs, and,
if they take a grid, also on all training inputs of the corpus.

    parts (repeated chains, operators used twice) ──► joined in pairs ──► run on every task
        ──► another spelling of each program whose own chain gives the same grids
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from weft.searches.arc.bank import MAX_STEPS
from weft.searches.arc.ops.registry import BY_NAME, REGISTRY, apply_chain
from weft.searches.arc.program import Program
from weft.searches.arc.refit import run_chain
from weft.searches.arc.task import ArcTask
from weft.searches.arc.values import Grid, Value, ValueStage

Chain = tuple[str, ...]
Place = tuple[Value, Grid]
"""A value, and the input grid of the example to which it belongs."""


@dataclass(frozen=True, slots=True)
class OperatorInputs:
    """The values to which each operator was applied, and all training inputs."""

    by_operator: Mapping[str, Sequence[Place]]
    inputs: Sequence[Place]

    def places(self, chain: Chain) -> list[Place]:
        """Return the values on which a chain is compared with others."""
        own = list(self.by_operator.get(chain[0], ()))
        return own + (list(self.inputs) if BY_NAME[chain[0]].takes is ValueStage.GRID else [])


def operator_inputs(corpus: Sequence[tuple[ArcTask, Program]]) -> OperatorInputs:
    """Run every program on its training inputs and collect the values each operator received."""
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
    """Whether operators form a chain from one stage to another; true if there are none."""
    if not names:
        return True
    ends = BY_NAME[names[0]].takes is takes and BY_NAME[names[-1]].gives is gives
    return ends and all(BY_NAME[a].gives is BY_NAME[b].takes for a, b in pairwise(names))


@lru_cache(maxsize=100_000)
def _applied(chain: Chain, value: Value, given: Grid) -> Value | None:
    """Apply a chain; cached, as each chain is compared with many others."""
    return apply_chain(chain, value, given)


# -- other spellings of programs ------------------------------------------------------------------


Spellings = tuple[Chain, ...]
"""Chains that do the same on all inputs of one task, its program's own chain first."""


def spellings(
    tasks: Sequence[ArcTask], chains: Sequence[Chain], repeated: Sequence[Chain]
) -> tuple[Spellings, ...]:
    """Return each program's own chain with the joined and repeated chains that equal it."""
    others = sorted({*joined(chains, repeated), *filter(_is_whole, repeated)})
    return tuple((own, *_equal(task, own, others)) for task, own in zip(tasks, chains, strict=True))


def joined(chains: Iterable[Chain], repeated: Sequence[Chain]) -> list[Chain]:
    """Join pairs of parts, at least one a repeated chain, to chains of at most 4 operators.

    Only chains from grid to grid are returned, sorted.
    """
    uses = Counter(name for chain in chains for name in sorted(set(chain)))
    single = [(name,) for name, count in uses.items() if count > 1]
    pairs = [(a, b) for a in repeated for b in (*repeated, *single)]
    pairs += [(a, b) for a in single for b in repeated]
    chains_joined = {a + b for a, b in pairs if len(a + b) <= MAX_STEPS and _fit(a, b)}
    return sorted(filter(_is_whole, chains_joined))


def _fit(a: Chain, b: Chain) -> bool:
    return BY_NAME[a[-1]].gives is BY_NAME[b[0]].takes


def _is_whole(chain: Chain) -> bool:
    return BY_NAME[chain[0]].takes is BY_NAME[chain[-1]].gives is ValueStage.GRID


def _equal(task: ArcTask, own: Chain, others: Sequence[Chain]) -> Spellings:
    """Return the other chains that give the same as a program's own on every input of its task."""
    inputs = [*(pair.input for pair in task.train), *task.test]
    expected = run_chain(own, inputs)
    return tuple(other for other in others if other != own and _gives(other, inputs, expected))


def _gives(chain: Chain, inputs: Sequence[Grid], expected: tuple[Grid, ...] | None) -> bool:
    """Whether a chain gives the expected grids; the first input rules out most chains."""
    if expected is None or run_chain(chain, inputs[:1]) != expected[:1]:
        return False
    return run_chain(chain, inputs) == expected
