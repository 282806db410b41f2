"""The Mersenne Twister as polynomials: every output bit is a linear form in the state's bits.

The unknowns are the top bits h(0), h(1), … of successive state words. Multiplying a form by z
advances it by one word, so a form is a polynomial modulo the characteristic polynomial. Let
T = z^623 + z^396. The recurrence (Matsumoto and Nishimura 1998) makes bit 0 of a word T·h, and bit
j+1 equal to T·(bit j) plus, where the twist has a one, bit 0: all other bits follow. This module
knows the recurrence and the tempering, but not where the draws are or what they show.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from weft.lazy_imports import lazy_imports, lazy_module
from weft.searches.prng import gf2
from weft.searches.prng.arrays import Ints, ShortWords, Words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = lazy_module("numpy")

with lazy_imports():
    from weft.searches.prng.kernels import mersenne

WORDS = 624
TWIST = 0x9908B0DF
LAGS = (623, 396)


@dataclass(frozen=True, slots=True)
class Twister:
    """The forms of a state word's 32 bits under one recurrence, and its polynomial.

    `misplaced`: PHP before 7.1 tested the low bit of the wrong word. There are 19,937 unknowns, or
    19,938 with the misplaced bit.
    """

    misplaced: bool
    state_bits: tuple[int, ...]
    polynomial: int

    @property
    def unknowns(self) -> int:
        """The degree of the polynomial."""
        return self.polynomial.bit_length() - 1

    def output_bits(self) -> list[int]:
        """Return the forms of the 32 tempered bits."""
        forms = [0] * 32
        for source in range(32):
            tempered = temper(1 << source)
            for bit in range(32):
                if tempered >> bit & 1:
                    forms[bit] ^= self.state_bits[source]
        return forms

    def advanced(self, form: int, steps: int) -> int:
        """Return a form advanced by `steps` words: the reference for `equations`."""
        for _ in range(steps):
            form <<= 1
            form ^= self.polynomial if form >> self.unknowns & 1 else 0
        return form

    def retreated(self, solution: int, steps: int) -> int:
        """Return the unknowns `steps` words earlier, by the recurrence in reverse."""
        mask = (1 << self.unknowns) - 1
        for _ in range(steps):
            before = (solution & self.polynomial >> 1).bit_count() & 1
            solution = (solution << 1 | before) & mask
        return solution


def temper(word: int) -> int:
    """Return the output that a state word gives."""
    word ^= word >> 11
    word ^= (word << 7) & 0x9D2C5680
    word ^= (word << 15) & 0xEFC60000
    return word ^ (word >> 18)


def untemper(output: int) -> int:
    """Return the state word that gives an output, undoing the steps of `temper` in reverse."""
    word = output ^ (output >> 18)
    word ^= (word << 15) & 0xEFC60000
    for times in (1, 2, 4):  # (1 + s)^-1 = (1 + s)(1 + s^2)(1 + s^4) for a masked shift s
        word ^= _masked_shift(word, times)
    return word ^ (word >> 11) ^ (word >> 22)


def _masked_shift(word: int, times: int) -> int:
    """Apply the masked shift by seven, `times` times."""
    for _ in range(times):
        word = (word << 7) & 0x9D2C5680
    return word


def _times_lags(form: int) -> int:
    return (form << LAGS[0]) ^ (form << LAGS[1])


@lru_cache(maxsize=2)
def twister(misplaced: bool) -> Twister:
    """Derive the forms from the recurrence of each bit."""
    low = _times_lags(1)  # what a twist adds: the low bit tested, one word back
    bits = [low << 1 if misplaced else low]
    for source in range(30):
        bits.append(_times_lags(bits[-1]) ^ (low if TWIST >> source & 1 else 0))
    polynomial = (_times_lags(bits[-1]) << 1) ^ 1 ^ (low << 1 if TWIST >> 30 & 1 else 0)
    return Twister(misplaced, (*bits, 1), polynomial)


def equations(forms: Twister, positions: Ints, masks: ShortWords, values: ShortWords) -> Words:
    """Return one row for each known bit (`masks`) of the outputs at rising `positions`."""
    unknowns = forms.unknowns
    used = [bit for bit in range(32) if int(np.bitwise_or.reduce(masks)) >> bit & 1]
    outputs = forms.output_bits()
    live = gf2.packed([outputs[bit] for bit in used], unknowns + 63 + mersenne.CHUNK)
    terms = [at for at in range(unknowns) if forms.polynomial >> at & 1]
    rows = int(sum(int(mask).bit_count() for mask in masks))
    matrix = np.zeros((rows, gf2.row_words(unknowns)), np.uint64)
    mersenne.unroll(
        live, unknowns, np.array(used), np.array(terms), positions, masks, values, matrix
    )
    return matrix


def state_words(forms: Twister, solution: int) -> list[int]:
    """Return the 624 words from position 0 on that the unknowns represent."""
    top = _sequence(forms, solution)
    low = _apply_lags(top)
    lanes = [low[1:] if forms.misplaced else low]
    for source in range(30):
        following = _apply_lags(lanes[-1])
        lanes.append(following ^ low[: len(following)] if TWIST >> source & 1 else following)
    lanes.append(top)
    words = np.zeros(WORDS, np.uint64)
    for bit, lane in enumerate(lanes):
        words |= lane[:WORDS].astype(np.uint64) << np.uint64(bit)
    return [int(word) for word in words]


def _sequence(forms: Twister, solution: int) -> NDArray[np.uint8]:
    """Return h(0), h(1), … as far as they are unknowns."""
    raw = np.frombuffer(solution.to_bytes(forms.unknowns // 8 + 1, "little"), np.uint8)
    return np.unpackbits(raw, bitorder="little")[: forms.unknowns]


def _apply_lags(lane: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return lane[LAGS[0] :] ^ lane[LAGS[1] : len(lane) - LAGS[0] + LAGS[1]]
