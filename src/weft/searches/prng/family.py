"""What a generator is: its state, how a seed makes one, one step, and the maps to draws.

A state is a list of words that `step` changes in place; `step` returns the raw output. The same
function is the reference, called with Python integers, and the kernel: `compiled` makes machine
code of it, where every word is a uint64. Hence the rule for steps, output maps and all they call:

- every constant of the arithmetic is a module-level int in capitals (in the compiled copy a
  uint64; a literal would be an int64, and int64 with uint64 is a float);
- every result that may exceed its width is masked, also to 64 bits;
- literals are fine as indices, shift counts and loop bounds, and nowhere else;
- a modulus is a word as well, at most 2^32.
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
"""Make one draw below a modulus, changing the state; it may take several steps."""
Seeding = Callable[[int], State]
Jump = Callable[[State, int], None]
"""Change a state as so many steps would."""


_STRUCT_CODES: Mapping[int, str] = {32: "I", 64: "Q"}
"""How `struct` writes words of so many bits."""
TWISTER_WORDS = 624
EVERYDAY, USUAL, OCCASIONAL, SELDOM, EXOTIC = 1, 2, 8, 32, 256
RUNTIME = "runtime"
"""The vectors of a call were made by the real runtime."""
REFERENCE = "reference"
"""They were made by the published source of the generator."""


@dataclass(frozen=True, slots=True)
class Api:
    """A call as a user writes it, `m` standing for the modulus; what it is and how we know it.

    `rarity` is how many times rarer it is than the usual ones. `also` are other calls with the
    same draws. `vectors` is where known outputs come from: RUNTIME, REFERENCE or a citation.
    """

    call: str
    rarity: int
    also: tuple[str, ...] = ()
    vectors: str = RUNTIME


@dataclass(frozen=True, slots=True)
class RowForm:
    """How a generator of rows makes its calls: see `rowmaps`.

    `bits` is how a bound takes its value of a word of 32 bits: the `low` or `high` ones, drawn
    again if too great, or the `remainder`; empty where calls are not of that kind. `sample` is the
    method of the runtime's own sample.
    """

    below: Draw
    bits: str = ""
    sample: str = ""
    misplaced: bool = False
    """Whether the twist takes the wrong neighbour's low bit, as PHP's of 5.2.1 to 7.0 does."""
    order: str = "backward"
    """In which order a shuffle settles elements: see `rowmaps.SHUFFLES`."""
    calls: tuple[Family, str] | None = None
    """The generator and the output map whose calls make a shuffle, where those can be sieved."""


@dataclass(frozen=True, slots=True)
class Family:
    """One generator. `outputs` maps names of output maps to how a draw is made."""

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
    """Other names it is known by."""
    lcg_forms: tuple[LcgForm, ...] = ()
    """One for each output map that is a remainder of an LCG modulo a power of two."""
    lattice_forms: tuple[LatticeForm, ...] = ()
    """One for each output map whose draws confine the state of an LCG to a span or a class."""
    twister: TwisterForm | None = None
    linear: LinearForm | None = None
    """Where the step is linear over bits."""
    seed_form: SeedForm | None = None
    """How a sieve makes words of seeds; without it brute force does not apply."""
    readings: Mapping[str, WordReading] = field(default_factory=dict)
    """How a sieve reads draws off words, by output map; a compiled seeding needs none."""
    common: bool = False
    """Whether many programs use it: it is tried before others."""
    is_seeded: bool = True
    """Whether programs can seed it: if not, brute force over seeds is a last resort."""
    apis: Mapping[str, Api] = field(default_factory=dict)
    """The calls behind output maps; a map that no library offers has none and is exotic."""
    rows: RowForm | None = None
    """Where draws come in rows; its maps are then tried for rows only."""
    rank: int = 1000
    """Its place among all, lowest first: of two that make the same draws the first is named."""

    @property
    def is_twister_seeded(self) -> bool:
        """Whether a seed fills the words of MT19937 and a place, which compiled code does."""
        return isinstance(self.seed_form, TwisterSeeding) and self.state_words == TWISTER_WORDS + 1

    @property
    def state_bits(self) -> int:
        """Bits of a recorded state, the place in a block included."""
        return self.state_words * self.state_word_bits

    def state_text(self, state: State) -> str:
        """Return the state in hexadecimal: its words, big-endian, in order."""
        if code := _STRUCT_CODES.get(self.state_word_bits):
            return struct.pack(f">{len(state)}{code}", *state).hex()
        return "".join(f"{word:0{self.state_word_bits // 4}x}" for word in state)

    def read_state(self, text: str) -> State:
        """Read what `state_text` wrote."""
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
        """Return how a sieve reads an output map; None if a draw is not made of one word.

        Rejections (one call in millions) are ignored; what passes is checked by the map itself.
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
        """Change the state as `steps` raw steps do, by the jump where there is one."""
        if self.jump is not None:
            self.jump(state, steps)
            return
        for _ in range(steps):
            self.step(state)
