"""Seeds that people actually use, in a fixed order and without duplicates.

No clock is read: times come from a fixed span of years.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

TIMES = (631_152_000, 1_893_456_000)
"""Unix seconds of 1990-01-01 and 2030-01-01, UTC."""
DAY_S = 86_400
TYPED, SMALL = 10_000, 1 << 16
TYPED_COUNT, DATED_COUNT = 10_677, 123_611
"""The numbers of typed and dated seeds; plans need only the counts."""
WORDS = (
    0xDEADBEEF, 0xCAFEBABE, 0xBADC0FFE, 0xBADF00D, 0xC0FFEE, 0xFEEDFACE, 0x8BADF00D, 0xDEADC0DE,
    0x12345678, 0x87654321, 0x9E3779B9, 0x5DEECE66D, 0x9E3779B97F4A7C15, 19650218, 8675309,
)  # fmt: skip


@lru_cache(maxsize=1)
def typed_seeds() -> tuple[int, ...]:
    """Return seeds that people type: small and round numbers, repeated digits, and words."""
    return _once([*range(TYPED), *round_numbers(), *repeated_digits(), *WORDS])


@lru_cache(maxsize=1)
def dated_seeds() -> tuple[int, ...]:
    """Return the other small integers, which include process ids, and days and dates."""
    typed = frozenset(typed_seeds())
    return _once(seed for seed in [*range(SMALL), *days(), *dates()] if seed not in typed)


def _once(seeds: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(seed for seed in seeds if 0 <= seed < 1 << 64))


def round_numbers() -> list[int]:
    """Return powers of two and digit multiples of powers of ten, each with its neighbours."""
    tens = [digit * 10**power for power in range(4, 19) for digit in range(1, 10)]
    twos = [1 << power for power in range(16, 65)]
    return [base + step for base in [*tens, *twos] for step in (0, -1, 1)]


def repeated_digits() -> list[int]:
    """Return numbers like 11111, 12345 and 54321, up to 16 digits."""
    same = [int(str(digit) * count) for count in range(5, 17) for digit in range(1, 10)]
    rising = [int("1234567890123456"[:count]) for count in range(5, 17)]
    falling = [int("987654321"[-count:]) for count in range(5, 10)]
    return [*same, *rising, *falling]


def days() -> list[int]:
    """Return every midnight within TIMES, in seconds and in milliseconds."""
    seconds = list(range(*TIMES, DAY_S))
    return [*seconds, *(1000 * second for second in seconds)]


def dates() -> list[int]:
    """Return dates such as 19900101, up to 20291231, also with the day or the month first."""
    numbers = []
    for year in range(1990, 2030):
        for month in range(1, 13):
            for day in range(1, 32):
                numbers += [
                    year * 10000 + month * 100 + day,
                    day * 1000000 + month * 10000 + year,
                    month * 1000000 + day * 10000 + year,
                ]
    return numbers
