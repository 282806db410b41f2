"""The bits of an output word that a draw determines, and families that are linear over GF(2).

A remainder modulo m = 2^t·q determines t low bits. A draw that scales the word to 0..m-1 confines
it to an interval and determines the leading bits on which both ends of the interval agree. A
family declares a `TwisterForm` or a `LinearForm` if its recurrence is linear over GF(2) and some
of its output maps reveal bits of the state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

End = Literal["low", "high"]


@dataclass(frozen=True, slots=True)
class KnownBits:
    """Known bits of a word: their positions in `mask`, their values in `value`."""

    mask: int
    value: int


@dataclass(frozen=True, slots=True)
class BitReading:
    """How draws are made from words of `width` bits: from the low bits above `dropped`, or the top.

    `linear_bits` counts the bits from that end that are linear in the state. A call consumes
    `steps` words and reveals the first of them.
    """

    kind: End
    width: int
    dropped: int = 0
    linear_bits: int = 64
    steps: int = 1

    def known(self, draw: int, modulus: int) -> KnownBits:
        """Return the bits that one draw below `modulus` determines."""
        if self.kind == "low":
            return self._low(draw, modulus)
        low = (draw << self.width) // modulus
        high = -(-((draw + 1) << self.width) // modulus) - 1
        unsure = max((low ^ high).bit_length(), self.width - self.linear_bits)
        mask = ((1 << self.width) - 1) >> unsure << unsure
        return KnownBits(mask, low & mask)

    def _low(self, draw: int, modulus: int) -> KnownBits:
        ones = (modulus & -modulus) - 1
        ones &= (1 << min(self.width - self.dropped, self.linear_bits - self.dropped)) - 1
        return KnownBits(ones << self.dropped, (draw & ones) << self.dropped)

    def bits_per_draw(self, modulus: int) -> int:
        """Return the average number of bits that a draw determines, in thousandths."""
        return _bits_per_draw(self, modulus)


@lru_cache(maxsize=256)
def _bits_per_draw(reading: BitReading, modulus: int) -> int:
    """Average over draws; for a power of two every draw determines equally many bits."""
    if reading.kind == "low" or modulus & (modulus - 1) == 0:
        return 1000 * reading.known(0, modulus).mask.bit_count()
    step = max(1, modulus // 4096)  # enough of a large range for an average
    sample = range(0, modulus, step)
    return sum(1000 * reading.known(d, modulus).mask.bit_count() for d in sample) // len(sample)


@dataclass(frozen=True, slots=True)
class TwisterForm:
    """A Mersenne Twister of 624 words and an index; `misplaced`: it tests the wrong low bit.

    `outputs` are the maps that reveal bits of every word; `rejecting` those that take as many bits
    as the bound has from one end of a word and redraw values that are too large. If several
    families declare the same reading, the attack on one of them covers all.
    """

    misplaced: bool = False
    outputs: Mapping[str, BitReading] = field(default_factory=dict)
    rejecting: Mapping[str, End] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LinearForm:
    """A generator whose step is linear over GF(2) on the first `words` words of its state.

    `begins` is the number of positions in a block at which draws may begin. `not_linear` names
    output maps with a nonlinear output function, which are reported as not covered.
    """

    words: int
    outputs: Mapping[str, BitReading] = field(default_factory=dict)
    begins: int = 1
    block_start: Callable[[list[int]], None] | None = None
    """Rewinds a state within a block to the one before the block; the word after the linear ones
    counts the numbers left. Given if there are several positions."""
    not_linear: tuple[str, ...] = ()
