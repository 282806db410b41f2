"""Compiled computation of the features that come from a row's own draws: 40 of the 48.

Prefix sums of hits and three residue histograms are computed once per row; windows, halves,
thirds and both passes are differences of prefix sums. `reference` defines each feature.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from weft.searches.prng.arrays import Draws16, Floats, Ints, Ints32
from weft.searches.prng.kernels.compiled import KERNELS
from weft.searches.prng.pipeline.features import METADATA, PER_SURVIVOR, SKIP_GROUP

COLUMNS = tuple(n for n in PER_SURVIVOR if n not in SKIP_GROUP and n not in METADATA)
"""Names of the columns that `score_rows` returns, in order."""


def score_rows(
    rows: Draws16, firsts: Ints, draws: Draws16, moduli: tuple[int, int, int], modulus: int,
    max_offset: int, window: int, misses: tuple[int, int, int],
) -> Floats:  # fmt: skip
    """Return COLUMNS of each row of outputs, compared with the draws from its first draw on.

    `misses` is the sieve's window size and the hits that its two passes required.
    """
    features = np.empty((len(rows), len(COLUMNS)), np.float64)
    bounds = np.array([0, moduli[0], moduli[0] + moduli[1], sum(moduli)], np.int64)
    values = np.arange(modulus)
    table = np.stack([values % r + bounds[i] for i, r in enumerate(moduli)]).astype(np.int32)
    logs = np.log(np.arange(len(draws) + 2, dtype=np.float64).clip(1))
    score_kernel(
        rows, firsts, draws, table, bounds, logs, max_offset, window, np.array(misses), features
    )
    return features


@KERNELS.kernel
def _divergence(counts: Ints32, other: Floats, low: int, high: int, n: int, logs: Floats) -> float:
    """Return the KL divergence of add-one smoothed histograms; `other` holds log(count + 1)."""
    total = 0.0
    for k in range(low, high):
        count = counts[k] + 1
        total += count * (logs[count] - other[k])
    return max(0.0, total / (n + high - low))


@KERNELS.kernel
def _residues(
    p: Draws16,
    n: int,
    table: Ints32,
    bounds: Ints,
    logs: Floats,
    counts: Ints32,
    other: Floats,
    places: Ints32,
    out: Floats,
) -> None:
    """Compare residues modulo all three moduli; `places` are the draws' histogram bins."""
    counts[:] = 0
    same_a = same_b = same_c = 0
    for i in range(n):
        value = p[i]
        a, b, c = table[0, value], table[1, value], table[2, value]
        counts[a] += 1
        counts[b] += 1
        counts[c] += 1
        same_a += a == places[0, i]
        same_b += b == places[1, i]
        same_c += c == places[2, i]
    out[0], out[3], out[6] = same_a / n, same_b / n, same_c / n
    for which in range(3):
        divergence = _divergence(counts, other, bounds[which], bounds[which + 1], n, logs)
        out[3 * which + 1] = 1 / (1 + divergence)
        out[3 * which + 2] = divergence
    out[9], out[10] = out[0], out[3]
    out[11] = (out[0] + out[3]) / 2


@KERNELS.kernel
def _best_offset(p: Draws16, a: Draws16, most: int) -> int:
    best, best_count = 0, -1
    n = len(a)
    for offset in range(most + 1):
        count = 0
        for i in range(n):
            count += p[i + offset] == a[i]
        if count > best_count:
            best, best_count = offset, count
    return best


@KERNELS.kernel
def _stability(cum: Ints32, n: int, size: int, out: Floats) -> None:
    size = min(size, n)
    many = n // size
    total, least, greatest, tilt, spread = 0.0, 1.0, 0.0, 0.0, 0.0
    middle = (many - 1) / 2
    for k in range(many):
        rate = (cum[(k + 1) * size] - cum[k * size]) / size
        total += rate
        least, greatest = min(least, rate), max(greatest, rate)
        tilt += (k - middle) * rate
        spread += (k - middle) ** 2
    mean = total / many
    square = 0.0
    for k in range(many):
        square += ((cum[(k + 1) * size] - cum[k * size]) / size - mean) ** 2
    out[0], out[1], out[2], out[3] = mean, sqrt(square / many), least, greatest
    out[4] = tilt / spread if spread > 0 else 0.0


