"""Histories that are not random and come from no generator of the catalogue.

Biased, periodic, chaotic, sorted, counted, summed and sticky ones, and those of generators that the
catalogue does not contain. Each is deterministic: the same draws every time.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Iterator

from weft.searches.prng import planning, verdict
from weft.searches.prng.answer import AnalyseAnswer, StreamCandidate
from weft.searches.prng.attack import Units
from weft.searches.prng.attacks import attack_named
from weft.searches.prng.generate import generate
from weft.searches.prng.history import History
from weft.searches.prng.options import EFFORTS_MS
from weft.searches.prng.planning import PlanLimits
from weft.searches.prng.request import AnalyseRequest
from weft.searches.prng.scoring import is_periodic

Maker = Callable[[random.Random, int], Iterator[int]]


def _biased(source: random.Random, modulus: int) -> Iterator[int]:
    while True:
        yield 0 if source.random() < 0.6 else source.randrange(modulus)


def _poisson(mean: float) -> Maker:
    def counts(source: random.Random, modulus: int) -> Iterator[int]:
        while True:
            count, product = 0, source.random()
            while product > math.exp(-mean):
                count, product = count + 1, product * source.random()
            yield min(count, modulus - 1)

    return counts


def _geometric(share: float) -> Maker:
    def waits(source: random.Random, modulus: int) -> Iterator[int]:
        while True:
            yield min(modulus - 1, int(math.log(1 - source.random()) / math.log(1 - share)))

    return waits


def _periodic(period: int) -> Maker:
    def cycle(source: random.Random, modulus: int) -> Iterator[int]:
        values = [source.randrange(modulus) for _ in range(period)]
        while True:
            yield from values

    return cycle


def _counter(step: int, first: int = 0) -> Maker:
    def count(_: random.Random, modulus: int) -> Iterator[int]:
        at = first
        while True:
            yield at % modulus
            at += step

    return count


def _power(exponent: int) -> Maker:
    def powers(_: random.Random, modulus: int) -> Iterator[int]:
        at = 0
        while True:
            yield at**exponent % modulus
            at += 1

    return powers


def _chaotic(step: Callable[[float], float]) -> Maker:
    def orbit(source: random.Random, modulus: int) -> Iterator[int]:
        x = 0.1 + 0.8 * source.random()
        while True:
            x = step(x)
            yield min(modulus - 1, int(x % 1 * modulus))

    return orbit


def _markov(stay: float) -> Maker:
    def walk(source: random.Random, modulus: int) -> Iterator[int]:
        at = source.randrange(modulus)
        while True:
            if source.random() > stay:
                at = source.randrange(modulus)
            yield at

    return walk


def _drunk(width: int) -> Maker:
    def walk(source: random.Random, modulus: int) -> Iterator[int]:
        at = modulus // 2
        while True:
            at = (at + source.randint(-width, width)) % modulus
            yield at

    return walk


def _sorted(chunk: int) -> Maker:
    def rows(source: random.Random, modulus: int) -> Iterator[int]:
        while True:
            yield from sorted(source.randrange(modulus) for _ in range(chunk))

    return rows


def _sums(terms: int) -> Maker:
    def totals(source: random.Random, modulus: int) -> Iterator[int]:
        while True:
            yield sum(source.randrange(modulus) for _ in range(terms)) // terms

    return totals


def _lcg(multiplier: int, increment: int, bits: int, shift: int) -> Maker:
    """A congruential generator with constants that are not in the catalogue."""

    def stream(source: random.Random, modulus: int) -> Iterator[int]:
        state = source.getrandbits(bits)
        while True:
            state = (state * multiplier + increment) % (1 << bits)
            yield (state >> shift) % modulus

    return stream


def _fibonacci(short: int, long: int) -> Maker:
    def stream(source: random.Random, modulus: int) -> Iterator[int]:
        values = [source.getrandbits(32) for _ in range(long)]
        while True:
            values.append((values[-short] + values[-long]) % (1 << 32))
            yield (values.pop(0) >> 8) % modulus

    return stream


def _middle_square(source: random.Random, modulus: int) -> Iterator[int]:
    state = source.getrandbits(32)
    while True:
        state = (state * state >> 16) & 0xFFFFFFFF
        yield state % modulus


def _rule_30(source: random.Random, modulus: int) -> Iterator[int]:
    cells = source.getrandbits(64)
    while True:
        left, right = cells << 1 | cells >> 63, cells >> 1 | (cells & 1) << 63
        cells = (left ^ (cells | right)) & (1 << 64) - 1
        yield (cells >> 20) % modulus


def _rc4(source: random.Random, modulus: int) -> Iterator[int]:
    table, key = list(range(256)), [source.randrange(256) for _ in range(16)]
    j = 0
    for i in range(256):
        j = (j + table[i] + key[i % 16]) % 256
        table[i], table[j] = table[j], table[i]
    i = j = 0
    while True:
        word = 0
        for _ in range(4):
            i, j = (i + 1) % 256, (j + table[(i + 1) % 256]) % 256
            table[i], table[j] = table[j], table[i]
            word = word << 8 | table[(table[i] + table[j]) % 256]
        yield word % modulus


def _hashed(source: random.Random, modulus: int) -> Iterator[int]:
    block = source.randbytes(16)
    while True:
        block = hashlib.md5(block).digest()
        yield int.from_bytes(block[:4], "little") % modulus


def _alternating(source: random.Random, modulus: int) -> Iterator[int]:
    low, high = source.sample(range(modulus), 2)
    while True:
        yield from (low, high)


def _drifting(source: random.Random, modulus: int) -> Iterator[int]:
    at = 0
    while True:
        at += 1
        yield min(modulus - 1, int(abs(source.gauss(at, modulus / 50))) % modulus)


def _digits_of(numerator: int) -> Maker:
    """The digits of the square root of a number, three at a time."""

    def digits(_: random.Random, modulus: int) -> Iterator[int]:
        text = str(math.isqrt(numerator * 10**4000))
        for at in range(0, len(text) - 3, 3):
            yield int(text[at : at + 3]) % modulus

    return digits


_MAKERS: dict[str, Maker] = {
    "biased": _biased, "alternating": _alternating, "drifting": _drifting,
    "middle-square": _middle_square, "rule-30": _rule_30, "rc4": _rc4, "md5-chain": _hashed,
    **{f"poisson-{mean}": _poisson(mean) for mean in (0.1, 0.5, 1.0, 4.0)},
    **{f"geometric-{share}": _geometric(share) for share in (0.05, 0.3, 0.7)},
    **{f"period-{period}": _periodic(period) for period in (1, 2, 3, 7, 16, 64, 90)},
    **{f"counter-{step}": _counter(step) for step in (1, 2, 7, 64, 999)},
    **{f"power-{exponent}": _power(exponent) for exponent in (2, 3, 5)},
    "logistic": _chaotic(lambda x: 3.99999 * x * (1 - x)),
    "logistic-3.7": _chaotic(lambda x: 3.7 * x * (1 - x)),
    "tent": _chaotic(lambda x: 1.9999 * min(x, 1 - x)),
    "gauss-map": _chaotic(lambda x: 1 / x % 1 if x else 0.5),
    "sine": _chaotic(lambda x: abs(math.sin(x * 12.9898) * 43758.5453) % 1),
    "golden": _chaotic(lambda x: (x + 0.6180339887498949) % 1),
    **{f"markov-{stay}": _markov(stay) for stay in (0.1, 0.5, 0.9, 0.99)},
    **{f"drunk-{width}": _drunk(width) for width in (1, 5, 50)},
    **{f"sorted-{chunk}": _sorted(chunk) for chunk in (6, 50, 400)},
    **{f"sums-{terms}": _sums(terms) for terms in (2, 3, 12)},
    "randu": _lcg(65539, 0, 31, 0), "ansi-c": _lcg(1103515245, 12345, 31, 16),
    "mmix": _lcg(6364136223846793005, 1442695040888963407, 64, 33),
    "vax": _lcg(69069, 1, 32, 3), "zx81": _lcg(75, 74, 16, 0),
    "fibonacci-24-55": _fibonacci(24, 55), "fibonacci-5-17": _fibonacci(5, 17),
    **{f"root-{number}": _digits_of(number) for number in (2, 3, 5)},
}  # fmt: skip
MODULI = (10, 1000)
NAMES = [f"{name}/{modulus}" for name in _MAKERS for modulus in MODULI]


def hostile(name: str, count: int) -> tuple[tuple[int, ...], int]:
    """Return the draws and the modulus of a named history."""
    maker, _, modulus = name.rpartition("/")
    endless = _MAKERS[maker](random.Random(name), int(modulus))
    return tuple(draw for draw, _ in zip(endless, range(count), strict=False)), int(modulus)


RANDOM_MODULI = (10, 37, 100, 1000, 65_536)


def random_history(number: int) -> tuple[tuple[int, ...], int]:
    """Return 120 draws from SHA-256, and their modulus."""
    modulus = RANDOM_MODULI[number % len(RANDOM_MODULI)]
    blocks = (hashlib.sha256(f"random {number} {at}".encode()).digest() for at in range(120))
    return tuple(int.from_bytes(block[:8], "big") % modulus for block in blocks), modulus


def random_request(modulus: int) -> AnalyseRequest:
    """Return a request for all attacks on all generators, within one planned second of a core."""
    return AnalyseRequest(modulus, skips=(0, 2), starts=(0, 2), max_cost_ms=1_000, all_seeds=False)


def hostile_request(modulus: int) -> AnalyseRequest:
    """Return the same request with twenty seconds."""
    return AnalyseRequest(modulus, skips=(0, 2), starts=(0, 2), max_cost_ms=20_000, all_seeds=False)


def default_request(modulus: int) -> AnalyseRequest:
    """Return the request of `weft prng analyse` without options."""
    return AnalyseRequest(modulus, max_cost_ms=EFFORTS_MS["standard"])


def verdict_of(
    draws: tuple[int, ...], request: AnalyseRequest, device: str = "cpu"
) -> AnalyseAnswer:
    """Do what the search does, without a run: cover all ranges within the limits, score once."""
    plans, gaps = planning.make_plans(History(draws), request)
    case, candidates = request.case(draws), []
    covered = [item for wave in planning.waves(plans, PlanLimits.of(request)) for item in wave]
    for number, lo, hi in covered:
        plan = plans[number].plan
        for match in attack_named(plan.attack).run(case, plan, Units(lo, hi, device)):
            if not is_periodic(generate(match.hypothesis, match.compared)):
                tried = plan.tried * len(plans)
                candidates.append(StreamCandidate("", match.hypothesis, tried))
    ranked = verdict.score_all(candidates, {"": draws}, request) if candidates else []
    return verdict.conclude(request, plans, covered, gaps, ranked, ())
