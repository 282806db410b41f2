"""Fit the confidence of `weft arc` on puzzles with known outputs, and check it on held-out halves.

    python tools/fit_arc_confidence.py features FEATURES.jsonl EVIDENCE.jsonl.gz [EVIDENCE ...]
    python tools/fit_arc_confidence.py fit FEATURES.jsonl [FEATURES.jsonl ...]

`features` judges recorded evidence (`tools/record_arc_evidence.py`) again, without any search, and
writes a line of features per puzzle. `fit` fits a model on each half of the puzzles' bases and
measures it on the other half, writes the results to docs/benchmarks/arc-confidence.json, then fits
on both halves and writes src/weft/searches/arc/confidence.json.

The operators were designed on the tasks that these puzzles are derived from, so right programs are
found more often, and accidental fits are rarer, than elsewhere. So evidence is recorded from two
searches: with all operators (draw 0) and with half of them (draw 1).

The model is a logistic regression on levels of the features; the sign of each step from level to
level is fixed (`DIRECTIONS`), so that more evidence never lowers the confidence.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from make_pseudo_puzzles import bases, first_names, puzzles_of

from weft.model.codec import from_json, to_json
from weft.searches.arc.assessment import Found, Standard, examined, judge, needed
from weft.searches.arc.confidence import (
    SURE,
    WHOLE,
    ConfidenceModel,
    FeaturePoints,
    is_limited,
)
from weft.searches.arc.evidence import Evidence
from weft.searches.arc.plausibility import Plausibility
from weft.searches.arc.program import Program, parse
from weft.searches.arc.ranking import Ranking
from weft.searches.arc.support import BEHAVIOUR, FEATURES, SUPPORT
from weft.searches.arc.synthesis.ablation import CHECKS, CONFIDENCE
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.task import ArcTask
from weft.searches.arc.values import Grid
from weft.searches.arc.verdict import MARGIN, Group, Outcome, TaskVerdict

ROOT = Path(__file__).parents[1]
SHIPPED = ROOT / "src" / "weft" / "searches" / "arc" / "confidence.json"
REPORT = ROOT / "docs" / "benchmarks" / "arc-confidence.json"


# -- features -------------------------------------------------------------------------------------


def example(task: ArcTask, truth: Sequence[Grid], verdict: TaskVerdict) -> dict[str, Any]:
    """Return the features of the best explanation, and whether it is right."""
    weighing = verdict.weighing
    confidence = None if weighing is None else weighing.confidence
    if weighing is None or confidence is None:
        return {"name": task.name, "right": False, "features": None}
    right = verdict.groups[weighing.place].outputs == truth
    return {"name": task.name, "right": right, "features": dict(confidence.features)}


def guesses(task: ArcTask, found: Found, groups: Sequence[Group]) -> dict[str, Any]:
    """Return the features of all groups, in order of cost, for the ranking."""
    own = Ranking(Plausibility(task.without_truth()), found.candidates, found.guesses)
    return {
        "groups": [list(own.features(group).values()) for group in groups],
        "right_groups": [n for n, group in enumerate(groups) if group.outputs == task.truth],
    }


OTHER_RULES = {
    "confidence": Standard(without=(CONFIDENCE,), margin_millibits=MARGIN),
    "checks": Standard(without=(CHECKS,)),
}
"""By the part that an ablation leaves out: standards that judge without the model."""


def judged(*evidence: Path) -> Iterator[dict[str, Any]]:
    """Judge recorded evidence by the current rules; yields a line for each puzzle."""
    puzzles = {puzzle.name: puzzle for base in bases() for puzzle in puzzles_of(base)}
    for path in evidence:
        with gzip.open(path, "rt", encoding="ascii") as lines:
            for row in map(json.loads, lines):
                if "error" not in row:
                    yield from _judged(puzzles[row["name"]], row)


def _judged(task: ArcTask, row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    known = {parse(text): from_json(Evidence, own) for text, _, own in row["evidence"]}
    candidates = Found(*(candidates_of(row, part) for part in ("found", "guesses")))
    verdict = verdict_of(task, candidates, Standard(), known)
    others = {n: verdict_of(task, candidates, rule, known) for n, rule in OTHER_RULES.items()}
    right = {
        name: other.groups[0].outputs == task.truth
        for name, other in others.items()
        if other.outcome is Outcome.SOLVED
    }
    yield {
        **example(task, task.truth, verdict),
        **guesses(task, candidates, others["confidence"].groups),
        "draw": row["draw"],
        "other_rules": right,
    }


def verdict_of(
    task: ArcTask, found: Found, rule: Standard, known: dict[Program, Evidence]
) -> TaskVerdict:
    """Judge the programs that were found; evidence that was not recorded is gathered."""
    blind, own = task.without_truth(), {}
    for each in needed(found, rule):
        if each.program not in known:
            known[each.program] = examined(blind, rule, each)
        own[each.program] = known[each.program]
    return judge(blind, found, rule, own, exhausted=False)


def candidates_of(row: Mapping[str, Any], part: str) -> tuple[ProgramCandidate, ...]:
    """Decode the programs of a line."""
    return tuple(
        ProgramCandidate(parse(text), millibits, bytes.fromhex(row["outputs"][n]), time, loo)
        for text, millibits, n, time, loo in row[part]
    )


# -- the model ------------------------------------------------------------------------------------

DIRECTIONS: dict[str, tuple[int, tuple[int, ...]]] = {
    "price_bits": (-1, (10, 20, 30, 40, 50, 60, 75, 100, 130, 160, 200)),
    "price_margin_bits": (1, (4, 8, 16, 32, 64, 99)),
    "posterior_bits": (1, (-60, -20, 0, 4, 8, 12, 18, 25, 45, 99)),
    "competitors": (-1, (1, 2, 4, 8)),
    "agreeing": (1, (2, 3, 4, 5, 6)),
    "inconsistent": (-1, (1, 3)),
    "violated": (-1, (1, 2)),
    "plausible_bits": (1, (-90, -30, 0, 8, 14, 20, 28, 36, 60, 99)),
    "step_constants": (-1, (1, 2, 4, 8)),
    "output_constants": (-1, (1, 2, 3, 5)),
    "output_changes": (-1, (1, 2)),
    "pairs": (1, (3, 4, 5)),
    "tests": (-1, (2, 3)),
    "surplus_bits": (1, (0, 20, 40, 80, 160, 320, 640)),
    "independent": (1, (2, 3, 4)),
    "lists_agree": (1, (1, 2, 4)),
    "lists_differ": (-1, (1, 2, 4)),
    "input_constants": (-1, (1, 2, 4)),
    "input_colours": (-1, (1, 2)),
    "symmetry_gap": (-1, (1, 2)),
    "repeated_outputs": (-1, (1,)),
}
"""By feature: whether more of it speaks for an answer (1) or against it (-1), and its levels.

