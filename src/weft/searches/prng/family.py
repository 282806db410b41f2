"""The definition of a generator: its state, its seeding, one step, and the maps to draws.

A state is a list of words that `step` changes in place; `step` returns the raw output. The same
function is both the reference, called with Python integers, and the kernel: `compiled` translates
it to machine code in which every word is a uint64. Hence the rule for steps, output maps and
everything they call:

- every arithmetic constant is a module-level int in capitals (a uint64 in the compiled copy; a
  literal would be an int64, and int64 with uint64 is a float);
- every result that may exceed its width is masked, also to 64 bits;
- literals are allowed only as indices, shift counts and loop bounds;
- a modulus is a word, too, at most 2^32.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from weft.errors import UsageError
from weft.searches.prng.bit_forms import LinearForm, TwisterForm
from weft.searches.prng.forms import (
    LatticeForm,
    LcgForm,
    SeedForm,
    TwisterSeeding,
    WordReading,
)

State = list[int]
Step = Callable[[State], int]
Draw = Callable[[State, int], int]
"""Produce one draw below a modulus and advance the state, possibly by several steps."""
Seeding = Callable[[int], State]
Jump = Callable[[State, int], None]
"""Advance a state by a number of steps."""


_STRUCT_CODES: Mapping[int, str] = {32: "I", 64: "Q"}
"""Format codes of `struct` by word width in bits."""
TWISTER_WORDS = 624
EVERYDAY, USUAL, OCCASIONAL, SELDOM, EXOTIC = 1, 2, 8, 32, 256
RUNTIME = "runtime"
"""The test vectors of a call come from the actual runtime."""
REFERENCE = "reference"
"""The test vectors come from the generator's published source code."""


@dataclass(frozen=True, slots=True)
class Api:
    """A library call as a user writes it; `m` stands for the modulus.

    `rarity` is how many times rarer it is than an everyday call. `also` lists other calls with the
    same draws. `vectors` is the source of the test vectors: RUNTIME, REFERENCE or a citation.
    """

    call: str
    rarity: int
    also: tuple[str, ...] = ()
    vectors: str = RUNTIME


@dataclass(frozen=True, slots=True)
class RowForm:
    """How a generator of rows makes its calls: see `rowmaps`.

    `bits` is how a value below a bound is taken from a 32-bit word: its `low` or `high` bits,
    redrawn if too large, or the `remainder`; empty if calls work differently. `sample` is the
    method of the runtime's own sampling function.
    """

    below: Draw
    bits: str = ""
    sample: str = ""
    misplaced: bool = False
    """Whether the twist tests the low bit of the wrong word, as in PHP 5.2.1 to 7.0."""
    order: str = "backward"
    """The order in which a shuffle settles elements: see `rowmaps.SHUFFLES`."""
    calls: tuple[Family, str] | None = None
    """The generator and output map whose calls make up a shuffle, if they can be sieved."""


@dataclass(frozen=True, slots=True)
class Family:
    """One generator. `outputs` maps the names of output maps to their functions."""

    name: str
    title: str
    word_bits: int
    """Bits of a raw output."""
    state_words: int
    state_word_bits: int
    seed_bits: int
    seeding: Seeding
    step: Step
    outputs: Mapping[str, Draw] = field(default_factory=dict)
    jump: Jump | None = None
    aliases: tuple[str, ...] = ()
    """Alternative names."""
    lcg_forms: tuple[LcgForm, ...] = ()
    """One for each output map that is a remainder of an LCG modulo a power of two."""
    lattice_forms: tuple[LatticeForm, ...] = ()
    """One for each output map whose draws confine an LCG state to an interval or residue class."""
    twister: TwisterForm | None = None
    linear: LinearForm | None = None
    """Set if the step is linear over GF(2)."""
    seed_form: SeedForm | None = None
    """How a sieve expands seeds to words; without it brute force does not apply."""
    readings: Mapping[str, WordReading] = field(default_factory=dict)
    """How a sieve reads draws off words, by output map; a compiled seeding needs none."""
    common: bool = False
    """Whether many programs use it."""
    is_seeded: bool = True
    """Whether programs can seed it; if not, brute force over seeds is a last resort."""
    apis: Mapping[str, Api] = field(default_factory=dict)
    """The calls behind output maps, in addition to those of the module `apis`."""
    rows: RowForm | None = None
    """Set for a generator of rows; its output maps are then tried only on rows."""
    rank: int = 1000
    """Position in the order of families, lowest first: of two with equal draws the first wins."""

    @property
    def is_twister_seeded(self) -> bool:
        """Whether compiled code can seed it: a seed fills the words of MT19937 and an index."""
        return isinstance(self.seed_form, TwisterSeeding) and self.state_words == TWISTER_WORDS + 1

    @property
    def state_bits(self) -> int:
        """Bits of a recorded state, including the position in a block."""
        return self.state_words * self.state_word_bits

    def state_text(self, state: State) -> str:
        """Return the state in hexadecimal: its words, big-endian, in order."""
        if code := _STRUCT_CODES.get(self.state_word_bits):
            return struct.pack(f">{len(state)}{code}", *state).hex()
        return "".join(f"{word:0{self.state_word_bits // 4}x}" for word in state)

    def read_state(self, text: str) -> State:
        """Parse the output of `state_text`. Raises UsageError if the length is wrong."""
        size = self.state_word_bits // 4
        if len(text) != size * self.state_words:
            raise UsageError(
                f"a state of {self.name} has {size * self.state_words // 2} bytes,"
                f" not {len(text) // 2}"
            )
        if code := _STRUCT_CODES.get(self.state_word_bits):
            return list(struct.unpack(f">{self.state_words}{code}", bytes.fromhex(text)))
        return [int(text[at : at + size], 16) for at in range(0, len(text), size)]

    def reading(self, output: str, modulus: int) -> WordReading | None:
        """Return how a sieve reads an output map; None if a draw is not made from one word.

        Rejections (one call in millions) are ignored; matches are checked by the map itself.
        """
        reading = self.readings.get(output)
        if reading is not None and modulus & (modulus - 1) == 0:
            return reading.for_powers_of_two or reading
        return reading

    def steps_per_call(self, output: str) -> int | None:
        """Return how many steps every call of a linear output map takes; None if not declared."""
        reading = self.linear.outputs.get(output) if self.linear is not None else None
        return None if reading is None else reading.steps

    def advance(self, state: State, steps: int) -> None:
        """Advance the state by `steps` raw steps, using the jump if there is one."""
        if self.jump is not None:
            self.jump(state, steps)
            return
        for _ in range(steps):
            self.step(state)
