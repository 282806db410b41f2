"""Fit the confidence of `weft arc` on puzzles with known outputs, and check it on held-out halves.

    python tools/fit_arc_confidence.py features EVIDENCE.jsonl.gz FEATURES.jsonl
    python tools/fit_arc_confidence.py fit FEATURES.jsonl [FEATURES.jsonl ...]

Lines of features come from recorded evidence (`tools/record_arc_evidence.py`), which `features`
judges anew without any search, or from finished runs (`tools/collect_arc_features.py`). `fit` fits
a model on each half of the puzzles' bases and measures it on the other, writes that to
docs/benchmarks/arc-confidence.json, then fits on both and writes
src/weft/searches/arc/confidence.json.

The model is a logistic regression on levels of the features; the sign of each step from level to
level is fixed (`DIRECTIONS`), so that more evidence never lowers the confidence.
"""

from __future__ import annotations

import gzip
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from make_pseudo_puzzles import bases, first_names, puzzles_of

from weft.model.codec import from_json, to_json
from weft.searches.arc.assessment import Found, Standard, judge
from weft.searches.arc.confidence import (
    RIVAL_BITS,
    WHOLE,
    ConfidenceModel,
    FeaturePoints,
    PointScale,
)
from weft.searches.arc.evidence import Evidence
from weft.searches.arc.program import parse
from weft.searches.arc.support import BEHAVIOUR, FEATURES, SUPPORT
from weft.searches.arc.synthesis.ablation import CHECKS, CONFIDENCE
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.task import ArcTask
from weft.searches.arc.values import Grid
from weft.searches.arc.verdict import MARGIN, Outcome, TaskVerdict

ROOT = Path(__file__).parents[1]
SHIPPED = ROOT / "src" / "weft" / "searches" / "arc" / "confidence.json"
REPORT = ROOT / "docs" / "benchmarks" / "arc-confidence.json"


# -- features -------------------------------------------------------------------------------------


def example(task: ArcTask, truth: Sequence[Grid], verdict: TaskVerdict) -> dict[str, Any]:
    """Return one line: the features of the best answer, and the place of the true outputs."""
    ranks = [n for n, group in enumerate(verdict.groups) if group.outputs == truth]
    weighing = verdict.weighing
    confidence = None if weighing is None else weighing.confidence
    return {
        "name": task.name,
        "rank": ranks[0] if ranks else None,
        "features": None if confidence is None else dict(confidence.features),
    }


OTHER_RULES = {
    "confidence": Standard(without=(CONFIDENCE,), margin_millibits=MARGIN),
    "checks": Standard(without=(CHECKS,)),
}
"""By what an ablation leaves out: rules without a model that answer or do not."""


def judged(evidence: Path) -> Iterator[dict[str, Any]]:
    """Judge recorded evidence by the rules of today; one line per puzzle that is explained."""
    puzzles = {puzzle.name: puzzle for base in bases() for puzzle in puzzles_of(base)}
    with gzip.open(evidence, "rt", encoding="ascii") as lines:
        for row in map(json.loads, lines):
            task = puzzles[row["name"]]
            known = {parse(text): from_json(Evidence, own) for text, _, own in row["evidence"]}
            found = Found(*(_candidates(row, part) for part in ("found", "guesses")))
            verdict = judge(task.without_truth(), found, Standard(), known, exhausted=False)
            if verdict.weighing is not None:
                others = {
                    name: judge(task.without_truth(), found, rule, known, exhausted=False)
                    for name, rule in OTHER_RULES.items()
                }
                right = {
                    name: other.groups[0].outputs == task.truth
                    for name, other in others.items()
                    if other.outcome is Outcome.SOLVED
                }
                yield {**example(task, task.truth, verdict), "other_rules": right}


def _candidates(row: Mapping[str, Any], part: str) -> tuple[ProgramCandidate, ...]:
    """Read the programs of a line."""
    return tuple(
        ProgramCandidate(parse(text), millibits, bytes.fromhex(row["outputs"][n]), time, loo)
        for text, millibits, n, time, loo in row[part]
    )


# -- the model ------------------------------------------------------------------------------------

