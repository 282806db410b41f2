"""What a draw tells for certain about the bits of an output word.

A remainder by m = 2^t·q fixes t low bits. A draw that scales the word to 0..m-1 confines it to
an interval, and fixes the bits in which both ends of the interval agree, from the top down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["low", "high"]


@dataclass(frozen=True, slots=True)
class KnownBits:
    """Bits that are certain: `mask` says which, `value` what they are."""

    mask: int
    value: int


@dataclass(frozen=True, slots=True)
class BitReading:
    """How draws come from words of `width` bits: the low end without `dropped` bits, or the top.

    `linear_bits` is how many bits, counted from that end, are linear in the state.
    """

    kind: Kind
    width: int
    dropped: int = 0
    linear_bits: int = 64

    def known(self, draw: int, modulus: int) -> KnownBits:
        """Return what one draw below `modulus` tells."""
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
        """Return a thousand times the bits that a draw tells on average."""
        if self.kind == "low":
            return 1000 * self.known(0, modulus).mask.bit_count()
        step = max(1, modulus // 4096)  # enough of a large range for an average
        sample = range(0, modulus, step)
        return sum(1000 * self.known(d, modulus).mask.bit_count() for d in sample) // len(sample)
