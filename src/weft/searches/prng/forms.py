"""Forms that families declare; attacks select families by form, never by name.

`LcgForm`: a linear congruential generator modulo a power of two, and how draws are made from its
state. `LatticeForm`: one with any modulus whose draws confine the state. The `…Seeding` forms
define how a seed is expanded to words, and so which compiled sieve tries all seeds. `WordReading`:
how a draw is read off one 32-bit word, as a test for a sieve. If a call takes two words, the first
decides except for its last bit, and the test passes either value of that bit: sieves may have
false positives, but no false negatives. GF(2)-linear forms are in `bit_forms`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weft.searches.prng.linear import affine_power

Test = tuple[int, int, int, int, int]
"""Shift, least value, inverse, rotation and limit: see `kernels.hits`."""


@dataclass(frozen=True, slots=True)
class WordReading:
    """A draw is made from `word >> dropped`, a value of `bits` bits, of every `steps`-th word.

    Of words wider than 32 bits, the highest 32 are used after a left shift by `moved` bits.

    `mod` takes the remainder, `span` the high part of value · modulus, `raw` the value itself.
    With `signed`, a word with its top bit set is negative. `sharp` is False if bits that the test
    ignores may decide at the edges of a span.
    """

    kind: str
    dropped: int = 0
    bits: int = 32
    steps: int = 1
    signed: bool = False
    sharp: bool = True
    moved: int = 0
    values: int | None = None
    """Number of values that a `span` divides; 2^bits by default."""
    for_powers_of_two: WordReading | None = None
    """The reading for a modulus that is a power of two, if it differs."""

    def test(self, draw: int, modulus: int) -> Test:
        """Return the test for a draw."""
        if self.kind == "raw":
            return self.dropped, draw, 1, 0, 0
        if self.kind == "span":
            return self._span(draw, modulus)
        if self.signed:  # the sieve flips the top bit, which adds 2^31 to the signed value
            draw = (draw + (1 << 31)) % modulus
        turn = (modulus & -modulus).bit_length() - 1
        inverse = pow(modulus >> turn, -1, 1 << 32)
        return self.dropped, draw, inverse, turn, ((1 << 32) - 1) // modulus

    def _span(self, draw: int, modulus: int) -> Test:
        values = self.values or 1 << self.bits
        least = -(-draw * values // modulus)
        last = -(-(draw + 1) * values // modulus) - 1
        if not self.sharp:
            least, last = max(0, least - 1), min((1 << self.bits) - 1, last + 1)
        if last < least:  # no value gives this draw
            return self.dropped, (1 << 32) - 1, 1, 0, 0
        return self.dropped, least, 1, 0, last - least


@dataclass(frozen=True, slots=True)
class LcgForm:
    """state → multiplier·state + increment; a draw is (state >> dropped) mod 2^width mod m.

    `signed` outputs start at -2^(width-1). With `rejects`, values that would bias the draws are
    redrawn, and power-of-two bounds take high bits, which this form does not describe.
    """

    family: str
    output: str
    multiplier: int
    increment: int
    dropped: int
    width: int
    signed: bool = False
    rejects: bool = False
    absolute: bool = False
    """Whether the absolute value of a signed output is taken before the remainder."""
    high_word: tuple[int, int] | None = None
    """If a call joins two 32-bit outputs into a 64-bit one: the affine map from the state of the
    low word back to that of the high word. A step is then a whole call."""

    def jumped(self, steps: int, bits: int) -> tuple[int, int]:
        """Return the affine map of `steps` steps modulo 2^bits; negative steps go backwards."""
        modulus = 1 << bits
        if steps >= 0:
            return affine_power(self.multiplier, self.increment, steps, modulus)
        inverse = pow(self.multiplier, -1, modulus)
        return affine_power(inverse, -self.increment * inverse % modulus, -steps, modulus)

    def value(self, state: int) -> int:
        """Return the output for a state after a step."""
        value = (state >> self.dropped) % (1 << self.width)
        if self.signed and value >> (self.width - 1):
            value -= 1 << self.width
        if self.high_word is not None:
            value = self._joined(state, value)
        return abs(value) if self.absolute else value

    def _joined(self, state: int, low: int) -> int:
        """Join the high word and a low one, which may be negative; the sum wraps around."""
        assert self.high_word is not None
        multiplier, increment = self.high_word
        high = (state * multiplier + increment) >> self.dropped
        joined = ((high << self.width) + low) % (1 << 2 * self.width)
        return joined - (1 << 2 * self.width) if joined >> (2 * self.width - 1) else joined

    def accepts(self, value: int, modulus: int) -> bool:
        """Whether a value gives a draw instead of being rejected."""
        return not self.rejects or value - value % modulus + modulus <= 1 << self.width


@dataclass(frozen=True, slots=True)
class LatticeForm:
    """state → multiplier·state + increment (mod `modulus`); a draw confines the state.

    `span`: the draw is floor(state · m / modulus), except for `edge` states at each end.
    `remainder`: it is state mod m. A call takes `steps` steps and reveals the first of them.
    """

    output: str
    kind: Literal["span", "remainder"]
    multiplier: int
    increment: int
    modulus: int
    steps: int = 1
    edge: int = 0
    powers_of_two_only: bool = False
    """Whether the output map has this form only for bounds that are powers of two."""


@dataclass(frozen=True, slots=True)
class CompiledSeeding:
    """A seeding that follows the rule for steps, so that it is compiled and run for every seed.

    If the family's seeding does not follow the rule, `fill` replaces it and writes the state.
    `seeds_per_ms` is the rate of one core. The first `alike` draws are nearly the same for many
    seeds, so sieves compare later ones.
    """

    fill: Callable[[int, list[int]], None] | None = None
    seeds_per_ms: int = 12_000
    alike: int = 0


@dataclass(frozen=True, slots=True)
class LcgSeeding:
    """The first state of an LCG modulo 2^bits is (seed ^ scramble) << place | below.

    A word is the highest 32 bits of the state.
    """

    multiplier: int
    increment: int
    bits: int
    scramble: int = 0
    place: int = 0
    below: int = 0


@dataclass(frozen=True, slots=True)
class TwisterSeeding:
    """The words of a Mersenne Twister, each derived from its predecessor by init_genrand (2002).

    With `product`, each word is its predecessor times 69069, from an odd seed. With `by_array`,
    the words are mixed with the seed as the only key (init_by_array).
    """

    product: bool = False
    by_array: bool = False


@dataclass(frozen=True, slots=True)
class AdditiveSeeding:
    """31 words of minstd (multiplier 16807, signed seeds); further words are x[n-31] + x[n-lag].

    The sums are modulo 2^32, and the first `discarded` of them are dropped.
    """

    lag: int
    discarded: int


@dataclass(frozen=True, slots=True)
class SaltedSeeding:
    """64-bit words, each combined from three minstd outputs and XORed with a table of salts.

    Minstd uses its own multiplier and drops `discarded` outputs before the first word. An output
    is the sum of two words `tap` apart, from the last word down, so each of the first `tap`
    outputs depends on two words only.
    """

    multiplier: int
    discarded: int
    length: int
    tap: int
    salts: Callable[[], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class SubtractiveSeeding:
    """Knuth's subtractive table of 55 words as .NET fills it, from seeds below 2^31."""


@dataclass(frozen=True, slots=True)
class WideTwisterSeeding:
    """The 312 words of MT19937-64; `values` is, by output map, how a draw is made from a word.

    `low` takes as many low bits as the modulus has and redraws values that are too large; `high`
    takes the high part of word · modulus; `remainder` takes the remainder.
    """

    values: Mapping[str, str]


SeedForm: TypeAlias = (
    CompiledSeeding
    | WideTwisterSeeding
    | LcgSeeding
    | TwisterSeeding
    | AdditiveSeeding
    | SaltedSeeding
    | SubtractiveSeeding
)
