"""Forms that a family declares of itself; attacks find families by them, never by name.

`LcgForm`: a linear congruential generator modulo a power of two, and how draws are made of its
state; `LatticeForm`: one modulo any number whose state a draw confines. The `…Seeding` forms say
how a seed becomes words, and so which compiled sieve tries all seeds. `WordReading`: how a draw
is read off one 32-bit word of a call, as the test that a sieve can make. Where a call takes two
words, the first decides but for its last bit, and the test lets both sides of that bit pass:
sieves may let too much pass, never too little. Forms over bits are in `bit_forms`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weft.searches.prng.linear import affine_power

Test = tuple[int, int, int, int, int]
"""Shift, least value, inverse, turn and limit: see `kernels.hits`."""


@dataclass(frozen=True, slots=True)
class WordReading:
    """The draw is made of `word >> dropped`, a value of `bits` bits, of every `steps`-th word.

    Of words with more than 32 bits the highest 32 count, after a move up by `moved` bits.

    `mod` takes the remainder, `span` the high part of value · modulus, `raw` the value itself.
    With `signed` the word counts as negative when its top bit is set. `sharp` is False where the
    bits that are not looked at may decide at the edges of a span.
    """

    kind: str
    dropped: int = 0
    bits: int = 32
    steps: int = 1
    signed: bool = False
    sharp: bool = True
    moved: int = 0
    values: int | None = None
    """How many values a `span` divides; 2^bits where it is not said."""
    for_powers_of_two: WordReading | None = None
    """The reading where the modulus is a power of two, if it is another."""

    def test(self, draw: int, modulus: int) -> Test:
        """Return the test for a draw."""
        if self.kind == "raw":
            return self.dropped, draw, 1, 0, 0
        if self.kind == "span":
            return self._span(draw, modulus)
        if self.signed:  # the sieve turns the top bit, which adds 2^31 to the signed value
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
    absolute: bool = False
    """Whether outputs, which are signed, are made positive before the remainder is taken."""
    high_word: tuple[int, int] | None = None
    """Where a call joins two outputs of 32 bits to one of 64: the affine map that leads from the
    state of the low word back to that of the high word. A step is then a whole call."""

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
        if self.signed and value >> (self.width - 1):
            value -= 1 << self.width
        if self.high_word is not None:
            value = self._joined(state, value)
        return abs(value) if self.absolute else value

    def _joined(self, state: int, low: int) -> int:
        """Put the high word on top of a low one, which may be negative; the sum wraps around."""
        assert self.high_word is not None
        multiplier, increment = self.high_word
        high = (state * multiplier + increment) >> self.dropped
        joined = ((high << self.width) + low) % (1 << 2 * self.width)
        return joined - (1 << 2 * self.width) if joined >> (2 * self.width - 1) else joined

    def accepts(self, value: int, modulus: int) -> bool:
        """Whether a value makes a draw and is not drawn again."""
        return not self.rejects or value - value % modulus + modulus <= 1 << self.width


@dataclass(frozen=True, slots=True)
class LatticeForm:
    """state → multiplier·state + increment (mod `modulus`); a draw confines the state.

    `span`: the draw is floor(state · m / modulus), but for `edge` states at each end.
    `remainder`: it is state mod m. A call takes `steps` steps and shows the first of them.
    """

    output: str
    kind: Literal["span", "remainder"]
    multiplier: int
    increment: int
    modulus: int
    steps: int = 1
    edge: int = 0
    powers_of_two_only: bool = False
    """Whether the map is this one for bounds that are powers of two alone."""


@dataclass(frozen=True, slots=True)
class CompiledSeeding:
    """The seeding keeps to the rule for steps, so it is compiled and run for every seed.

    `fill` does what the seeding does where that does not keep to the rule: it writes the state.
    `seeds_per_ms` is what one core tries. The first `alike` draws are nearly the same for many
    seeds, so sieves look at those after them.
    """

    fill: Callable[[int, list[int]], None] | None = None
    seeds_per_ms: int = 12_000
    alike: int = 0


@dataclass(frozen=True, slots=True)
class LcgSeeding:
    """The first state of an LCG modulo 2^bits is (seed ^ scramble) << place | below.

    A word is the highest 32 of the bits.
    """

    multiplier: int
    increment: int
    bits: int
    scramble: int = 0
    place: int = 0
    below: int = 0


@dataclass(frozen=True, slots=True)
class TwisterSeeding:
    """The words of a Mersenne Twister, each made of the one before by init_genrand of 2002.

    With `product` by a product with 69069 alone, from an odd seed. With `by_array` they are
    mixed with the seed as the only key.
    """

    product: bool = False
    by_array: bool = False


@dataclass(frozen=True, slots=True)
class AdditiveSeeding:
    """31 words of minstd (multiplier 16807, signed seeds); each further is x[n-31] + x[n-lag].

    The sums are modulo 2^32, and the first `discarded` of them are thrown away.
    """

    lag: int
    discarded: int


@dataclass(frozen=True, slots=True)
class SaltedSeeding:
    """Words of 64 bits, each of three outputs of minstd; a table of salts is added bit by bit.

    Minstd has a multiplier of its own and `discarded` outputs before the first word. An output is
    the sum of the words `tap` apart from the last on, so the first `tap` depend on two words.
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
    """The 312 words of MT19937-64; by output map, how a draw is made of a word.

    `low` takes as many low bits as the modulus has, and again if they are too great; `high` the
    high part of word · modulus; `remainder` the remainder.
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
