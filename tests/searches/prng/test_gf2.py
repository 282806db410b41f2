"""Packed elimination against its plain twin, and against trying every state of a toy LFSR."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.searches.prng.gf2 import Solution, packed, solve, solve_plain

SIZES = [(1, 1), (5, 9), (63, 70), (64, 64), (64, 80), (65, 40), (128, 140), (200, 190), (330, 400)]


def _system(unknowns: int, count: int, seed: int) -> tuple[list[int], int]:
    """Return equations that hold for a known vector, and the vector."""
    noise = np.random.default_rng(seed)
    size = unknowns // 8 + 1
    mask = (1 << unknowns) - 1
    truth = int.from_bytes(noise.bytes(size), "little") & mask
    rows = [int.from_bytes(noise.bytes(size), "little") & mask for _ in range(count)]
    return [row | ((row & truth).bit_count() & 1) << unknowns for row in rows], truth


def _holds(rows: Sequence[int], unknowns: int, bits: int) -> bool:
    return all(((row & (bits | 1 << unknowns)).bit_count() & 1) == 0 for row in rows)


@pytest.mark.parametrize(("unknowns", "count"), SIZES)
def test_solve_random_rows_agrees_with_the_plain_twin(unknowns: int, count: int) -> None:
    rows, truth = _system(unknowns, count, seed=unknowns)
    fast, plain = solve(packed(rows, unknowns), unknowns), solve_plain(rows, unknowns)
    assert (fast.rank, fast.consistent) == (plain.rank, plain.consistent)
    assert _holds(rows, unknowns, fast.bits)
    assert _holds(rows, unknowns, plain.bits)
    assert fast.rank < unknowns or fast.bits == plain.bits == truth


@pytest.mark.parametrize(("unknowns", "count"), SIZES[4:])
def test_solve_repeated_and_empty_rows_keeps_the_rank(unknowns: int, count: int) -> None:
    rows, _ = _system(unknowns, count // 3, seed=count)
    rows = [*rows, 0, *rows, rows[0] ^ rows[1], *([0] * 300), rows[2]]
    fast, plain = solve(packed(rows, unknowns), unknowns), solve_plain(rows, unknowns)
    assert (fast.rank, fast.consistent) == (plain.rank, plain.consistent)
    assert _holds(rows, unknowns, fast.bits)


@pytest.mark.parametrize("wrong", [0, 70, 139])
def test_solve_one_wrong_side_is_a_contradiction(wrong: int) -> None:
    rows, _ = _system(100, 140, seed=3)
    rows[wrong] ^= 1 << 100
    expected = Solution(100, False, 0)
    assert solve(packed(rows, 100), 100) == solve_plain(rows, 100) == expected


def test_solve_columns_that_come_late_are_found_after_the_sample() -> None:
    """Only the last row, which is not in the sample, has the later columns."""
    rows = [1 << (at % 3) for at in range(600)] + [0b11000]
    assert solve(packed(rows, 64), 64).rank == solve_plain(rows, 64).rank == 4


@settings(max_examples=10)
@given(st.integers(1, 2**10 - 1), st.integers(12, 40))
def test_solve_toy_lfsr_gives_the_one_state_that_exhaustion_finds(state: int, draws: int) -> None:
    bits = _lfsr(state, draws)
    basis = [_lfsr(1 << at, draws) for at in range(10)]
    rows = [sum(basis[at][i] << at for at in range(10)) | bits[i] << 10 for i in range(draws)]
    solution = solve(packed(rows, 10), 10)
    explaining = [start for start in range(1 << 10) if _lfsr(start, draws) == bits]
    assert solution.consistent
    assert explaining == [solution.bits] == [state]


def _lfsr(state: int, count: int) -> list[int]:
    """Low bits of a 10-bit register with the taps of x^10 + x^3 + 1."""
    out = []
    for _ in range(count):
        out.append(state & 1)
        state = state >> 1 | ((state ^ state >> 3) & 1) << 9
    return out
