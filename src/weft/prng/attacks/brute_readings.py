"""How a draw is read off the words of a generator, as the test that a sieve can make.

A reading looks at one 32-bit word per call. Where a call takes two words, the first decides but
for its last bit, and the test lets both sides of that bit pass: sieves may let too much pass,
never too little. Rejections (one call in millions) are ignored here; what passes is checked by
the family's own output map.
"""

from __future__ import annotations

from dataclasses import dataclass

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


_WORD = {"mod": WordReading("mod"), "high": WordReading("span")}
_SHORT = WordReading("span", dropped=1, bits=31)
_PHP = {**_WORD, "mod": WordReading("mod", dropped=1, bits=31)}
_JAVA = {
    **_WORD,
    "mod": WordReading("mod", signed=True),
    "bounded": WordReading("mod", dropped=1, bits=31),
    "scaled": WordReading("span", dropped=6, bits=26, steps=2, sharp=False),
}
READINGS = {
    "mt19937": {
        **_WORD,
        "bounded": WordReading("span"),
        "scaled": WordReading("span", dropped=5, bits=27, steps=2, sharp=False),
    },
    "php_mt": {**_PHP, "bounded": WordReading("mod"), "scaled": _SHORT},
    "php_mt_legacy": {**_PHP, "bounded": _SHORT},
    "php_mt_52": {**_PHP, "bounded": _SHORT},
    "glibc": {
        "mod": WordReading("mod", dropped=1, bits=31),
        "high": _SHORT,
        "scaled": _SHORT,
    },
    "java": _JAVA,
    "go": {
        "bounded": WordReading("mod", dropped=1, bits=31),
        "scaled": WordReading("span", sharp=False),
        "high": WordReading("span", sharp=False),
    },
    "drand48": {
        **_WORD,
        "mod": WordReading("mod", dropped=1, bits=31),
        "scaled": WordReading("span", sharp=False),
    },
}


def reading_of(family: str, output: str, modulus: int) -> WordReading | None:
    """Return the reading of an output map; None if a draw is not made of one word."""
    reading = READINGS.get(family, {}).get(output)
    if (family, output) == ("java", "bounded") and modulus & (modulus - 1) == 0:
        return _SHORT
    return reading
