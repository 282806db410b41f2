"""The definition of every feature in plain Python: the twin that `scorekernel` is tested against.

Readable and slow. `p` are the hypothesis's outputs from the first draw that it predicts, with
`max_offset` more at the end; `a` are the actual draws from there up to the cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, log2, sqrt


@dataclass(frozen=True, slots=True)
class ScorerConfig:
    """Parameters of the features, chosen by step 2.5."""

    residue_mod_1: int = 8
    residue_mod_2: int = 125
    residue_mod_3: int = 1000
    max_offset: int = 5
    temporal_window_size: int = 50

    def moduli(self) -> tuple[int, int, int]:
        """Return the three residue moduli."""
        return self.residue_mod_1, self.residue_mod_2, self.residue_mod_3


@dataclass(frozen=True, slots=True)
class SieveStats:
    """The sieve's statistics of the window in which a survivor was found."""

    window: int
    forward_need: int
    reverse_need: int
    skip_min: int
    skip_max: int
    bidirectional_count: int
    forward_survivors: int
    reverse_survivors: int


def row_features(
    p: Sequence[int],
    a: Sequence[int],
    config: ScorerConfig,
    sieved: SieveStats,
    skips: Sequence[int],
) -> dict[str, float]:
    """Return the 48 features of one survivor; `skips` are all at which its seed survived."""
    hits = [x == y for x, y in zip(p, a, strict=False)]
    return {
        **residue(p, a, config),
        "best_offset": best_offset(p, a, config.max_offset),
        **stability(hits, config.temporal_window_size),
        **skip_group(skips),
        "survivor_velocity": velocity(hits),
        "velocity_acceleration": acceleration(hits),
        **passes(hits, sieved),
        **moments(p[: len(a)], a, hits),
        "skip_min": sieved.skip_min,
        "skip_max": sieved.skip_max,
        "bidirectional_count": sieved.bidirectional_count,
        "bidirectional_selectivity": ratio(sieved.forward_survivors, sieved.reverse_survivors),
    }


def residue(p: Sequence[int], a: Sequence[int], config: ScorerConfig) -> dict[str, float]:
    """Compare outputs and draws modulo three numbers: match rates and histogram similarity."""
    features: dict[str, float] = {}
    for name, r in zip("abc", config.moduli(), strict=True):
        pairs = [(x % r, y % r) for x, y in zip(p, a, strict=False)]
        divergence = kl([x for x, _ in pairs], [y for _, y in pairs], r)
        features[f"residue_{name}_match_rate"] = mean([float(x == y) for x, y in pairs])
        features[f"residue_{name}_coherence"] = 1 / (1 + divergence)
        features[f"residue_{name}_kl_divergence"] = divergence
    lanes = features["residue_a_match_rate"], features["residue_b_match_rate"]
    features["lane_agreement_a"], features["lane_agreement_b"] = lanes
    features["lane_consistency"] = (lanes[0] + lanes[1]) / 2
    return features


def kl(left: Sequence[int], right: Sequence[int], r: int) -> float:
    """Return the KL divergence of two add-one smoothed histograms over r values, in nats."""
    count, other, n = Counter(left), Counter(right), len(left) + r
    total = sum((count[k] + 1) / n * log((count[k] + 1) / (other[k] + 1)) for k in range(r))
    return max(0.0, total)


def best_offset(p: Sequence[int], a: Sequence[int], most: int) -> int:
    """Return the shift of the outputs with the most matches, the lowest in a tie."""
    counts = [sum(p[i + o] == y for i, y in enumerate(a)) for o in range(most + 1)]
    return counts.index(max(counts))


def stability(hits: Sequence[bool], size: int) -> dict[str, float]:
    """Describe the match rates of consecutive whole windows; one window if draws are few."""
    size = min(size, len(hits))
    rates = [mean([float(h) for h in hits[at : at + size]]) for at in windows_of(len(hits), size)]
    return {
        "temporal_stability_mean": mean(rates),
        "temporal_stability_std": std(rates),
        "temporal_stability_min": min(rates),
        "temporal_stability_max": max(rates),
        "temporal_stability_trend": slope(rates),
    }


def windows_of(n: int, size: int) -> range:
    """Return the start indices of the whole windows of `size` draws."""
    return range(0, n - size + 1, size)


def slope(values: Sequence[float]) -> float:
    """Return the least-squares slope over 0, 1, 2, …; 0 for a single value."""
    middle = (len(values) - 1) / 2
    spread = sum((i - middle) ** 2 for i in range(len(values)))
    if not spread:
        return 0.0
    return sum((i - middle) * v for i, v in enumerate(values)) / spread


def skip_group(skips: Sequence[int]) -> dict[str, float]:
    """Describe the skips at which a seed survived."""
    shares = [count / len(skips) for _, count in sorted(Counter(skips).items())]
    return {
        "skip_range": max(skips) - min(skips),
        "skip_mean": mean(skips),
        "skip_std": std(skips),
        "skip_entropy": entropy(shares),
    }


