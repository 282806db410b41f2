"""Linear equations over GF(2): rows packed into 64-bit words, solved by blocked elimination.

Column j of a row is bit j % 64 of word j // 64; the column after the last unknown holds the
right-hand side. `solve` is the fast implementation (Method of the Four Russians: Arlazarov, Dinic,
Kronrod, Faradzhev 1970), `solve_plain` its twin over Python integers. Independent of generators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.lazy_imports import lazy_imports, lazy_module
from weft.searches.prng.arrays import Words

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

with lazy_imports():
    from weft.searches.prng.kernels import elimination


@dataclass(frozen=True, slots=True)
class Solution:
    """The rank of a system, whether it is consistent and, if so, one solution.

    Bit j of the integer `bits` is unknown j; free unknowns are 0.
    """

    rank: int
    consistent: bool
    bits: int


def row_words(unknowns: int) -> int:
    """Return the number of words in a row: the unknowns and the right-hand side."""
    return unknowns // 64 + 1


def solve(matrix: Words, unknowns: int) -> Solution:
    """Solve the rows of `matrix`, which is overwritten."""
    assert matrix.shape[1] == row_words(unknowns)
    pivots = np.zeros(min(len(matrix), unknowns), np.int64)
    rank = int(elimination.eliminate(matrix, unknowns, pivots))
    word, bit = divmod(unknowns, 64)
    if (matrix[rank:, word] >> np.uint64(bit) & np.uint64(1)).any():
        return Solution(rank, False, 0)
    values = np.zeros(row_words(unknowns), np.uint64)
    elimination.substitute(matrix, unknowns, pivots[:rank], values)
    return Solution(rank, True, int.from_bytes(values.astype("<u8").tobytes(), "little"))


def solve_plain(rows: Sequence[int], unknowns: int) -> Solution:
    """Solve rows given as integers, column j as bit j, one pivot at a time."""
    basis: list[tuple[int, int]] = []
    mask = (1 << unknowns) - 1
    for row in rows:
        for low, pivot in basis:
            row ^= pivot if row & low else 0  # noqa: PLW2901 - the row is being reduced
        if row & mask:
            low = row & -row
            basis = [
                (pivot_bit, other ^ row if other & low else other) for pivot_bit, other in basis
            ]
            basis.append((low, row))
        elif row:
            return Solution(_rank_of(rows, mask), False, 0)
    return Solution(len(basis), True, sum(low for low, row in basis if row >> unknowns))


def _rank_of(rows: Sequence[int], mask: int) -> int:
    basis: list[int] = []
    for row in rows:
        reduced = row & mask
        for vector in basis:
            reduced = min(reduced, reduced ^ vector)
        if reduced:
            basis.append(reduced)
    return len(basis)


def packed(rows: Sequence[int], unknowns: int) -> Words:
    """Pack rows given as integers."""
    size = 8 * row_words(unknowns)
    raw = b"".join(row.to_bytes(size, "little") for row in rows)
    return np.frombuffer(raw, "<u8").astype(np.uint64).reshape(len(rows), size // 8)
