"""Forms that a family declares of itself; attacks find families by them, never by name.

`LcgForm`: a linear congruential generator modulo a power of two, and how draws are made of its
state. `WordReading`: how a draw is read off one 32-bit word of a call, as the test that a sieve
can make. Where a call takes two words, the first decides but for its last bit, and the test lets
both sides of that bit pass: sieves may let too much pass, never too little.
"""

from __future__ import annotations

from dataclasses import dataclass

from weft.searches.prng.linear import affine_power

Test = tuple[int, int, int, int, int]
"""Shift, least value, inverse, turn and limit: see `kernels.hits`."""


@dataclass(frozen=True, slots=True)
class WordReading:
    """The draw is made of `word >> dropped`, a value of `bits` bits, of every `steps`-th word.

    `mod` takes the remainder, `span` the high part of value · modulus. With `signed` the word
    counts as negative when its top bit is set. `sharp` is False where the bits that are not
    looked at may decide at the edges of a span.
    """

    kind: str
    dropped: int = 0
    bits: int = 32
    steps: int = 1
    signed: bool = False
    sharp: bool = True
    for_powers_of_two: WordReading | None = None
    """The reading where the modulus is a power of two, if it is another."""

    def test(self, draw: int, modulus: int) -> Test:
        """Return the test for a draw."""
        if self.kind == "span":
            return self._span(draw, modulus)
        if self.signed:  # the sieve turns the top bit, which adds 2^31 to the signed value
            draw = (draw + (1 << 31)) % modulus
        turn = (modulus & -modulus).bit_length() - 1
        inverse = pow(modulus >> turn, -1, 1 << 32)
        return self.dropped, draw, inverse, turn, ((1 << 32) - 1) // modulus

    def _span(self, draw: int, modulus: int) -> Test:
        least = -(-(draw << self.bits) // modulus)
        last = -(-((draw + 1) << self.bits) // modulus) - 1
        if not self.sharp:
            least, last = max(0, least - 1), min((1 << self.bits) - 1, last + 1)
        if last < least:  # no value makes this draw
            return self.dropped, (1 << 32) - 1, 1, 0, 0
        return self.dropped, least, 1, 0, last - least


@dataclass(frozen=True, slots=True)
class LcgForm:
    """state → multiplier·state + increment; a draw is (state >> dropped) mod 2^width mod m.

    `signed` outputs run from -2^(width-1). With `rejects` a value that would favour small
    draws is drawn again, and a power-of-two bound takes high bits: that is not this attack's.
    """

    family: str
    output: str
    multiplier: int
    increment: int
    dropped: int
    width: int
    signed: bool = False
    rejects: bool = False

    def jumped(self, steps: int, bits: int) -> tuple[int, int]:
        """Return the affine map of `steps` steps modulo 2^bits; negative steps lead back."""
        modulus = 1 << bits
        if steps >= 0:
            return affine_power(self.multiplier, self.increment, steps, modulus)
        inverse = pow(self.multiplier, -1, modulus)
        return affine_power(inverse, -self.increment * inverse % modulus, -steps, modulus)

    def value(self, state: int) -> int:
        """Return the output of a state that a step has just made."""
        value = (state >> self.dropped) % (1 << self.width)
        return value - (1 << self.width) if self.signed and value >> (self.width - 1) else value

    def accepts(self, value: int, modulus: int) -> bool:
        """Whether a value makes a draw and is not drawn again."""
        return not self.rejects or value - value % modulus + modulus <= 1 << self.width
