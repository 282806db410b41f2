"""Parts that many generators share: output maps built from a step, simple seedings, jumps.

They follow the rule for steps (see `prng.family`): `modulus` is a word too, and values that a map
closes over are constants. A modulus is at most 2^32, and below 2^31 where draws are rejected.
"""

from __future__ import annotations

from weft.searches.prng.family import Draw, Jump, Seeding, State, Step
from weft.searches.prng.linear import LinearStep, affine_power, bit_power

M32 = 0xFFFFFFFF
TWO32 = 1 << 32
TWO53_INVERSE = 2.0**-53
ZERO, ONE = 0, 1


def word_seeding(bits: int) -> Seeding:
    """Return a seeding that takes the low bits of a seed as the only state word."""
    mask = (1 << bits) - 1

    def seeding(seed: int) -> State:
        return [seed & mask]

    return seeding


def affine_jump(multiplier: int, increment: int, modulus: int, steps_each: int = 1) -> Jump:
    """Return a jump that raises the affine map of a one-word state to the power of the steps."""

    def jump(state: State, steps: int) -> None:
        a, c = affine_power(multiplier, increment, steps_each * steps, modulus)
        state[0] = (state[0] * a + c) % modulus

    return jump


def linear_jump(step: LinearStep, words: int, bits: int) -> Jump:
    """Return a jump that raises the matrix of a step linear over bits to the power of the steps."""

    def jump(state: State, steps: int) -> None:
        state[:] = bit_power(step, words, bits, state, steps)

    return jump


def additive_step(degree: int, lag: int) -> Step:
    """Return the step that adds words `degree` and `lag` back modulo 2^32, less the lowest bit.

    The state is the last `degree` words and the index of the next one.
    """
    size, rear_from = degree, degree - lag

    def step(state: State) -> int:
        front = state[size]
        rear = front + rear_from
        if rear >= size:
            rear -= size
        word = (state[front] + state[rear]) & M32
        state[front] = word
        front += ONE
        if front == size:
            front = ZERO
        state[size] = front
        return word >> 1

    return step


def plain_maps(step: Step, word_bits: int) -> dict[str, Draw]:
    """Return the maps every generator has: `mod`, `high` (multiply and shift) and `raw`."""
    return {"mod": mod_map(step), "high": high_map(step, word_bits), "raw": raw_map(step)}


def mod_map(step: Step) -> Draw:
    """Return the map to the remainder of an output."""

    def mod(state: State, modulus: int) -> int:
        return step(state) % modulus

    return mod


def raw_map(step: Step) -> Draw:
    """Return the map to the output itself, whatever the modulus."""

    def raw(state: State, modulus: int) -> int:  # noqa: ARG001 - maps share one signature
        return step(state)

    return raw


def high_map(step: Step, word_bits: int) -> Draw:
    """Return the map to the high bits: floor(output · modulus / 2^word_bits)."""
    if word_bits > 32:
        return _high_of_64(step, word_bits)

    def high(state: State, modulus: int) -> int:
        return (step(state) * modulus) >> word_bits

    return high


def _high_of_64(step: Step, word_bits: int) -> Draw:
    """Return `high_map` with multiplication by halves, because the product has up to 96 bits."""
    rest = word_bits - 32

    def high(state: State, modulus: int) -> int:
        word = step(state)
        return ((word >> 32) * modulus + ((word & M32) * modulus >> 32)) >> rest

    return high


def shifted(step: Step, dropped: int) -> Step:
    """Return a step that drops the lowest bits of an output, as in `mt_rand() = word >> 1`."""

    def short(state: State) -> int:
        return step(state) >> dropped

    return short


def scaled_map(step: Step, word_bits: int) -> Draw:
    """Return the map floor(u · modulus) in doubles, u = output / 2^word_bits, for up to 53 bits."""
    unit = 2.0**-word_bits

    def scaled(state: State, modulus: int) -> int:
        return int(step(state) * unit * modulus)

    return scaled


def scaled_pair_map(step: Step) -> Draw:
    """Return the map floor(u · modulus), u with 53 bits of two 32-bit outputs as in MT's res53."""

    def scaled(state: State, modulus: int) -> int:
        high = step(state) >> 5
        low = step(state) >> 6
        return int(((high << 26) + low) * TWO53_INVERSE * modulus)

    return scaled


def masked_map(step: Step) -> Draw:
    """Return the map to as many low bits as the modulus has, drawn again if they are too great."""

    def masked(state: State, modulus: int) -> int:
        largest = modulus - ONE
        mask = largest
        for shift in range(5):
            mask |= mask >> (ONE << shift)
        word = step(state) & mask
        while word > largest:
            word = step(state) & mask
        return word

    return masked


def threshold_map(step: Step) -> Draw:
    """Return the map to a remainder of 32 bits; outputs below 2^32 mod modulus are drawn again."""

    def bounded(state: State, modulus: int) -> int:
        least = TWO32 % modulus
        word = step(state)
        while word < least:
            word = step(state)
        return word % modulus

    return bounded


def ceiling_map(step: Step, span: int) -> Draw:
    """Return the map to a remainder; outputs from the last multiple in `span` on are redrawn."""

    def bounded(state: State, modulus: int) -> int:
        limit = span - span % modulus
        word = step(state)
        while word >= limit:
            word = step(state)
        return word % modulus

    return bounded
