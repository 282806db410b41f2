"""CUDA source of the sieves: what a thread does with one seed.

Each function takes the arguments of the CPU sieve of its name, without the range and the output
buffer, and returns a program: constants for the card's constant memory, and the body of a loop over
seeds, which skips a rejected seed with `continue`. The module knows nothing of CuPy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.searches.prng.arrays import ShortWords
from weft.searches.prng.kernels import dotnet as dotnet_kernel
from weft.searches.prng.kernels import golang
from weft.searches.prng.kernels.glibc import DEGREE
from weft.searches.prng.kernels.hits import INVERSE, LEAST, LIMIT, SHIFT, TURN
from weft.searches.prng.kernels.mt import BY_ARRAY, FAR, FIRST_FORM, LEGACY, SIZE, step_of
from weft.searches.prng.kernels.vectors import BASE_WORDS

HEAD = """
typedef unsigned int u32; typedef unsigned long long u64;
static __device__ __forceinline__ u32 folded(u32 w) { return w ^ (w >> 30); }
static __device__ __forceinline__ u32 twisted(u32 first, u32 second, u32 far, u32 low) {
    u32 joined = (first & 0x80000000u) | (second & 0x7fffffffu);
    u32 y = far ^ (joined >> 1) ^ ((low & 1u) * 0x9908b0dfu);
    y ^= y >> 11; y ^= (y << 7) & 0x9d2c5680u; y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}
static __device__ __forceinline__ u32 less(u32 one, u32 other) {
    u32 word = one - other;
    return word + (0x7fffffffu & (0u - (word >> 31)));
}
static __device__ __forceinline__ u64 remainder31(u64 x) {
    x = (x & 0x7fffffffull) + (x >> 31);
    x = (x & 0x7fffffffull) + (x >> 31);
    return x >= 0x7fffffffull ? x - 0x7fffffffull : x;
}
"""
KERNEL = """
extern "C" __global__ void sieve(u64 lo, u64 hi, u64 *out, u32 most, u32 *count) {
    u64 step = (u64) gridDim.x * blockDim.x;
    for (u64 seed = lo + (u64) blockIdx.x * blockDim.x + threadIdx.x; seed < hi; seed += step) {
        u32 hits = 0, y;
"""
TAIL = """
        u32 at = atomicAdd(count, 1u);
        if (at < most) out[at] = seed;
    }
}
"""


@dataclass(frozen=True, slots=True)
class SieveProgram:
    """CUDA source with a kernel `sieve`, and the constants it refers to by name."""

    source: str
    constants: Mapping[str, ShortWords]


def _program(body: Iterable[str], **constants: Any) -> SieveProgram:
    words = {name: np.ascontiguousarray(value, np.uint32) for name, value in constants.items()}
    declared = [f"__constant__ u32 {name}[{value.size}];" for name, value in words.items()]
    return SieveProgram("\n".join([HEAD, *declared, KERNEL, *body, TAIL]), words)


def _judged(tests: Any, number: int) -> str:
    """Return code that tests one draw and rejects a seed when enough hits are out of reach."""
    shift, least, inverse, turn, limit = (
        f"tests[{number * tests.shape[1] + column}]"
        for column in (SHIFT, LEAST, INVERSE, TURN, LIMIT)
    )
    left = len(tests) - 1 - number
    return (
        f"{{ u32 value = y >> {shift}, z = (value - {least}) * {inverse};"
        f" z = (z >> {turn}) | (z << ((32u - {turn}) & 31u));"
        f" hits += (z <= {limit}) & (value >= {least}); }}"
        f" if (hits + {left}u < enough[0]) continue;"
    )


def lcg(seeding: Any, dropped: Any, affine: Any, tests: Any, enough: int) -> SieveProgram:
    """Return a program that computes every draw of an LCG directly from the first state.

    This is so fast that the multipliers are written into the source.
    """

    def body() -> Iterator[str]:
        scramble, place, below, mask = (int(word) for word in seeding)
        yield f"u64 state = ((seed ^ {scramble}ull) << {place}) | {below}ull;"
        for number, (a, c) in enumerate(affine):
            state = f"((state * {int(a)}ull + {int(c)}ull) & {mask}ull)"
            yield f"y = (u32) ({state} >> {int(dropped)});"
            yield _judged_at_once(tests, number, enough)

    return _program(body())


def _judged_at_once(tests: Any, number: int, enough: int) -> str:
    """Return the code of a test, with its numbers in the source."""
    test = [int(value) for value in tests[number]]
    left = len(tests) - 1 - number
    value = f"(y >> {test[SHIFT]})"
    z, turn = f"(({value} - {test[LEAST]}u) * {test[INVERSE]}u)", test[TURN]
    turned = f"({z} >> {turn} | {z} << {32 - turn})" if turn else z
    hit = f"{turned} <= {test[LIMIT]}u"
    if test[LEAST]:
        hit = f"({hit} && {value} >= {test[LEAST]}u)"
    return f"hits += {hit}; if (hits + {left}u < {enough}u) continue;"


def mt(form: int, _: Any, places: Any, tests: Any, enough: int) -> SieveProgram:
    """Return a program that fills MT19937's block as far as the next draw needs, then tests it."""
    outputs = [int(at) for at in places[:, 0]]
    judged = [_judged(tests, number) for number in range(len(outputs))]
    return _twister(form, outputs, judged, "", tests=tests, enough=[enough])