@KERNELS.kernel
def _motion(cum: Ints32, n: int, out: Floats) -> None:
    half, third = n // 2, n // 3
    out[0] = out[1] = 0.0
    if half:
        out[0] = (cum[n] - cum[half]) / (n - half) - cum[half] / half
    if third:
        first, second = cum[third] / third, (cum[2 * third] - cum[third]) / third
        out[1] = ((cum[n] - cum[2 * third]) / (n - 2 * third) - second) - (second - first)


@KERNELS.kernel
def _forward_end(cum: Ints32, n: int, allowed: int) -> int:
    """Return the number of draws in a forward pass before its misses exceed `allowed`."""
    low, high = 0, n
    while low < high:
        middle = (low + high + 1) // 2
        if middle - cum[middle] <= allowed:
            low = middle
        else:
            high = middle - 1
    return low


@KERNELS.kernel
def _reverse_end(cum: Ints32, n: int, allowed: int) -> int:
    """Return the lowest index of a backward pass before its misses exceed `allowed`."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if (n - middle) - (cum[n] - cum[middle]) <= allowed:
            high = middle
        else:
            low = middle + 1
    return low


@KERNELS.kernel
def _passes(cum: Ints32, n: int, misses: Ints, out: Floats) -> None:
    window = misses[0]
    end = _forward_end(cum, n, n * (window - misses[1]) // window)
    begin = _reverse_end(cum, n, n * (window - misses[2]) // window)
    forward, reverse = cum[end], cum[n] - cum[begin]
    both = cum[end] - cum[begin] if begin < end else 0
    out[0], out[1], out[2] = forward, reverse, both
    either = forward + reverse
    out[3] = both / (either - both) if either > both else 0.0
    out[4] = both / either if either else 0.0
    out[5] = both / forward if forward else 0.0
    out[6], out[7] = forward - both, reverse - both


@KERNELS.kernel
def _moments(p: Draws16, a: Draws16, out: Floats) -> None:
    n = len(a)
    total = square = difference = differences = apart = farthest = greatest = np.int64(0)
    least = np.int64(1 << 30)
    for i in range(n):
        x, y = np.int64(p[i]), np.int64(a[i])
        total += x
        square += x * x
        d = x - y
        difference += d
        differences += d * d
        apart += abs(d)
        farthest = max(farthest, abs(d))
        least, greatest = min(least, x), max(greatest, x)
    out[0] = total / n
    out[1] = sqrt(n * square - total * total) / n
    out[2], out[3] = least, greatest
    out[6] = difference / n
    out[7] = sqrt(n * differences - difference * difference) / n
    out[8], out[9] = apart / n, farthest


@KERNELS.kernel
def _actual(
    a: Draws16, table: Ints32, counts: Ints32, other: Floats, places: Ints32
) -> tuple[float, float]:
    """Fill bins and log histograms of the draws; return their mean and standard deviation."""
    counts[:] = 0
    for i in range(len(a)):
        for which in range(3):
            places[which, i] = table[which, a[i]]
            counts[places[which, i]] += 1
    for k in range(len(counts)):
        other[k] = log(counts[k] + 1.0)
    total = square = np.int64(0)
    for value in a:
        total += np.int64(value)
        square += np.int64(value) * np.int64(value)
    n = len(a)
    return total / n, sqrt(n * square - total * total) / n


@KERNELS.entry
def score_kernel(
    rows: Draws16, firsts: Ints, draws: Draws16, table: Ints32, bounds: Ints, logs: Floats,
    max_offset: int, window: int, misses: Ints, features: Floats,
) -> None:  # fmt: skip
    """Fill `features` row by row; consecutive rows with the same first draw share draw data."""
    counts = np.empty(bounds[3], np.int32)
    other = np.empty(bounds[3], np.float64)
    places = np.empty((3, len(draws)), np.int32)
    cum = np.zeros(len(draws) + 1, np.int32)
    last, mean, deviation = -1, 0.0, 0.0
    for row in range(len(rows)):
        first = firsts[row]
        p, a, out = rows[row], draws[first:], features[row]
        n = len(a)
        if first != last:
            mean, deviation = _actual(a, table, counts, other, places)
            last = first
        _residues(p, n, table, bounds, logs, counts, other, places, out[:12])
        out[12] = _best_offset(p, a, max_offset)
        for i in range(n):
            cum[i + 1] = cum[i] + (p[i] == a[i])
        _stability(cum, n, window, out[13:18])
        _motion(cum, n, out[18:20])
        _passes(cum, n, misses, out[20:28])
        out[28], out[29] = cum[n], n
        _moments(p, a, out[30:40])
        out[34], out[35] = mean, deviation
