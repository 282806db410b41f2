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
from weft.report.plot import BOTTOM, HEIGHT, Axes, axes_of, bar, framed, plot, words
from weft.report.svg import element
from weft.report.svg import table as html_table
from weft.report.text import counted, duration
from weft.report.view import RunView

MAX_POINTS = 2_000


def pages(run: RunView) -> list[Page]:
    """Make the page of a pipeline run."""
    found = artifacts_of(run)
    parts = [
        element("p", end_line(run), class_="claim"),
        _steps(steps_of(run)),
    ]
    charts = [
        _trials("Window optimizer", "−log10 p, draws not sieved", _json(run, found, "window")),
        _trials("Scorer", "variance explained", _json(run, found, "scorer")),
        _scores(run, found),
    ]
    sidecar = _json(run, found, "sidecar")
    if sidecar is not None:
        charts += [_calibration(sidecar), _nulls(sidecar)]
        parts.append(_claims(sidecar))
    shown = [element("div", chart) for chart in charts if chart]
    parts.append(element("div", *shown, class_="charts"))
    parts += [] if sidecar is None else [_models(sidecar)]
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
    return html_table(["step", "name", "state", "count", "time"], rows)


def _trials(title: str, worth: str, body: Mapping[str, Any] | None) -> Markup:
    """Each trial's worth, and the best so far."""
    values = [trial["value"] / 1000 for trial in (body or {}).get("trials", [])]
    if not values:
        return Markup("")
    best = [max(values[: at + 1]) for at in range(len(values))]
    dots = [(float(at + 1), value) for at, value in enumerate(values)]
    line = [(float(at + 1), value) for at, value in enumerate(best)]
    label = f"{title}: {worth} of {counted(len(values), 'trial')}"
    return element("h3", title) + plot(dots, line, axes_of(dots, "trial", worth), label)


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
    axes = axes_of(dots, "hits in the window", "hit rate after the cut")
    label = "Survivors: hits in the window, and hit rate after the cut"
    return element("h3", "Survivors") + plot(dots, [], axes, label)


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
    line = [(0.0, 0.0), (top, top)]
    axes = axes_of([*dots, *line], "expected hit rate", "observed hit rate")
    label = "Calibration on the holdout: expected and observed hit rate"
    return element("h3", "Calibration on the holdout") + plot(dots, line, axes, label)


def _nulls(sidecar: Mapping[str, Any]) -> Markup:
    """How many holdout draws the vote hit: histories without signal, and this one."""
    reruns = sidecar["reruns"]
    if reruns is None:
        return Markup("")
    counts = sorted(Counter(reruns["nulls"]).items())
    top = max(reruns["observed"], *reruns["nulls"]) + 1
    most = max(many for _, many in counts)
    axes = Axes((0.0, 0.0), (top, most), "holdout draws hit", "histories", bars=True)
    bars = [bar(axes, hits, many) for hits, many in counts]
    title = f"Null distribution: {len(reruns['nulls'])} histories without signal"
    seen = _observed(axes, reruns["observed"], reruns["draws"])
    return element("h3", title) + framed(axes, title, *bars, *seen)


def _observed(axes: Axes, hits: int, draws: int) -> list[Markup]:
    """Mark where this history stands; its name stays inside the picture."""
    at = axes.x(hits + 0.5)
    line = element("line", x1=at, x2=at, y1=axes.y(axes.high[1]), y2=axes.y(0), class_="best")
    anchor, aside = ("end", -6) if hits > axes.high[0] / 2 else ("start", 6)
    said = f"this history: {hits} of {draws}"
    return [line, words(said, at + aside, (HEIGHT - BOTTOM) / 2, anchor)]


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
