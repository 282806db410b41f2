"""All operators, in the order that numbers them. Slices of a search are ranges of this order."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from weft.searches.arc.ops import fills, moves, pieces, segmentation, sets, templates
from weft.searches.arc.ops.operator import Operator
from weft.searches.arc.values import Grid, Value, fits

REGISTRY: tuple[Operator, ...] = (
    *moves.OPERATORS,
    *fills.OPERATORS,
    *segmentation.OPERATORS,
    *sets.OPERATORS,
    *pieces.OPERATORS,
    *templates.OPERATORS,
)
BY_NAME: dict[str, Operator] = {operator.name: operator for operator in REGISTRY}
assert len(BY_NAME) == len(REGISTRY), "two operators have one name"


def fingerprint() -> str:
    """Return the SHA-256 over the names, value types, costs, shapes and palettes of operators."""
    lines = [
        f"{o.name} {o.takes.name} {o.gives.name} {o.millibits} {o.shape.value} {o.palette.value}"
        for o in REGISTRY
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def apply_chain(chain: Sequence[str], value: Value, given: Grid) -> Value | None:
    """Apply a chain of operators by their definitions; None if it fails."""
    result: Value | None = value
    for name in chain:
        operator = BY_NAME[name]
        assert result is not None
        result = operator.plain(result, given)
        if result is None or not fits(operator.gives, result):
            return None
    return result
