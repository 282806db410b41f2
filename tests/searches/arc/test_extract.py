"""Extracting the bits that a mask selects: the instruction and the six steps, bit by bit."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt
import pytest

from weft.searches.arc.kernels.covering import moves_of
from weft.searches.arc.kernels.extract import compressed, extracted

Words = npt.NDArray[np.uint64]


@numba.njit  # type: ignore[untyped-decorator, unused-ignore]
def both(words: Words, masks: Words) -> Words:
    moves, results = moves_of(masks), np.empty((2, len(words)), np.uint64)
    for n in range(len(words)):
        results[0, n] = compressed(words[n], masks[n], moves, n)
        results[1, n] = extracted(words[n], masks[n], moves, n)
    return results


def plainly(word: int, mask: int) -> int:
    places = [place for place in range(64) if mask >> place & 1]
    return sum((word >> place & 1) << n for n, place in enumerate(places))


@pytest.mark.parametrize("seed", range(3))
def test_extracted_bits_equal_the_definition(seed: int) -> None:
    chance = np.random.default_rng(seed)
    words, masks = chance.integers(0, 2**64, (2, 300), np.uint64)
    masks[:4] = [0, 2**64 - 1, 1, 2**63]
    expected = [plainly(int(word), int(mask)) for word, mask in zip(words, masks, strict=True)]
    assert both(words, masks).tolist() == [expected, expected]