Left out because they did not help on bases that were not fitted on: the kind and the length of a
program, its margin before doubts, when it was found, what the outputs say, values out of range."""
assert tuple(DIRECTIONS) == FEATURES
PENALTY = 8.0
"""Weight of the squared steps against the log-loss: chosen by cross-validation."""
FOLDS = 5
BEND = 2.0
"""Score above which scores have another factor: a probability of 0.88. Also tried: other bends, two
bends, isotonic regression, beta calibration."""
SCALE_PENALTY = 0.5
LEAST_FACTOR = 0.1
NUMBERS = ("base_points", "bend_points", "slope_permille")
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
    signs: np.ndarray,
    penalty: float = PENALTY,
) -> tuple[float, np.ndarray]:
    """Fit a logistic regression whose steps keep their signs; return the base and the steps."""
    from scipy.optimize import minimize  # noqa: PLC0415 - features need no scipy

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        z = w[0] + x @ w[1:]
        p = 1 / (1 + np.exp(-z))
        value = (np.logaddexp(0, z) - y * z).sum() + penalty * (w[1:] ** 2).sum() / 2
        slope = x.T @ (p - y) + penalty * w[1:]
        return value, np.concatenate([[(p - y).sum()], slope])

    bounds = [(None, None), *((0 if s > 0 else None, 0 if s < 0 else None) for s in signs)]
    optimum = minimize(loss, np.zeros(x.shape[1] + 1), jac=True, bounds=bounds, method="L-BFGS-B")
    return float(optimum.x[0]), optimum.x[1:]


def fit(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> ConfidenceModel:
    """Fit on rows with `features`, `right` and `base`; fit the scale on out-of-fold scores."""
    x, y = levels_of([row["features"] for row in rows], names), np.array([r["right"] for r in rows])
    signs = np.array([DIRECTIONS[name][0] for name in names for _ in DIRECTIONS[name][1]])
    folds = np.array([int(row["base"], 16) % FOLDS for row in rows])
    scores = np.zeros(len(rows))
    for fold in range(FOLDS):
        own, other = folds == fold, folds != fold
        base, steps = fit_steps(x[other], y[other], signs)
        scores[own] = base + x[own] @ steps
    base, steps = fit_steps(x, y, signs)
    return model_of(names, base, steps, scale_of(rows, scores, y))


@dataclass(frozen=True, slots=True)
class Scale:
    """The scaling of scores: the shift, the factor below the bend and the one above it."""

    shift: float
    below: float
    above: float

    @property
    def bend(self) -> float:
        """The bend after scaling."""
        return self.shift + self.below * BEND


def scale_of(rows: Sequence[Mapping[str, Any]], scores: np.ndarray, y: np.ndarray) -> Scale:
    """Fit the scale of scores: Platt scaling, with another factor above the bend.

    Puzzles whose confidence is limited are excluded.
    """
    own = np.array([not is_limited(row["features"]) for row in rows])
    pieces = np.stack([np.minimum(scores, BEND), np.maximum(scores - BEND, 0)], axis=1)
    shift, (below, above) = fit_steps(pieces[own], y[own], np.ones(2), penalty=SCALE_PENALTY)
    return Scale(shift, max(float(below), LEAST_FACTOR), float(above))


def model_of(names: Sequence[str], base: float, steps: np.ndarray, scale: Scale) -> ConfidenceModel:
    """Return the model, rounded to integers, with the table from points to permille."""
    base, steps = scale.shift + scale.below * base, scale.below * steps
    features, at = [], 0
    for name in names:
        thresholds = DIRECTIONS[name][1]
        own = np.rint(NATS * np.cumsum([0.0, *steps[at : at + len(thresholds)]])).astype(int)
        at += len(thresholds)
        if own.any():
            features.append(FeaturePoints(name, thresholds, tuple(own.tolist())))
    bend, slope = round(NATS * scale.bend), round(1000 * scale.above / scale.below)
    return ConfidenceModel(round(NATS * base), bend, slope, tuple(features), least_points())


def least_points() -> tuple[int, ...]:
    """Return the lowest points that round to 1, 2, … 999 permille."""
    return tuple(round(NATS * math.log((p - 0.5) / (1000.5 - p))) for p in range(1, 1000))


def shipped(models: Mapping[str, ConfidenceModel]) -> str:
    """Format models as `confidence.model` reads them."""
    bodies: dict[str, Any] = {}
    for name, model in models.items():
        body = to_json(model)
        bodies[name] = {key: body[key] for key in (*NUMBERS, "features")}
    lines = [f'"least_points": {json.dumps(least_points())}']
    for name, body in bodies.items():
        rows = ",\n    ".join(json.dumps(feature) for feature in body["features"])
        head = ", ".join(f'"{key}": {body[key]}' for key in NUMBERS) + ', "features": ['
        lines.append(f'  "{name}": {{{head}\n    {rows}]}}')
    return "{" + lines[0] + ',\n "models": {\n' + ",\n".join(lines[1:]) + "}}\n"


# -- halves ---------------------------------------------------------------------------------------

Scored = tuple[Mapping[str, Any], int]
"""A puzzle and the confidence in its answer."""
BINS = (0, 500, 800, 900, 950, 980)
"""Lower ends of the bins in the published reliability diagram, in permille."""
HALVINGS = 10
"""Number of random halvings of the bases for which reliability is also measured: in a single
one, bins of a few hundred puzzles vary by several points."""
LEAST = (800, 850, 900, 930, 950, 980)
"""Minimum confidences, in permille, at which right and wrong answers are counted."""
LEFT_OUT: dict[str, tuple[str, ...]] = {
    WHOLE: (),
    "behaviour": BEHAVIOUR,
    "support": SUPPORT,
    "behaviour+support": (*BEHAVIOUR, *SUPPORT),
}
"""The models to fit, and the features that each leaves out."""


def read_rows(*paths: Path) -> list[dict[str, Any]]:
    """Read puzzles; one that is in several files is read from the first."""
    lines = [line for path in paths for line in path.read_text().splitlines()]
    by_name = {(row["name"], row["draw"]): row for row in map(json.loads, reversed(lines))}
    rows = []
    for _, row in sorted(by_name.items()):
        base, half, kind, _ = row["name"].split("-")
        rows.append({**row, "base": base, "half": int(half[1]), "kind": kind})
    return rows


def explained(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the puzzles that have an explanation."""
    return [row for row in rows if row["features"] is not None]