def redrawing_mt(
    form: int, _: Any, places: Any, draw: Any, expected: Any, enough: int
) -> SieveProgram:
    """Return a program that goes through the outputs; one that is too great makes no draw."""
    outputs = [int(at) for at in places[:, 0]]
    judged = (
        "{ u32 value = (y >> draw[0]) & draw[1]; if (value < draw[2]) {"
        " hits += value == expected[2 * cursor]; ++cursor; } }"
        " if (hits + expected[2 * cursor + 1] < enough[0]) continue;"
    )
    constants = {"draw": draw, "expected": expected, "enough": [enough]}
    return _twister(form, outputs, [judged] * len(outputs), "u32 cursor = 0;", **constants)


def _twister(
    form: int, outputs: list[int], judged: list[str], begin: str, **constants: Any
) -> SieveProgram:
    """Return a program that fills the block and tests each output once its words are stored."""
    if form == BY_ARRAY:
        constants["base_words"] = BASE_WORDS

    def body() -> Iterator[str]:
        yield begin
        yield from _start(form)
        needed = {at + more for at in outputs for more in (0, 1, FAR)}
        done, at, kept = 0, 0, set[int]()
        for word in sorted(needed, key=lambda word: step_of(word, form)):
            yield _filled(form, at, word)
            at = max(at, min(step_of(word, form), SIZE - 1))
            kept.add(word)
            while done < len(outputs) and {outputs[done] + m for m in (0, 1, FAR)} <= kept:
                first = outputs[done]
                low = first if form == LEGACY else first + 1
                yield f"y = twisted(k{first}, k{first + 1}, k{first + FAR}, k{low});"
                yield judged[done]
                done += 1

    return _program(body(), **constants)


def _start(form: int) -> Iterator[str]:
    if form != BY_ARRAY:
        yield f"u32 w = (u32) seed{' | 1u' if form == FIRST_FORM else ''};"
        return
    # The first pass is computed twice, the second time beside the second pass: a thread has no
    # room for its 624 words, and arithmetic is cheaper than memory.
    mixed = "(base_words[{at}] ^ (folded({word}) * 1664525u)) + key"
    yield "u32 key = (u32) seed;"
    yield f"u32 early = {mixed.format(at=1, word='base_words[0]')};"
    yield "u32 w = early;"
    yield "#pragma unroll 8"
    yield f"for (int i = 2; i < {SIZE}; ++i) w = {mixed.format(at='i', word='w')};"
    yield "u32 second = (early ^ (folded(w) * 1664525u)) + key;"
    yield "w = second;"


