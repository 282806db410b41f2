"""The pages of a pipeline run: steps, optimizer history, survivor scores, calibration, nulls.

Everything is drawn from the run's artifacts; steps not yet done are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from weft.model.values import Object
from weft.prng.pipeline import artifact, table
from weft.prng.pipeline.steps import TITLES
from weft.prng.pipeline.summary import StepSeen, artifacts_of, end_line, steps_of
from weft.report.hook import Page
from weft.report.svg import drawing, element
from weft.report.svg import table as html_table
from weft.report.text import duration
from weft.report.view import RunView

WIDTH, HEIGHT, EDGE = 640, 200, 36
MAX_POINTS = 2_000


def pages(run: RunView) -> list[Page]:
    """Make the page of a pipeline run."""
    found = artifacts_of(run)
    parts = [
        element("p", end_line(run)),
        _steps(steps_of(run)),
        _trials("Window optimizer: evidence on disjoint draws", _json(run, found, "window"), 1000),
        _trials("Scorer: variance explained", _json(run, found, "scorer"), 1000),
        _scores(run, found),
    ]
    sidecar = _json(run, found, "sidecar")
    if sidecar is not None:
        parts += [_models(sidecar), _calibration(sidecar), _nulls(sidecar), _claims(sidecar)]
    return [Page("Pipeline", Markup("").join(parts), order=1)]


def _json(run: RunView, found: Mapping[str, Object], name: str) -> dict[str, Any] | None:
    return artifact.unpack(name, run.read(found[name])) if name in found else None


def _steps(steps: Sequence[StepSeen]) -> Markup:
    rows = [
        [
            one.step,
            TITLES[one.step],
            "done" if one.done or one.earlier else "not done",
            "" if one.count is None else f"{one.count:,}",
            duration(one.seconds) if one.tasks else "",
        ]
        for one in steps
    ]
    return html_table(["step", "", "", "count", "time"], rows)


def _trials(title: str, body: Mapping[str, Any] | None, unit: int) -> Markup:
    """Each trial's worth, and the best so far."""
    values = [trial["value"] / unit for trial in (body or {}).get("trials", [])]
    if not values:
        return Markup("")
    best = [max(values[: at + 1]) for at in range(len(values))]
    dots = [(float(at + 1), value) for at, value in enumerate(values)]
    line = [(float(at + 1), value) for at, value in enumerate(best)]
    return element("h3", title) + plot(dots, line, "trial", f"{title}, {len(values)} trials")


def _scores(run: RunView, found: Mapping[str, Object]) -> Markup:
    """Window hits of survivors against hits on the draws after their cut."""
    names = sorted(name for name in found if name.startswith(artifact.SCORED))
    dots: list[tuple[float, float]] = []
    for name in names:
        piece = table.from_parquet(run.read(found[name]))
        rows = piece.sort("hits", descending=True, maintain_order=True)[: MAX_POINTS - len(dots)]
        draws = [max(1, many) for many in rows["label_draws"].to_list()]
        rates = [h / d for h, d in zip(rows["label_hits"].to_list(), draws, strict=True)]
        dots += [(float(h), rate) for h, rate in zip(rows["hits"].to_list(), rates, strict=True)]
    if not dots:
        return Markup("")
    title = "Survivors: hits in the window, and hit rate after the cut"
    return element("h3", title) + plot(dots, [], "hits in the window", title)


def _models(sidecar: Mapping[str, Any]) -> Markup:
    rows = [
        [
            trial["kind"],
            f"{trial['value'] / 1000:.3f}",
            f"{trial['train'] / 1000:.3f}",
            "overfit" if trial["overfit"] else "",
        ]
        for trial in sidecar["metrics"].get("trials", [])
    ]
    if not rows:
        return element("p", "No model was trained.", class_="quiet")
    heads = ["model", "explained on folds not seen", "in training", ""]
    return element("h3", f"Models (chosen: {sidecar['model_kind']})") + html_table(heads, rows)