def fitted_on(rows: Sequence[Mapping[str, Any]], left_out: Sequence[str]) -> ConfidenceModel:
    """Fit a model without some features."""
    names = [name for name in FEATURES if name not in left_out]
    return fit(rows, names)


def cross_fitted(
    rows: Sequence[Mapping[str, Any]], left_out: Sequence[str] = (), halving: int | None = None
) -> list[Scored]:
    """Return every puzzle with its confidence by the model fitted on the other half.

    `halving` is the number of a random halving; without it, halves are those by digest.
    """
    scored = []
    for half in (0, 1):
        model = fitted_on([row for row in rows if half_of(row, halving) != half], left_out)
        own = [row for row in rows if half_of(row, halving) == half]
        scored += [(row, model.confidence_permille(row["features"])) for row in own]
    return scored


def half_of(row: Mapping[str, Any], halving: int | None) -> int:
    """Return the half of a puzzle; all puzzles of one base are in the same."""
    if halving is None:
        return int(row["half"])
    return hashlib.sha256(f"{halving} {row['base']}".encode()).digest()[0] % 2


def reliability(scored: Sequence[Scored]) -> list[dict[str, Any]]:
    """Compare the confidence with the share of right answers, bin by bin."""
    bins = []
    for low, high in zip(BINS, (*BINS[1:], 1001), strict=True):
        own = [(row, permille) for row, permille in scored if low <= permille < high]
        if own:
            bins.append({
                "from": low, "to": high, "answers": len(own),
                "bases": len({row["base"] for row, _ in own}),
                "right": sum(row["right"] for row, _ in own) / len(own),
                "confidence": sum(permille for _, permille in own) / len(own) / 1000,
                "error": sampling_error(own),
            })  # fmt: skip
    return bins


