"""Other spellings of solved programs: parts of them joined, where that gives the same grids.

    parts (chains that repeat, operators used twice) ──► joined two by two ──► run on every task
        ──► kept as another spelling of a program whose own chain gives the same grids

A task whose program can be spelled another way at no loss may then share a concept that its own
spelling does not show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from weft.searches.arc.bank import MAX_STEPS
from weft.searches.arc.ops.registry import BY_NAME
from weft.searches.arc.refit import run_chain
from weft.searches.arc.task import ArcTask
from weft.searches.arc.values import Grid, ValueStage

Chain = tuple[str, ...]
Spellings = tuple[Chain, ...]
"""Chains that do the same on all grids of one task, its own first."""


def spellings(
    tasks: Sequence[ArcTask], chains: Sequence[Chain], repeated: Sequence[Chain]
) -> tuple[Spellings, ...]:
    """Return each program's own chain, and those joined or repeated ones that equal it."""
    others = sorted({*joined(chains, repeated), *filter(_is_whole, repeated)})
    return tuple((own, *_equal(task, own, others)) for task, own in zip(tasks, chains, strict=True))


def joined(chains: Iterable[Chain], repeated: Sequence[Chain]) -> list[Chain]:
    """Join two parts of which one repeats, to whole chains of at most 4 operators, sorted."""
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
    """Return the chains that give the same as a program's own on every input of its task."""
    inputs = [*(pair.input for pair in task.train), *task.test]
    expected = run_chain(own, inputs)
    return tuple(other for other in others if other != own and _gives(other, inputs, expected))


def _gives(chain: Chain, inputs: Sequence[Grid], expected: tuple[Grid, ...] | None) -> bool:
    """Whether a chain gives the expected grids; most fail on the first."""
    if expected is None or run_chain(chain, inputs[:1]) != expected[:1]:
        return False
    return run_chain(chain, inputs) == expected