DIRECTIONS: dict[str, tuple[int, tuple[int, ...]]] = {
    "family": (0, ()),
    "bits": (-1, (8, 12, 16, 20, 25, 30, 40, 50, 60, 75, 100, 125)),
    "margin_bits": (1, (-20, -8, 0, 4, 8, 16, 32, 99)),
    "price_margin_bits": (1, (4, 8, 16, 32, 64, 99)),
    "competitors": (-1, (1, 2, 4, 8)),
    "agreeing": (1, (2, 3, 4, 5, 6)),
    "loo_lacking": (-1, (1, 2)),
    "refuted": (-1, (1,)),
    "inconsistent": (-1, (1, 3)),
    "violated": (-1, (1, 2)),
    "step_constants": (-1, (1, 2, 4, 8)),
    "step_ranges": (-1, (1, 2, 4)),
    "output_constants": (-1, (1, 2, 3, 5)),
    "output_ranges": (-1, (1, 2, 3, 5)),
    "output_changes": (-1, (1, 2)),
    "pairs": (1, (3, 4, 5)),
    "tests": (-1, (2, 3)),
    "target_bits": (1, (5, 6, 7, 8, 9, 10, 11, 12)),
    "surplus_bits": (1, (0, 20, 40, 80, 160, 320, 640)),
    "found_late": (-1, (8, 10, 12, 14, 15)),
    "independent": (1, (2, 3, 4)),
    "lists_agree": (1, (1, 2, 4)),
    "lists_differ": (-1, (1, 2, 4)),
    "input_constants": (-1, (1, 2, 4)),
    "input_ranges": (-1, (1, 2, 4)),
    "input_colours": (-1, (1, 2)),
}
"""By feature: whether more of it speaks for an answer (1) or against it (-1), and its levels.

The kind of a program has none: levels of it helped on the half they were fitted on and not on the
other. It is recorded so that this can be tried again."""
assert tuple(DIRECTIONS) == FEATURES
PENALTY = 5.0
"""Weight of the squared steps against the log-loss: chosen by the halves."""
FEW = 2
"""Pairs of a puzzle that has few: its points are scaled apart."""
FOLDS = 5
NATS = 1000
"""Points are thousandths of a nat."""


def levels_of(rows: Sequence[Mapping[str, int]], names: Sequence[str]) -> np.ndarray:
    """Encode features as steps: 1 for each threshold reached."""
    columns = [
        [row[name] >= threshold for row in rows]
        for name in names
        for threshold in DIRECTIONS[name][1]
    ]
    return np.array(columns, float).reshape(len(columns), len(rows)).T


def fit_steps(
    x: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
    signs: np.ndarray,
    penalty: float = PENALTY,
) -> tuple[float, np.ndarray]:
    """Fit a logistic regression whose steps keep their signs; return the base and the steps."""
    from scipy.optimize import minimize  # noqa: PLC0415 - features need no scipy

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        z = w[0] + x @ w[1:]
        p = 1 / (1 + np.exp(-z))
        value = (weights * (np.logaddexp(0, z) - y * z)).sum() + penalty * (w[1:] ** 2).sum() / 2
        slope = x.T @ (weights * (p - y)) + penalty * w[1:]
        return value, np.concatenate([[(weights * (p - y)).sum()], slope])

    bounds = [(None, None), *((0 if s > 0 else None, 0 if s < 0 else None) for s in signs)]
    found = minimize(loss, np.zeros(x.shape[1] + 1), jac=True, bounds=bounds, method="L-BFGS-B")
    return float(found.x[0]), found.x[1:]


def fit(
    rows: Sequence[Mapping[str, Any]], weights: Sequence[float], names: Sequence[str]
) -> ConfidenceModel:
    """Fit on rows with `features`, `right` and `base`; scale by scores of folds not fitted on."""
    x, y = levels_of([row["features"] for row in rows], names), np.array([r["right"] for r in rows])
    w = np.array(weights)
    signs = np.array([DIRECTIONS[name][0] for name in names for _ in DIRECTIONS[name][1]])
    folds = np.array([int(row["base"], 16) % FOLDS for row in rows])
    scores = np.zeros(len(rows))
    for fold in range(FOLDS):
        own, other = folds == fold, folds != fold
        base, steps = fit_steps(x[other], y[other], w[other], signs)
        scores[own] = base + x[own] @ steps
    base, steps = fit_steps(x, y, w, signs)
    return model_of(names, base, steps, scales_of(rows, scores, y, w))


