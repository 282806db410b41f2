"""Fit the order of guesses of `weft arc` on puzzles with known outputs, and check it by halves.

    python tools/fit_arc_confidence.py features FEATURES.jsonl EVIDENCE.jsonl.gz [EVIDENCE ...]
    python tools/fit_arc_ranking.py FEATURES.jsonl [FEATURES.jsonl ...]

The model is a conditional logit (McFadden 1974): among the groups of a puzzle one of which has the
right outputs, a group is the right one with a probability that falls with its points. The sign of
each weight is fixed (`SIGNS`). Weights are fitted on each half of the puzzles' bases and measured
on the other half, for docs/benchmarks/arc-ranking.json, then fitted on both halves, for
src/weft/searches/arc/ranking.json.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from fit_arc_confidence import cross_fitted, explained, read_rows
from make_pseudo_puzzles import first_names

from weft.searches.arc.ranking import FEATURES, points
from weft.searches.arc.verdict import LIKELY

ROOT = Path(__file__).parents[1]
SHIPPED = ROOT / "src" / "weft" / "searches" / "arc" / "ranking.json"
REPORT = ROOT / "docs" / "benchmarks" / "arc-ranking.json"
SIGNS = dict.fromkeys(FEATURES, 1) | {"independent": -1}
"""Whether more of a feature speaks against a group (1) or for it (-1)."""
PENALTY = 3.0
"""Weight of the squared weights against the log-loss: chosen by cross-validation."""
BITS_SCALE = 0.1
"""Bits are counted in tens while fitting, since the other features are small."""
NATS = 1000
Row = Mapping[str, Any]
Weights = Mapping[str, int]


def fit(rows: Sequence[Row]) -> dict[str, int]:
    """Fit weights, in points, on the puzzles that have both a right group and a wrong one."""
    from scipy.optimize import minimize  # noqa: PLC0415 - the counts need no scipy

    own = [row for row in rows if row["right_groups"] and len(row["groups"]) > 1]
    scale = np.array([BITS_SCALE if name.startswith("bits") else 1.0 for name in FEATURES])
    x = np.concatenate([np.array(row["groups"], float) for row in own]) * scale
    sizes = [len(row["groups"]) for row in own]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    puzzle = np.repeat(np.arange(len(own)), sizes)
    right = starts + [row["right_groups"][0] for row in own]

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        z = -(x @ w)
        z -= np.maximum.reduceat(z, starts)[puzzle]
        p = np.exp(z)
        p /= np.add.reduceat(p, starts)[puzzle]
        slope = x[right].sum(axis=0) - x.T @ p + PENALTY * w
        return -np.log(p[right]).sum() + PENALTY * (w**2).sum() / 2, slope

    bounds = [(0, None) if SIGNS[name] > 0 else (None, 0) for name in FEATURES]
    start = np.zeros(len(FEATURES))
    fitted = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x * scale
    return {name: round(NATS * w) for name, w in zip(FEATURES, fitted.tolist(), strict=True)}


# -- halves ---------------------------------------------------------------------------------------


def place(row: Row, weights: Weights | None, permille: int) -> int | None:
    """Return the rank of the right group in the order of `verdict.ordered`; None if there is none.

    Without weights, groups are in order of cost.
    """
    order = list(range(len(row["groups"])))
    if weights is not None and order:
        values = [points(weights, dict(zip(FEATURES, f, strict=True))) for f in row["groups"]]
        first = [0] if permille >= LIKELY else []
        order = first + sorted(order[len(first) :], key=lambda n: values[n])
    return order.index(row["right_groups"][0]) if row["right_groups"] else None


def kind_of(row: Row) -> str:
    """Return the name of a puzzle's kind in the table."""
    half = ", half of the operators" if row["draw"] else ""
    if row["kind"] == "whole":
        number = 1 if row["base"] in first_names() else 2
        return f"tasks of ARC-AGI-{number} as they are{half}"
    return {"left": "one pair is the test", "few": "2 pairs, 1 test",
            "pairs": "2 pairs, up to 3 tests"}[row["kind"]] + half  # fmt: skip


def report(rows: Sequence[Row]) -> dict[str, Any]:
    """Count the puzzles that the first guess or the first two solve, by kind and half.

    `later` counts those whose right outputs are ranked third, fourth and below that.
    """
    confidence = {
        (row["name"], row["draw"]): permille
        for row, permille in cross_fitted(explained([dict(row) for row in rows]))
    }
    kinds: dict[str, Any] = {}
    for half in (0, 1):
        weights = fit([row for row in rows if row["half"] != half])
        for row in (row for row in rows if row["half"] == half):
            entry = kinds.setdefault(kind_of(row), [_nothing(), _nothing()])[half]
            entry["puzzles"] += 1
            entry["possible"] += bool(row["right_groups"])
            permille = confidence.get((row["name"], row["draw"]), 0)
            for name, own in (("cost", None), ("ranked", weights)):
                guess = place(row, own, permille)
                entry[name][0] += guess == 0
                entry[name][1] += guess in (0, 1)
            entry["later"][0] += guess == 2
            entry["later"][1] += guess == 3
            entry["later"][2] += guess is not None and guess > 3
    return {"kinds": kinds}


def _nothing() -> dict[str, Any]:
    return {"puzzles": 0, "possible": 0, "cost": [0, 0], "ranked": [0, 0], "later": [0, 0, 0]}


def main(words: Sequence[str]) -> None:
    """Fit; write the report and the weights."""
    if not words:
        raise SystemExit(__doc__)
    rows = read_rows(*map(Path, words))
    published = {**report(rows), "weights": fit(rows)}
    REPORT.write_text(json.dumps(published, indent=2) + "\n")
    SHIPPED.write_text(json.dumps(published["weights"], indent=1) + "\n")
    for name, halves in published["kinds"].items():
        for half, own in enumerate(halves):
            print(f"{name}, half {half}: {own}")
    print(published["weights"])


if __name__ == "__main__":
    main(sys.argv[1:])
