"""java.util.Random: a linear congruential generator modulo 2^48, as the JDK documents it.

nextInt(bound) takes 31 bits: the high ones when the bound is a power of two, else a remainder
that is drawn again when it would favour small values.
"""

from __future__ import annotations

from weft.prng.family import Coverage, Family, State

MULTIPLIER = 0x5DEECE66D
INCREMENT = 0xB
MASK48 = (1 << 48) - 1
DROPPED = 16
MODULUS = 1 << 48


def seeding(seed: int) -> State:
    """Scramble a seed as the constructor does; only its low 48 bits matter."""
    return [(seed ^ MULTIPLIER) & MASK48]


def step(state: State) -> int:
    """Return next(32), unsigned."""
    state[0] = (state[0] * MULTIPLIER + INCREMENT) & MASK48
    return state[0] >> DROPPED


def jump(state: State, steps: int) -> None:
    """Apply the affine map to the power of `steps`."""
    multiplier, increment = affine_power(MULTIPLIER, INCREMENT, steps, MODULUS)
    state[0] = (state[0] * multiplier + increment) % MODULUS


def affine_power(multiplier: int, increment: int, steps: int, modulus: int) -> tuple[int, int]:
    """Return (a, c) with x → a·x + c equal to `steps` applications, by repeated squaring."""
    all_a, all_c = 1, 0
    while steps:
        if steps & 1:
            all_a, all_c = all_a * multiplier % modulus, (all_c * multiplier + increment) % modulus
        increment = increment * (multiplier + 1) % modulus
        multiplier = multiplier * multiplier % modulus
        steps >>= 1
    return all_a, all_c


def next_int(state: State, bound: int) -> int:
    """Make the draw of nextInt(bound)."""
    if bound & (bound - 1) == 0:
        return (bound * (step(state) >> 1)) >> 31
    while True:
        bits = step(state) >> 1
        value = bits % bound
        if bits - value + bound - 1 < 1 << 31:
            return value


def next_long_mod(state: State, modulus: int) -> int:
    """Make the draw of Math.floorMod(nextLong(), modulus)."""
    return next_long(state) % modulus


def next_long(state: State) -> int:
    """Return nextLong(): two outputs, the second one signed."""
    high = _signed(step(state))
    return _signed64((high << 32) + _signed(step(state)))


def next_double_scaled(state: State, modulus: int) -> int:
    """Make the draw of (int) (nextDouble() * modulus), in the arithmetic of doubles."""
    bits = ((step(state) >> 6) << 27) + (step(state) >> 5)
    return int(bits * 2.0**-53 * modulus)


def _signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word


def _signed64(value: int) -> int:
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def next_int_mod(state: State, modulus: int) -> int:
    """Make the draw of Math.floorMod(nextInt(), modulus)."""
    return _signed(step(state)) % modulus


FAMILY = Family(
    name="java",
    title="java.util.Random",
    word_bits=32,
    state_words=1,
    state_word_bits=64,
    seed_bits=48,
    seeding=seeding,
    step=step,
    outputs={
        "bounded": next_int,
        "mod": next_int_mod,
        "long": next_long_mod,
        "scaled": next_double_scaled,
    },
    jump=jump,
    coverage=Coverage("every one of the 2^48 states", 10, 24),
)