def scales_of(
    rows: Sequence[Mapping[str, Any]], scores: np.ndarray, y: np.ndarray, weights: np.ndarray
) -> list[PointScale]:
    """Fit how scores count (Platt scaling), apart for puzzles with few pairs and with more.

    Answers with a rival do not count: their confidence is limited.
    """
    rivalled = np.array([row["features"]["price_margin_bits"] < RIVAL_BITS for row in rows])
    pairs = np.where(rivalled, 0, [row["features"]["pairs"] for row in rows])
    scales = []
    for least, own in ((FEW, (pairs > 0) & (pairs <= FEW)), (FEW + 1, pairs > FEW)):
        free = np.array([1])
        shift, scale = fit_steps(scores[own][:, None], y[own], weights[own], free, penalty=0.0)
        scales.append(PointScale(least, round(1000 * scale[0]), round(NATS * shift)))
    return scales


def model_of(
    names: Sequence[str], base: float, steps: Sequence[float], scales: Sequence[PointScale]
) -> ConfidenceModel:
    """Round to integers, and add the table from points to permille."""
    features, at = [], 0
    for name in names:
        thresholds = DIRECTIONS[name][1]
        own = np.rint(NATS * np.cumsum([0.0, *steps[at : at + len(thresholds)]])).astype(int)
        at += len(thresholds)
        if own.any():
            features.append(FeaturePoints(name, thresholds, tuple(own.tolist())))
    return ConfidenceModel(round(NATS * base), tuple(features), tuple(scales), least_points())


def least_points() -> tuple[int, ...]:
    """Return the points from which 1, 2, … 999 permille are the nearest."""
    return tuple(round(NATS * math.log((p - 0.5) / (1000.5 - p))) for p in range(1, 1000))


def shipped(models: Mapping[str, ConfidenceModel]) -> str:
    """Write models as `confidence.model` reads them."""
    bodies: dict[str, Any] = {}
    for name, model in models.items():
        body = to_json(model)
        bodies[name] = {key: body[key] for key in ("base_points", "scales", "features")}
    lines = [f'"least_points": {json.dumps(least_points())}']
    for name, body in bodies.items():
        rows = ",\n    ".join(json.dumps(feature) for feature in body["features"])
        scales = json.dumps(body["scales"])
        head = f'"base_points": {body["base_points"]}, "scales": {scales}, "features": ['
        lines.append(f'  "{name}": {{{head}\n    {rows}]}}')
    return "{" + lines[0] + ',\n "models": {\n' + ",\n".join(lines[1:]) + "}}\n"


# -- halves ---------------------------------------------------------------------------------------

BINS = (0, 500, 800, 900, 950, 980)
"""Where the bins of the published reliability diagram begin, in permille."""
LEAST = (870, 900, 950, 980)
"""Least confidences, in permille, that right and wrong answers are counted at."""
LEFT_OUT: dict[str, tuple[str, ...]] = {
    WHOLE: (),
    "behaviour": BEHAVIOUR,
    "support": SUPPORT,
    "behaviour+support": (*BEHAVIOUR, *SUPPORT),
}
"""Models that are fitted, and the features that each does without."""


def read_rows(*paths: Path) -> list[dict[str, Any]]:
    """Read the puzzles that have an explanation; one that is in several files only once."""
    rows, lines = [], [line for path in paths for line in path.read_text().splitlines()]
    by_name = {row["name"]: row for row in map(json.loads, reversed(lines))}
    for _, row in sorted(by_name.items()):
        base, half, kind, _ = row["name"].split("-")
        if row["features"] is not None:
            rows.append({**row, "base": base, "half": int(half[1]), "kind": kind,
                         "right": row["rank"] == 0})  # fmt: skip
    return rows


def weights_of(rows: Sequence[Mapping[str, Any]]) -> list[float]:
    """Weigh all puzzles alike."""
    return [1.0] * len(rows)


