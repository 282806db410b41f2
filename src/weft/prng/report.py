"""What an analysis adds to its report: verdict, match timeline, residues, what was covered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from weft.model.values import Object, from_wire
from weft.prng import words
from weft.prng.generate import generate
from weft.prng.history import History
from weft.prng.hypothesis import Hypothesis
from weft.prng.scoring import known, split
from weft.report.hook import Page
from weft.report.svg import drawing, element, table
from weft.report.view import RunView

WIDTH = 1000
HEIGHT = 120
MAX_CELLS = 500
RESIDUES = (8, 10, 16)


def lines(run: RunView) -> list[str]:
    """Return the verdict as a line of status."""
    answer = answer_of(run)
    if answer is None:
        return []
    return list(words.verdict_lines(answer, len(_history(run))))[:1]


def pages(run: RunView) -> list[Page]:
    """Make the page of an analysis."""
    answer, history = answer_of(run), _history(run)
    if answer is None:
        body = element("p", "The analysis has not come to its end yet.", class_="quiet")
        return [Page("Draws", body + _residues(history.draws, 0), order=1)]
    said = [element("p", line) for line in words.verdict_lines(answer, len(history)) if line]
    parts = [
        *said[: 5 if answer["verdict"] == "signal" else 2],
        _finds(answer),
        _timeline(answer, history),
    ]
    parts += [_residues(history.draws, answer["modulus"]), _coverage(answer)]
    return [Page("Verdict", Markup("").join(parts), order=1)]


def answer_of(run: RunView) -> dict[str, Any] | None:
    """Return what the analysis concluded, with or without a signal; None while there is none."""
    body = run.answer()
    if body is None:
        return None
    said = body["value"] if body.get("status") != "unknown" else from_wire(body["detail"])
    return said if isinstance(said, dict) and "verdict" in said else None


def _history(run: RunView) -> History:
    digest = run.genesis()["inputs"]["history"]
    return History.from_canonical(run.read(Object(digest)))


def _finds(answer: Mapping[str, Any]) -> Markup:
    rows = words.table_rows(answer)
    if len(rows) == 1:
        return Markup("")
    return element("h3", "What was found") + table(list(rows[0]), [list(row) for row in rows[1:]])


def _timeline(answer: Mapping[str, Any], history: History) -> Markup:
    """Draw the share of right draws along the history, the holdout marked."""
    if not answer["found"]:
        return Markup("")
    best = answer["found"][0]
    draws = history.streams()[best["stream"]]
    hypothesis = Hypothesis.from_dict(best["hypothesis"])
    said = generate(hypothesis, known(hypothesis, len(draws)))
    right = [a == b for a, b in zip(said, draws, strict=False)]
    train = len(split(draws)[0])
    head = element("h3", "Where the best one is right")
    share = f"{sum(right):,} of {len(right):,} draws are right; the shaded part was never fitted to"
    return head + element("p", share, class_="quiet") + _bars(right, train)


def _bars(right: Sequence[bool], train: int) -> Markup:
    """One bar for each run of draws: its height is the share that is right."""
    per_bar = -(-len(right) // MAX_CELLS)
    bars = [right[at : at + per_bar] for at in range(0, len(right), per_bar)]
    step = WIDTH / len(bars)
    path = ""
    for number, bar in enumerate(bars):
        height = HEIGHT * sum(bar) / len(bar)
        path += f"M{number * step:.5g} {HEIGHT}v-{height:.4g}h{step * 0.85:.4g}v{height:.4g}z"
    held_at = WIDTH * train / len(right)
    shade = element("rect", x=held_at, y=0, width=WIDTH - held_at, height=HEIGHT, fill_opacity=0.25)
    label = f"share of right draws, {per_bar} per bar"
    return drawing(WIDTH, HEIGHT, element("path", d=path, class_="worked"), shade, label=label)


def _residues(draws: Sequence[int], modulus: int) -> Markup:
    """Draw how often each residue occurs; chance alone stays near the line."""
    wanted = [r for r in RESIDUES if not modulus or modulus % r == 0] or [RESIDUES[1]]
    pictures = [_residue(draws, r) for r in wanted]
    note = "The line is what chance gives on average."
    head = element("h3", "Residues of the draws")
    return head + element("p", note, class_="quiet") + Markup("").join(pictures)


def _residue(draws: Sequence[int], modulus: int) -> Markup:
    counts = [0] * modulus
    for draw in draws:
        counts[draw % modulus] += 1
    step, most = WIDTH / modulus, max(counts) or 1
    path = ""
    for number, count in enumerate(counts):
        height = 0.8 * HEIGHT * count / most
        path += f"M{number * step:.5g} {HEIGHT}v-{height:.4g}h{step * 0.9:.4g}v{height:.4g}z"
    level = HEIGHT - 0.8 * HEIGHT * len(draws) / modulus / most
    line = element("line", x1=0, x2=WIDTH, y1=level, y2=level, stroke="currentColor")
    label = f"draws by residue modulo {modulus}"
    picture = drawing(WIDTH, HEIGHT, element("path", d=path, class_="worked"), line, label=label)
    return element("figure", picture, element("figcaption", label))


def _coverage(answer: Mapping[str, Any]) -> Markup:
    heads = ["generator", "output", "attack", "covers"]
    rows = [[*_names(one), one["covers"]] for one in answer["covered"]]
    gaps = [[*_names(gap), gap["why"]] for gap in answer["gaps"]]
    left = [[*_names(one), one["covers"]] for one in answer["not_tried"]]
    cut = [
        [*_names(o), f"{o['done']} of {o['units']} parts: {o['covers']}"] for o in answer["in_part"]
    ]
    parts = [
        ("What would have been found", heads, rows),
        ("Covered in part", heads, cut),
        ("Not tried", heads, left),
        ("What was not covered", [*heads[:3], "why"], gaps),
    ]
    shown = [element("h3", title) + table(named, body) for title, named, body in parts if body]
    return Markup("").join(shown)


def _names(one: Mapping[str, Any]) -> list[str]:
    return [one["family"], one["output"], one["attack"]]