def _filled(form: int, at: int, word: int) -> str:
    """Return the code of the steps from `at` to a word, which is then stored."""
    if form == BY_ARRAY:
        if word == 0:
            return "u32 k0 = 0x80000000u;"
        first, to = max(at + 1, 2), min(step_of(word, form), SIZE - 1)
        step = (
            "early = (base_words[i] ^ (folded(early) * 1664525u)) + key;"
            " w = (early ^ (folded(w) * 1566083941u)) - (u32) i;"
        )
        value = "(second ^ (folded(w) * 1566083941u)) - 1u" if word == 1 else "w"
    else:
        first, to, value = at + 1, word, "w"
        modern = "w = 1812433253u * folded(w) + (u32) i;"
        step = "w *= 69069u;" if form == FIRST_FORM else modern
    loop = f"#pragma unroll 16\nfor (int i = {first}; i <= {to}; ++i) {{ {step} }}\n"
    return f"{loop if first <= to else ''}u32 k{word} = {value};"


def glibc(weights: Any, tests: Any, enough: int) -> SieveProgram:
    """Return a program that computes each draw of glibc's rand(), a weighted sum of 31 words."""

    def body() -> Iterator[str]:
        yield "u64 x = seed ? seed : 1;"
        yield f"u32 w[{DEGREE}]; w[0] = (u32) x;"
        yield "if (x & 0x80000000ull) x += 0x7fffffffull * 3 - 0x100000000ull;"
        yield "#pragma unroll"
        yield f"for (int i = 1; i < {DEGREE}; ++i) {{"
        yield "  u64 p = x * 16807ull; x = (p & 0x7fffffffull) + (p >> 31);"
        yield "  if (x >= 0x7fffffffull) x -= 0x7fffffffull; w[i] = (u32) x; }"
        for number in range(len(weights)):
            terms = (f"weights[{DEGREE * number + at}] * w[{at}]" for at in range(DEGREE))
            yield f"y = {' + '.join(terms)};"
            yield _judged(tests, number)

    return _program(body(), weights=weights, tests=tests, enough=[enough])


def dotnet(places: Any, tests: Any, enough: int) -> SieveProgram:
    """Return a program that fills .NET's table, then steps from draw to draw in unrolled code."""

    def body() -> Iterator[str]:
        size, lag = dotnet_kernel.SIZE, dotnet_kernel.LAG
        order = [int(at) for at in dotnet_kernel.PLACES]
        yield f"u32 t[{size}]; t[{order[0]}] = 161803398u - (u32) seed; t[{order[1]}] = 1u;"
        for at in range(2, size):
            yield f"t[{order[at]}] = less(t[{order[at - 2]}], t[{order[at - 1]}]);"
        yield f"#pragma unroll 1\nfor (int turn = 0; turn < {dotnet_kernel.ROUNDS}; ++turn) {{"
        for at in range(size):
            yield f"t[{at}] = less(t[{at}], t[{(at + dotnet_kernel.SHIFTED) % size}]);"
        yield "}"
        at = 0
        for number, place in enumerate(int(place) for place in places):
            for step in range(at, place + 1):
                row = step % size
                yield f"t[{row}] = less(t[{row}], t[{(step + lag) % size}]);"
                yield f"t[{row}] -= (t[{row}] + 1u) >> 31;"
            at = place + 1
            yield f"y = t[{place % size}];"
            yield _judged(tests, number)

    return _program(body(), tests=tests, enough=[enough])


def go(factors: Any, salts: Any, up: Any, tests: Any, enough: int) -> SieveProgram:
    """Return a program that computes the two words of each draw of Go's generator from the seed."""

    def body() -> Iterator[str]:
        yield f"u64 s = remainder31(seed); s = s ? s : {int(golang.FOR_ZERO)}ull;"
        for number, row in enumerate(factors):
            parts = []
            for half in range(2):
                one, two, three = (
                    f"remainder31(s * {int(row[3 * half + k])}ull)" for k in (0, 1, 2)
                )
                salt = f"{int(salts[number, half])}ull"
                parts.append(f"(({one} << 40) ^ ({two} << 20) ^ {three} ^ {salt})")
            yield f"y = (u32) ((({parts[0]} + {parts[1]}) << {int(up)}) >> 32);"
            yield _judged(tests, number)

    return _program(body(), tests=tests, enough=[enough])