def fitted_on(rows: Sequence[Mapping[str, Any]], left_out: Sequence[str]) -> ConfidenceModel:
    """Fit without some features."""
    names = [name for name in FEATURES if name not in left_out]
    return fit(rows, weights_of(rows), names)


def cross_fitted(
    rows: Sequence[Mapping[str, Any]], left_out: Sequence[str] = ()
) -> list[tuple[Mapping[str, Any], int]]:
    """Return every puzzle with its confidence by the model fitted on the other half."""
    scored = []
    for half in (0, 1):
        model = fitted_on([row for row in rows if row["half"] != half], left_out)
        own = [row for row in rows if row["half"] == half]
        scored += [(row, model.confidence_permille(row["features"])) for row in own]
    return scored


def reliability(scored: Sequence[tuple[Mapping[str, Any], int]]) -> list[dict[str, Any]]:
    """Compare the confidence with the share of right answers, bin by bin."""
    found = []
    for low, high in zip(BINS, (*BINS[1:], 1001), strict=True):
        own = [(row, permille) for row, permille in scored if low <= permille < high]
        if own:
            found.append({
                "from": low, "to": high, "answers": len(own),
                "right": sum(row["right"] for row, _ in own),
                "confidence": sum(permille for _, permille in own) / len(own) / 1000,
            })  # fmt: skip
    return found


def counts(scored: Sequence[tuple[Mapping[str, Any], int]], least: int) -> dict[str, int]:
    """Count right and wrong answers at a confidence, and right ones there would be at any."""
    own = [row["right"] for row, permille in scored if permille >= least]
    return {"right": sum(own), "wrong": len(own) - sum(own),
            "possible": sum(row["right"] for row, _ in scored)}  # fmt: skip


def report(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what is published: cross-fitted counts by kind of puzzle, and the diagram."""
    scored = cross_fitted(rows)
    kinds: dict[str, Any] = {}
    for name, chosen in KINDS.items():
        own = [(row, permille) for row, permille in scored if chosen(row)]
        kinds[name] = {str(least): counts(own, least) for least in LEAST}
    ablation: dict[str, Any] = {}
    training: dict[str, Any] = {}
    for name, left_out in LEFT_OUT.items():
        own = cross_fitted(rows, left_out) if left_out else scored
        ablation[name] = {str(least): counts(own, least) for least in LEAST}
        given = [(row, permille) for row, permille in own if _is_training(row)]
        training[name] = {str(least): counts(given, least) for least in LEAST}
    for name in OTHER_RULES:
        answers = [row["other_rules"].get(name) for row in rows if _is_training(row)]
        training[name] = {"right": answers.count(True), "wrong": answers.count(False)}
    return {
        "puzzles": len(rows),
        "reliability": reliability(scored),
        "kinds": kinds,
        "ablation": ablation,
        "training": training,
    }


def _is_training(row: Mapping[str, Any]) -> bool:
    """Whether a puzzle is a training task of ARC-AGI-1 as it is."""
    return row["kind"] == "whole" and row["base"] in first_names()


def _shape(row: Mapping[str, Any], pairs: int, tests: int) -> bool:
    return bool(row["features"]["pairs"] == pairs and row["features"]["tests"] == tests)


KINDS: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    "all": lambda _: True,
    "training tasks as they are": lambda row: row["kind"] == "whole",
    "2 pairs, 3 tests": lambda row: _shape(row, 2, 3),
    "2 pairs, 2 tests": lambda row: _shape(row, 2, 2),
    "2 pairs, 1 test": lambda row: _shape(row, 2, 1),
    "3 pairs or more": lambda row: row["features"]["pairs"] > 2,
}


def main(words: Sequence[str]) -> None:
    """Compute features, or fit and write."""
    match words:
        case ["features", source, target]:
            lines = (json.dumps(line) + "\n" for line in judged(Path(source)))
            Path(target).write_text("".join(lines), encoding="ascii")
        case ["fit", *sources] if sources:
            rows = read_rows(*map(Path, sources))
            published = report(rows)
            REPORT.write_text(json.dumps(published, indent=2) + "\n")
            models = {name: fitted_on(rows, left_out) for name, left_out in LEFT_OUT.items()}
            SHIPPED.write_text(shipped(models))
            print(json.dumps(published, indent=1))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
