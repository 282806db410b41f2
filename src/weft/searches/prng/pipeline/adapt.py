"""Step 4: training parameters from the survivors and the complexity of the history.

A simple pure rule: integers in, integers out. It sees training draws and the labels of inner cuts,
never the holdout.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from weft.errors import InputError
from weft.model.codec import from_json
from weft.model.values import JsonValue
from weft.searches.prng.pipeline.reference import entropy
from weft.searches.prng.pipeline.request import FOLDS
from weft.searches.prng.statistics import decades, tail_evidence

MILLI = 1000
HOLDS = 3 * MILLI
"""Evidence on its block at which a survivor counts as held."""
BOUNDS = {
    "pool_size": (20, 5_000),
    "epochs": (10, 2_000),
    "trees": (10, 1_000),
    "depth": (2, 12),
    "min_leaf": (1, 100),
    "folds": (2, 6),
}


@dataclass(frozen=True, slots=True)
class Facts:
    """The input of the rule."""

    windows: int
    survivors: int
    held: int
    """Survivors of inner cuts whose hits on their block are far beyond chance."""
    draws: int
    entropy_permille: int
    """Entropy of the training draws, in permille of the maximum for this count and modulus."""


@dataclass(frozen=True, slots=True)
class TrainingParams:
    """Parameters of step 5."""

    pool_size: int
    """Survivors per window used for learning and ranking, those with the most hits."""
    layers: tuple[int, ...]
    epochs: int
    trees: int
    depth: int
    min_leaf: int
    folds: int
    schema_version: Literal[1] = 1


def read_training(raw: Mapping[str, JsonValue], where: str) -> TrainingParams:
    """Parse a user's training parameters. Raises InputError, which names what is wrong."""
    _check_names(raw, where)
    bounded = {name: _bounded(name, raw[name], where) for name in BOUNDS}
    return from_json(TrainingParams, {**bounded, "layers": _layers(raw["layers"], where)})


def _bounded(name: str, value: JsonValue, where: str) -> int:
    low, high = BOUNDS[name]
    if type(value) is not int or not low <= value <= high:
        raise InputError(f"{where}: {name} must be {low} to {high}, not {value!r:.40}")
    return value


def _layers(value: JsonValue, where: str) -> tuple[int, ...]:
    widths = value if isinstance(value, list) else []
    layers = tuple(n for n in widths if type(n) is int and 2 <= n <= 512)
    if len(layers) != len(widths) or not 1 <= len(layers) <= 4:
        raise InputError(f"{where}: layers must be 1 to 4 widths from 2 to 512, not {value!r:.40}")
    return layers


def _check_names(raw: Mapping[str, JsonValue], where: str) -> None:
    """Refuse missing and unknown parameters."""
    known = (*BOUNDS, "layers")
    for name in known:
        if name not in raw:
            raise InputError(
                f"{where}: {name} is missing", hint="weft prng adapt --apply writes it"
            )
    for name in raw:
        if name not in (*known, "schema_version"):
            raise InputError(f"{where}: unknown parameter {name[:40]!r}")


def facts_of(
    windows: int, labels: Sequence[tuple[int, int]], draws: Sequence[int], modulus: int
) -> Facts:
    """Return the facts; `labels` are pairs of hits and draws, of the survivors of inner cuts."""
    held = sum(tail_evidence(hits, of, modulus) >= HOLDS for hits, of in labels if of)
    counts = Counter(draws)
    bits = entropy([counts[value] / len(draws) for value in sorted(counts)])
    most = decades(min(modulus, len(draws)))
    permille = int(MILLI * bits * 301.03 / most) if most else MILLI
    return Facts(windows, len(labels), held, len(draws), min(MILLI, permille))


def derive(facts: Facts) -> TrainingParams:
    """Return the training parameters for the given facts.

    If few survivors held: shallow trees, small leaves, a small net. A history of low entropy is
    repetitive, so more survivors are used and the models may be deeper.
    """
    each = -(-facts.survivors // max(1, facts.windows))
    simple = facts.entropy_permille < 900
    pool = min(5_000 if simple else 2_000, max(50, each))
    wide = 32 if facts.held >= 50 else 16
    return TrainingParams(
        pool_size=pool,
        layers=(wide, wide // 2) if facts.held >= 20 else (wide,),
        epochs=min(400, max(60, 200_000 // max(1, facts.survivors))),
        trees=100 if facts.survivors < 20_000 else 200,
        depth=3 + (facts.held >= 20) + simple,
        min_leaf=max(1, min(20, facts.held // 6)),
        folds=FOLDS,
    )