def velocity(hits: Sequence[bool]) -> float:
    """Return the match rate of the second half minus that of the first."""
    half = len(hits) // 2
    return rate(hits[half:]) - rate(hits[:half]) if half else 0.0


def acceleration(hits: Sequence[bool]) -> float:
    """Return the second difference of the match rates of thirds."""
    third = len(hits) // 3
    if not third:
        return 0.0
    first, second = rate(hits[:third]), rate(hits[third : 2 * third])
    return (rate(hits[2 * third :]) - second) - (second - first)


def passes(hits: Sequence[bool], sieved: SieveStats) -> dict[str, float]:
    """Count the matches of a pass from either end; a pass ends after too many misses."""
    n = len(hits)
    forward = set(_pass(range(n), hits, allowed(n, sieved.window, sieved.forward_need)))
    reverse = set(_pass(range(n - 1, -1, -1), hits, allowed(n, sieved.window, sieved.reverse_need)))
    f, r, both = len(forward), len(reverse), len(forward & reverse)
    return {
        "forward_count": f,
        "reverse_count": r,
        "intersection_count": both,
        "intersection_ratio": ratio(both, f + r - both),
        "intersection_weight": ratio(both, f + r),
        "survivor_overlap_ratio": ratio(both, f),
        "forward_only_count": f - both,
        "reverse_only_count": r - both,
    }


def allowed(n: int, window: int, need: int) -> int:
    """Return the misses allowed in a pass over n draws, in proportion to the sieve's window."""
    return n * (window - need) // window


def _pass(order: range, hits: Sequence[bool], misses_allowed: int) -> list[int]:
    matched: list[int] = []
    misses = 0
    for i in order:
        if hits[i]:
            matched.append(i)
            continue
        misses += 1
        if misses > misses_allowed:
            break
    return matched


def moments(p: Sequence[int], a: Sequence[int], hits: Sequence[bool]) -> dict[str, float]:
    """Describe outputs, draws and their differences."""
    residual = [x - y for x, y in zip(p, a, strict=True)]
    return {
        "exact_matches": sum(hits),
        "total_predictions": len(a),
        "pred_mean": mean(p),
        "pred_std": std(p),
        "pred_min": min(p),
        "pred_max": max(p),
        "actual_mean": mean(a),
        "actual_std": std(a),
        "residual_mean": mean(residual),
        "residual_std": std(residual),
        "residual_abs_mean": mean([abs(d) for d in residual]),
        "residual_max_abs": max(abs(d) for d in residual),
    }


def global_features(draws: Sequence[int], modulus: int) -> dict[str, float]:
    """Return the 14 features of the whole training history."""
    n, middle, spread = len(draws), mean(draws), std(draws)
    counts = Counter(draws)
    quarters = [quantile(draws, q) for q in (0.25, 0.5, 0.75)]
    third, fourth = (mean([(d - middle) ** k for d in draws]) for k in (3, 4))
    values: dict[str, float] = {
        "mean": middle,
        "std": spread,
        "min": min(draws),
        "max": max(draws),
        "median": quarters[1],
        "skew": third / spread**3 if spread else 0.0,
        "kurtosis": fourth / spread**4 - 3 if spread else 0.0,
        "entropy": entropy([counts[value] / n for value in range(modulus) if counts[value]]),
        "range": max(draws) - min(draws),
        "iqr": quarters[2] - quarters[0],
        "cv": spread / middle if middle else 0.0,
        "draw_count": n,
        "unique_ratio": len(counts) / n,
        "repeat_ratio": mean([float(x == y) for x, y in pairwise(draws)]),
    }
    return {f"global_{name}": float(value) for name, value in values.items()}


def mean(values: Sequence[float]) -> float:
    """Return the mean; 0 if there are no values."""
    return sum(values) / len(values) if values else 0.0


def std(values: Sequence[float]) -> float:
    """Return the population standard deviation."""
    middle = mean(values)
    return sqrt(mean([(v - middle) ** 2 for v in values]))


def rate(hits: Sequence[bool]) -> float:
    """Return the share of hits."""
    return sum(hits) / len(hits)


def ratio(part: float, whole: float) -> float:
    """Return a quotient; 0 if the divisor is 0."""
    return part / whole if whole else 0.0


def entropy(shares: Sequence[float]) -> float:
    """Return the entropy of a distribution, in bits."""
    return -sum(share * log2(share) for share in shares) + 0.0


def quantile(values: Sequence[int], q: float) -> float:
    """Return a quantile by linear interpolation between the two nearest values."""
    placed = sorted(values)
    at = q * (len(placed) - 1)
    low = int(at)
    high = min(low + 1, len(placed) - 1)
    return placed[low] + (at - low) * (placed[high] - placed[low])
