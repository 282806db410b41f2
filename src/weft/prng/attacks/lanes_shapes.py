"""Linear congruential generators modulo a power of two, and how their draws are made of a state.

The numbers stand beside the families' own step functions; a test compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass

from weft.prng.families import ALL as FAMILIES
from weft.prng.families.lcgs import LCGS
from weft.prng.family import Family
from weft.prng.linear import affine_power


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


_JAVA = (0x5DEECE66D, 0xB)
_ALL = (
    LcgForm("java", "bounded", *_JAVA, dropped=17, width=31, rejects=True),
    LcgForm("java", "mod", *_JAVA, dropped=16, width=32, signed=True),
    LcgForm("drand48", "mod", *_JAVA, dropped=17, width=31),
    *(
        LcgForm(name, "mod", lcg.multiplier, lcg.increment, lcg.low, lcg.width)
        for name, lcg in LCGS.items()
        if lcg.modulus & (lcg.modulus - 1) == 0
    ),
)


def known_shapes() -> list[tuple[Family, LcgForm]]:
    """Return the shapes of the families there are, in the families' order."""
    return [
        (family, shape)
        for family in FAMILIES
        for shape in _ALL
        if shape.family == family.name and shape.output in family.outputs
    ]


def shape_of(family: str, output: str) -> LcgForm:
    """Return the shape of a plan; a wrong name is our mistake."""
    return {(shape.family, shape.output): shape for shape in _ALL}[family, output]
