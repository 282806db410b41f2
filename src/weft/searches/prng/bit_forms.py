"""What a draw tells for certain about the bits of an output word, and families linear over bits.

A remainder by m = 2^t·q fixes t low bits. A draw that scales the word to 0..m-1 confines it to
an interval, and fixes the bits in which both ends of the interval agree, from the top down.
`TwisterForm` and `LinearForm` are what a family declares: its recurrence is linear over bits,
and these output maps show bits of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

End = Literal["low", "high"]


@dataclass(frozen=True, slots=True)
class KnownBits:
    """Bits that are certain: `mask` says which, `value` what they are."""

    mask: int
    value: int


@dataclass(frozen=True, slots=True)
class BitReading:
    """How draws come from words of `width` bits: the low end without `dropped` bits, or the top.

    `linear_bits` is how many bits, counted from that end, are linear in the state. A call takes
    `steps` words and shows the first of them.
    """

    kind: End
    width: int
    dropped: int = 0
    linear_bits: int = 64
    steps: int = 1

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
        return _bits_per_draw(self, modulus)


@lru_cache(maxsize=256)
def _bits_per_draw(reading: BitReading, modulus: int) -> int:
    """Average over draws; of a power of two every draw tells as much as any other."""
    if reading.kind == "low" or modulus & (modulus - 1) == 0:
        return 1000 * reading.known(0, modulus).mask.bit_count()
    step = max(1, modulus // 4096)  # enough of a large range for an average
    sample = range(0, modulus, step)
    return sum(1000 * reading.known(d, modulus).mask.bit_count() for d in sample) // len(sample)


@dataclass(frozen=True, slots=True)
class TwisterForm:
    """A Mersenne Twister of 624 words and an index; `misplaced`: it tests the wrong low bit.

    `outputs` are the maps that show bits of every word; `rejecting` those that take as many bits
    as the bound has from one end of a word, and draw again what is too great. Of several
    families that declare the same reading one is attacked, and stands for all.
    """

    misplaced: bool = False
    outputs: Mapping[str, BitReading] = field(default_factory=dict)
    rejecting: Mapping[str, End] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LinearForm:
    """The first `words` words of the state go through a step that is linear over bits.

    `begins` is the number of places in a block at which draws may begin. `not_linear` names maps
    whose outputs are mixed in another way: they are reported as not covered.
    """

    words: int
    outputs: Mapping[str, BitReading] = field(default_factory=dict)
    begins: int = 1
    block_start: Callable[[list[int]], None] | None = None
    """Turns a state within a block, the numbers left in the word after the linear ones, into the
    one before the block; given where there are several places."""
    not_linear: tuple[str, ...] = ()