def _calibration(sidecar: Mapping[str, Any]) -> Markup:
    bins = sidecar["metrics"].get("calibration", [])
    if not bins:
        return Markup("")
    dots = [(expected, observed) for expected, observed, _ in bins]
    top = max(1e-9, *(x for x, _ in dots), *(y for _, y in dots))
    title = "Calibration on the holdout: expected and observed hit rate"
    return element("h3", title) + plot(dots, [(0.0, 0.0), (top, top)], "expected", title)


def _nulls(sidecar: Mapping[str, Any]) -> Markup:
    """How many holdout draws the vote hit: histories without signal, and this one."""
    reruns = sidecar["reruns"]
    if reruns is None:
        return Markup("")
    counts = Counter(reruns["nulls"])
    top = max([reruns["observed"], *reruns["nulls"], 1])
    wide = (WIDTH - 2 * EDGE) / (top + 1)
    most = max(counts.values())
    bars = [
        element(
            "rect", x=EDGE + hits * wide, y=HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * many / most,
            width=max(1.0, wide - 1), height=(HEIGHT - 2 * EDGE) * many / most, class_="worked",
        )
        for hits, many in sorted(counts.items())
    ]  # fmt: skip
    at = EDGE + (reruns["observed"] + 0.5) * wide
    line = element("line", x1=at, x2=at, y1=EDGE / 2, y2=HEIGHT - EDGE, stroke="currentColor")
    said = f"this history: {reruns['observed']} of {reruns['draws']}"
    label = element(
        "text", said, x=min(at, WIDTH - 170), y=EDGE / 2, font_size=12, fill="currentColor"
    )
    axis = element("text", f"0 … {top} holdout draws hit", x=EDGE, y=HEIGHT - 8, font_size=12,
                   fill="currentColor")  # fmt: skip
    title = f"Null distribution: {len(reruns['nulls'])} histories without signal"
    return element("h3", title) + drawing(WIDTH, HEIGHT, *bars, line, label, axis, label=title)


def _claims(sidecar: Mapping[str, Any]) -> Markup:
    rows = [
        [
            one["stream"] or "all draws",
            str(one["seed"]),
            str(one["skip"]),
            f"{one['window_hits']}/{one['window_draws']}, p {one['window_p']}",
            f"{one['holdout_hits']}/{one['holdout_draws']}, p {one['holdout_p']}",
        ]
        for one in sidecar["claims"]
    ]
    power = sidecar["power"]
    said = f"Searched: {power['searched']}. Would be found: {power['would_be_found']}."
    heads = ["stream", "seed", "skip", "window", "holdout"]
    missing = element("p", f"Not covered: {power['not_covered']}.", class_="quiet")
    return (
        element("h3", "First of each stream")
        + html_table(heads, rows)
        + element("p", said)
        + missing
    )


def plot(
    dots: Sequence[tuple[float, float]], line: Sequence[tuple[float, float]], under: str, label: str
) -> Markup:
    """Draw points and a line over them, with the ends of both axes written out."""
    every = [*dots, *line]
    left, right = min(x for x, _ in every), max(x for x, _ in every)
    low, high = min(0.0, *(y for _, y in every)), max(y for _, y in every)

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - left) / ((right - left) or 1.0)
        up = (y - low) / ((high - low) or 1.0)
        return EDGE + across * (WIDTH - 2 * EDGE), HEIGHT - EDGE - up * (HEIGHT - 2 * EDGE)

    drawn = [
        element("circle", cx=px, cy=py, r=2.5, class_="worked")
        for px, py in (place(x, y) for x, y in dots)
    ]
    if line:
        points = " ".join(f"{px:.1f},{py:.1f}" for px, py in (place(x, y) for x, y in line))
        drawn.append(element("polyline", points=points, fill="none", stroke="currentColor"))
    texts = [
        (f"{high:.4g}", 2, EDGE),
        (f"{low:.4g}", 2, HEIGHT - EDGE),
        (f"{under}: {left:.4g} … {right:.4g}", EDGE, HEIGHT - 8),
    ]
    drawn += [_words(text, x, y) for text, x, y in texts]
    return drawing(WIDTH, HEIGHT, *drawn, label=label)


def _words(text: str, x: float, y: float) -> Markup:
    return element("text", text, x=x, y=y, font_size=12, fill="currentColor")
