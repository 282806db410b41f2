"""The 62 features: their names, their order, and the check that none is missing.

docs/prng-pipeline.md explains each feature; `reference` defines them in plain Python and
`scorekernel` computes them fast.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from weft.errors import InputError

RESIDUE = (
    *(
        f"residue_{x}_{what}"
        for x in "abc"
        for what in ("match_rate", "coherence", "kl_divergence")
    ),
    "lane_agreement_a",
    "lane_agreement_b",
    "lane_consistency",
)
TEMPORAL = (
    "best_offset",
    *(f"temporal_stability_{what}" for what in ("mean", "std", "min", "max", "trend")),
    *(f"skip_{what}" for what in ("range", "mean", "std", "entropy")),
    "survivor_velocity",
    "velocity_acceleration",
    "forward_count",
    "reverse_count",
    *(f"intersection_{what}" for what in ("count", "ratio", "weight")),
    "survivor_overlap_ratio",
    "forward_only_count",
    "reverse_only_count",
)
STATISTICAL = (
    "exact_matches",
    "total_predictions",
    *(f"pred_{what}" for what in ("mean", "std", "min", "max")),
    "actual_mean",
    "actual_std",
    *(f"residual_{what}" for what in ("mean", "std", "abs_mean", "max_abs")),
)
METADATA = ("skip_min", "skip_max", "bidirectional_count", "bidirectional_selectivity")
GLOBAL = tuple(
    f"global_{what}"
    for what in (
        "mean", "std", "min", "max", "median", "skew", "kurtosis", "entropy", "range", "iqr", "cv",
        "draw_count", "unique_ratio", "repeat_ratio",
    )
)  # fmt: skip
PER_SURVIVOR = (*RESIDUE, *TEMPORAL, *STATISTICAL, *METADATA)
ALL = (*PER_SURVIVOR, *GLOBAL)
SKIP_GROUP = ("skip_range", "skip_mean", "skip_std", "skip_entropy")
"""Computed from all survivors of a seed in a window, not from the draws of one row."""
EXCLUDED = ("score", "confidence", "seed", "metadata")
"""Column names that are never features, in any table."""


def check_complete(names: Iterable[str], where: str, needed: Sequence[str] = ALL) -> None:
    """Refuse a table that lacks a feature, since models would learn from a silent zero.

    >>> check_complete(["pred_mean"], "table.parquet")
    Traceback (most recent call last):
    weft.errors.InputError: table.parquet lacks feature residue_a_match_rate (and 60 more)
    """
    present = set(names)
    missing = [name for name in needed if name not in present]
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise InputError(f"{where} lacks feature {missing[0]}{more}")


def names_hash(names: Iterable[str]) -> str:
    """Return the SHA-256 of feature names in order, to which a model is bound."""
    return hashlib.sha256("\n".join(names).encode()).hexdigest()
