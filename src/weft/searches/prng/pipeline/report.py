"""The page of a pipeline run: steps, optimizer history, survivor scores, calibration, nulls.

All charts come from the run's artifacts; those of unfinished steps are omitted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from weft.inspect.report.hook import Page
from weft.inspect.report.plot import BOTTOM, HEIGHT, Axes, axes_of, bar, framed, plot, words
from weft.inspect.report.svg import element
from weft.inspect.report.svg import table as html_table
from weft.inspect.report.text import counted, duration
from weft.inspect.report.view import RunView
from weft.model.values import Object
from weft.searches.prng.pipeline import artifact, table
from weft.searches.prng.pipeline.artifact import R
from weft.searches.prng.pipeline.optimizer import Trial
from weft.searches.prng.pipeline.steps import TITLES
from weft.searches.prng.pipeline.summary import StepSummary, artifacts_of, end_line, steps_of
from weft.searches.prng.pipeline.verdict import Sidecar

MAX_POINTS = 2_000


def pages(run: RunView) -> list[Page]:
    """Build the page of a pipeline run."""
    artifacts = artifacts_of(run)
    parts = [element("p", end_line(run), class_="claim"), _steps(steps_of(run))]
    window = _load(run, artifacts, artifact.WINDOW)
    scorer = _load(run, artifacts, artifact.SCORER)
    charts = [
        _trials("Window optimizer", "−log10 p, draws not sieved", window.trials if window else ()),
        _trials("Scorer", "variance explained", scorer.trials if scorer else ()),
        _scores(run, artifacts),
    ]
    sidecar = _load(run, artifacts, artifact.SIDECAR)
    if sidecar is not None:
        charts += [_calibration(sidecar), _nulls(sidecar)]
        parts.append(_claims(sidecar))
    elements = [element("div", chart) for chart in charts if chart]
    parts.append(element("div", *elements, class_="charts"))
    parts += [] if sidecar is None else [_models(sidecar)]
    return [Page("Pipeline", Markup("").join(parts), order=1)]


def _load(run: RunView, artifacts: Mapping[str, Object], kind: artifact.Kind[R]) -> R | None:
    """Load an artifact of a step; None if the step is not done."""
    if kind.name not in artifacts:
        return None
    return artifact.unpack(kind, run.read(artifacts[kind.name]))


def _steps(steps: Sequence[StepSummary]) -> Markup:
    rows = [
        [
            step.step,
            TITLES[step.step],
            "done" if step.done or step.earlier else "not done",
            "" if step.count is None else f"{step.count:,}",
            duration(step.seconds) if step.tasks else "",
        ]
        for step in steps
    ]
    return html_table(["step", "name", "state", "count", "time"], rows)


def _trials(title: str, measure: str, trials: Sequence[Trial]) -> Markup:
    """Plot each trial's value and the best so far."""
    values = [trial.value / 1000 for trial in trials]
    if not values:
        return Markup("")
    best = [max(values[: at + 1]) for at in range(len(values))]
    dots = [(float(at + 1), value) for at, value in enumerate(values)]
    line = [(float(at + 1), value) for at, value in enumerate(best)]
    label = f"{title}: {measure} of {counted(len(values), 'trial')}"
    return element("h3", title) + plot(dots, line, axes_of(dots, "trial", measure), label)


def _scores(run: RunView, artifacts: Mapping[str, Object]) -> Markup:
    """Plot the hit rate of survivors after their cut against their hits in the window."""
    names = sorted(name for name in artifacts if name.startswith(artifact.SCORED))
    dots: list[tuple[float, float]] = []
    for name in names:
        piece = table.from_parquet(run.read(artifacts[name]))
        rows = piece.sort("hits", descending=True, maintain_order=True)[: MAX_POINTS - len(dots)]
        draws = [max(1, many) for many in rows["label_draws"].to_list()]
        rates = [h / d for h, d in zip(rows["label_hits"].to_list(), draws, strict=True)]
        dots += [(float(h), rate) for h, rate in zip(rows["hits"].to_list(), rates, strict=True)]
    if not dots:
        return Markup("")
    axes = axes_of(dots, "hits in the window", "hit rate after the cut")
    label = "Survivors: hits in the window, and hit rate after the cut"
    return element("h3", "Survivors") + plot(dots, [], axes, label)


def _models(sidecar: Sidecar) -> Markup:
    fitted = sidecar.fitted()
    if fitted is None:
        return element("p", "No model was trained.", class_="quiet")
    rows = [
        [
            trial.kind,
            f"{trial.value / 1000:.3f}",
            f"{trial.train / 1000:.3f}",
            "overfit" if trial.overfit else "",
        ]
        for trial in fitted.trials
    ]
    heads = ["model", "explained on folds not seen", "in training", ""]
    return element("h3", f"Models (chosen: {sidecar.model_kind})") + html_table(heads, rows)


def _calibration(sidecar: Sidecar) -> Markup:
    fitted = sidecar.fitted()
    if fitted is None:
        return Markup("")
    dots = [(expected, observed) for expected, observed, _ in fitted.calibration]
    top = max(1e-9, *(x for x, _ in dots), *(y for _, y in dots))
    line = [(0.0, 0.0), (top, top)]
    axes = axes_of([*dots, *line], "expected hit rate", "observed hit rate")
    label = "Calibration on the holdout: expected and observed hit rate"
    return element("h3", "Calibration on the holdout") + plot(dots, line, axes, label)


def _nulls(sidecar: Sidecar) -> Markup:
    """Plot the distribution of holdout hits on null histories, with this history marked."""
    reruns = sidecar.reruns
    if reruns is None:
        return Markup("")
    counts = sorted(Counter(reruns.nulls).items())
    top = max(reruns.observed, *reruns.nulls) + 1
    most = max(many for _, many in counts)
    axes = Axes((0.0, 0.0), (top, most), "holdout draws hit", "histories", bars=True)
    bars = [bar(axes, hits, many) for hits, many in counts]
    title = f"Null distribution: {len(reruns.nulls)} histories without signal"
    marks = _observed(axes, reruns.observed, reruns.draws)
    return element("h3", title) + framed(axes, title, *bars, *marks)


def _observed(axes: Axes, hits: int, draws: int) -> list[Markup]:
    """Mark the observed history; the label stays inside the picture."""
    at = axes.x(hits + 0.5)
    line = element("line", x1=at, x2=at, y1=axes.y(axes.high[1]), y2=axes.y(0), class_="best")
    anchor, aside = ("end", -6) if hits > axes.high[0] / 2 else ("start", 6)
    label = f"this history: {hits} of {draws}"
    return [line, words(label, at + aside, (HEIGHT - BOTTOM) / 2, anchor)]


def _claims(sidecar: Sidecar) -> Markup:
    rows = [
        [
            claim.stream or "all draws",
            str(claim.seed),
            str(claim.skip),
            f"{claim.window_hits}/{claim.window_draws}, p {claim.window_p}",
            f"{claim.holdout_hits}/{claim.holdout_draws}, p {claim.holdout_p}",
        ]
        for claim in sidecar.claims
    ]
    power = sidecar.power
    summary = f"Searched: {power.searched}. Would be found: {power.would_be_found}."
    heads = ["stream", "seed", "skip", "window", "holdout"]
    missing = element("p", f"Not covered: {power.not_covered}.", class_="quiet")
    return (
        element("h3", "First of each stream")
        + html_table(heads, rows)
        + element("p", summary)
        + missing
    )
