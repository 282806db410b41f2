"""Confidence against truth: best answers by bins of confidence, and how many are right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from weft.searches.arc.views.model import TaskView

BINS = (0, 500, 800, 900, 950, 980)
"""Lower bounds of the bins, in permille."""


@dataclass(frozen=True, slots=True)
class ConfidenceBin:
    """Counts of best answers whose confidence is in a range."""

    low: int
    high: int
    right: int
    wrong: int


def bins_of(views: Sequence[TaskView]) -> list[ConfidenceBin]:
    """Count right and wrong best answers by confidence; those without truth are left out."""
    known = [
        (view.confidence_permille, view.answers[0].outputs == view.truth)
        for view in views
        if view.confidence_permille is not None and view.truth and view.answers
    ]
    bounds = zip(BINS, (*BINS[1:], 1001), strict=True)
    return [
        ConfidenceBin(
            low, high,
            sum(low <= permille < high and is_right for permille, is_right in known),
            sum(low <= permille < high and not is_right for permille, is_right in known),
        )
        for low, high in bounds
    ]  # fmt: skip


def calibration(views: Sequence[TaskView]) -> Markup:
    """Return a table of confidence against truth; empty if no truth is known."""
    bins = bins_of(views)
    most = max((entry.right + entry.wrong for entry in bins), default=0)
    if most == 0:
        return Markup("")
    row = Markup(
        "<tr><td>{} to {}</td><td>{:,}</td><td>{:,}</td><td>{}</td>"
        "<td><div class=bar>{}</div></td></tr>"
    )
    rows = [
        row.format(
            f"{entry.low / 1000:g}", f"{min(entry.high, 1000) / 1000:g}", entry.right, entry.wrong,
            _share(entry), _bar(entry, most),
        )
        for entry in bins
    ]  # fmt: skip
    return Markup(
        "<details class=calibration><summary>Confidence against truth: best answers by their"
        " confidence</summary><table><thead><tr><th>confidence<th>right<th>wrong<th>share right"
        "<th></tr></thead><tbody>{}</tbody></table></details>"
    ).format(Markup("").join(rows))


def _bar(entry: ConfidenceBin, most: int) -> Markup:
    unanswered = most - entry.right - entry.wrong
    parts = (("completed", entry.right), ("failed", entry.wrong), ("none", unanswered))
    return Markup("").join(
        Markup('<i class="{}" style="flex-grow:{}"></i>').format(name, count)
        for name, count in parts
        if count
    )


def _share(entry: ConfidenceBin) -> str:
    count = entry.right + entry.wrong
    return f"{100 * entry.right / count:.0f} %" if count else ""