def sampling_error(scored: Sequence[Scored]) -> float:
    """Return the standard error of the share of right answers, less their mean confidence.

    Puzzles derived from one task are right and wrong together, so the sampling unit is the task.
    """
    by_base: dict[str, float] = {}
    for row, permille in scored:
        by_base[row["base"]] = by_base.get(row["base"], 0.0) + row["right"] - permille / 1000
    return math.sqrt(math.fsum(gap * gap for gap in by_base.values())) / len(scored)


def counts(scored: Sequence[Scored], least: int) -> dict[str, int]:
    """Count right and wrong answers at a minimum confidence, and right ones at any."""
    own = [row["right"] for row, permille in scored if permille >= least]
    return {"right": sum(own), "wrong": len(own) - sum(own),
            "possible": sum(row["right"] for row, _ in scored)}  # fmt: skip


def report(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the published figures: cross-fitted counts by kind of puzzle, and the diagram."""
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
        whole = [(row, permille) for row, permille in own if _is_training(row)]
        training[name] = {str(least): counts(whole, least) for least in LEAST}
    for name in OTHER_RULES:
        answers = [row["other_rules"].get(name) for row in rows if _is_training(row)]
        training[name] = {"right": answers.count(True), "wrong": answers.count(False)}
    return {
        "puzzles": len(rows),
        "right": sum(row["right"] for row in rows),
        "default": SURE,
        "reliability": reliability(scored),
        "halvings": HALVINGS,
        "reliability_of_halvings": reliability(
            [each for n in range(HALVINGS) for each in cross_fitted(rows, halving=n)]
        ),
        "kinds": kinds,
        "ablation": ablation,
        "training": training,
    }


Chosen = Callable[[Mapping[str, Any]], bool]


def _is_training(row: Mapping[str, Any]) -> bool:
    """Whether a puzzle is an unmodified training task of ARC-AGI-1, with all operators."""
    return _is_whole(0)(row) and row["base"] in first_names()


def _is_whole(draw: int) -> Chosen:
    return lambda row: row["kind"] == "whole" and row["draw"] == draw


def _shape(pairs: int, tests: int) -> Chosen:
    features = {"pairs": pairs, "tests": tests}
    return lambda row: features.items() <= row["features"].items()


KINDS: dict[str, Chosen] = {
    "all": lambda _: True,
    "tasks of ARC-AGI-1 as they are": _is_training,
    "new tasks of ARC-AGI-2 as they are": lambda row: _is_whole(0)(row) and not _is_training(row),
    "tasks as they are, half of the operators": _is_whole(1),
    "2 pairs, 3 tests": _shape(2, 3),
    "2 pairs, 2 tests": _shape(2, 2),
    "2 pairs, 1 test": _shape(2, 1),
    "3 pairs or more": lambda row: row["features"]["pairs"] > 2,
}


def main(words: Sequence[str]) -> None:
    """Compute features, or fit and write."""
    match words:
        case ["features", target, *sources] if sources:
            lines = (json.dumps(line) + "\n" for line in judged(*map(Path, sources)))
            Path(target).write_text("".join(lines), encoding="ascii")
        case ["fit", *sources] if sources:
            rows = explained(read_rows(*map(Path, sources)))
            published = report(rows)
            REPORT.write_text(json.dumps(published, indent=2) + "\n")
            models = {name: fitted_on(rows, left_out) for name, left_out in LEFT_OUT.items()}
            SHIPPED.write_text(shipped(models))
            print(json.dumps(published, indent=1))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
