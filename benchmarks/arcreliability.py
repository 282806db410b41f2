"""Confidence against truth: the reliability diagram as an SVG file, and its section of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weft.inspect.report.svg import element
from weft.searches.arc.confidence import SURE

SIDE, LEFT, BOTTOM, TOP = 300, 52, 44, 20
WIDTH, HEIGHT = LEFT + SIDE + 24, TOP + SIDE + BOTTOM
INK, RULE, DOT = "#7a7f87", "#7a7f8744", "#3b82c4"
FONT = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
Figures = Mapping[str, Any]
NOTHING = {"whole": "nothing"}
"""Label of the model that uses all features."""
MANY = 50
"""Minimum number of answers for comparing the precision of a kind of puzzle."""
FIRST = (
    "all", "tasks of ARC-AGI-1 as they are", "new tasks of ARC-AGI-2 as they are",
    "tasks as they are, half of the operators", "2 pairs, 3 tests", "nothing", "behaviour",
    "support",
)  # fmt: skip
"""The rows that come first, in this order; the JSON file has them sorted by name."""


def draw(bins: Sequence[Figures]) -> str:
    """Draw each bin's share of right answers over its mean confidence; fuller bins are larger."""
    most = max(each["answers"] for each in bins)
    parts = [element("title", "Confidence against the share of right answers"), *_axes()]
    for each in bins:
        x, y = _across(each["confidence"]), _down(each["right"])
        radius = round(3 + 9 * (each["answers"] / most) ** 0.5, 1)
        parts.append(element("circle", cx=x, cy=y, r=radius, fill=DOT, fill_opacity=0.7))
        parts.append(element("text", str(each["answers"]), x=x - 14, y=y - 10, text_anchor="end"))
    document = element(
        "svg", *parts, xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {WIDTH} {HEIGHT}",
        width=WIDTH, height=HEIGHT, role="img", font_family=FONT, font_size=12, fill=INK,
    )  # fmt: skip
    return f"{document}\n"


def _axes() -> list[str]:
    ends = {"x1": _across(0), "y1": _down(0), "x2": _across(1), "y2": _down(1)}
    parts = [element("line", **ends, stroke=INK, stroke_dasharray="4 4")]
    for tenth in range(0, 11, 2):
        share = tenth / 10
        y, x = _down(share), _across(share)
        parts.append(element("line", x1=LEFT, y1=y, x2=LEFT + SIDE, y2=y, stroke=RULE))
        parts.append(element("text", f"{tenth * 10}%", x=LEFT - 8, y=y + 4, text_anchor="end"))
        place = {"x": x, "y": TOP + SIDE + 18, "text_anchor": "middle"}
        parts.append(element("text", f"{share:g}", **place))
    below = {"x": LEFT + SIDE / 2, "y": HEIGHT - 6, "text_anchor": "middle"}
    return [*parts, element("text", "confidence; right answers in percent upwards", **below)]


def _across(share: float) -> float:
    return round(LEFT + share * SIDE, 1)


def _down(share: float) -> float:
    return round(TOP + (1 - share) * SIDE, 1)


def section(part: Figures) -> str:
    """Return the section of the page."""
    return f"""\
## Confidence

{part["puzzles"]:,} puzzles that a program explains, made of training tasks (ARC-AGI-1, and those of
ARC-AGI-2 that are not in it) by `tools/make_pseudo_puzzles.py`, searched at the default budget and
recorded once by `tools/record_arc_evidence.py`. Fitted on one half of
the bases, measured on the other, both ways: no figure of this section is of a
puzzle whose base was fitted on. The probability is that the outputs for all tests are right.

The operators were designed on the tasks that these puzzles are made of, so accidental fits are
rarer here than elsewhere. So each puzzle is searched twice: with all operators, and with half of
them, drawn at random for each base. {part["right"]:,} best answers are right.

![Confidence against the share of right answers](../images/arc-reliability.svg)

{_bins(part)}
The gap is the share of right answers minus the mean confidence (target: at most 5 points), with its
standard error; puzzles made of one task are right or wrong together, so tasks are what is sampled.
The last column is the gap over {part["halvings"]} other, random halvings of the bases.

Right / wrong at a least confidence, and how many first guesses are right at any:

{_counts("puzzles", part["kinds"])}
{SURE / 1000:g} is the default of `--min-confidence`.{_worst(part["kinds"])}

The same for all puzzles, each model fitted without some features:

{_counts("left out", {NOTHING.get(name, name): row for name, row in part["ablation"].items()})}\
{_training(part)}"""


def _worst(kinds: Mapping[str, Mapping[str, Figures]]) -> str:
    """Name the kind of puzzle with the lowest precision, of those with enough answers."""
    counts = {name: row[str(SURE)] for name, row in kinds.items() if str(SURE) in row}
    shares = {
        name: count["right"] / (count["right"] + count["wrong"])
        for name, count in counts.items()
        if count["right"] + count["wrong"] >= MANY
    }
    if not shares:
        return ""
    worst = min(shares, key=lambda name: (shares[name], name))
    return (
        f" Of the kinds with {MANY} answers or more the\nlowest precision at it is"
        f" {shares[worst]:.1%}: {worst}."
    )


def _training(part: Figures) -> str:
    """Return the table of all unmodified training tasks; empty for older figures."""
    if "training" not in part:
        return ""
    rows = part["training"]
    models = {NOTHING.get(name, name): row for name, row in rows.items() if "right" not in row}
    return f"""
All 400 training tasks of ARC-AGI-1 as they are, judged by models fitted on the other half:

{_counts("left out", models)}
Without any confidence a price decides: {_precision(rows["confidence"])}. Without the evidence,
where any competitor makes an answer UNKNOWN: {_precision(rows["checks"])}.
"""


def _bins(part: Figures) -> str:
    lines = [
        "| confidence | answers | tasks | mean confidence | right | gap, points | random halves |",
        "|---|---|---|---|---|---|---|",
    ]
    others = {each["from"]: _gap(each) for each in part["reliability_of_halvings"]}
    for each in part["reliability"]:
        span = f"{each['from'] / 1000:g} to {min(1000, each['to']) / 1000:g}"
        lines.append(
            f"| {span} | {each['answers']} | {each['bases']} | {each['confidence']:.1%} "
            f"| {each['right']:.1%} | {_gap(each):+.1f} ± {100 * each['error']:.1f} "
            f"| {others[each['from']]:+.1f} |"
        )
    return "\n".join(lines) + "\n"


def _gap(each: Figures) -> float:
    return 100 * float(each["right"] - each["confidence"])


def _counts(first: str, rows: Mapping[str, Mapping[str, Figures]]) -> str:
    thresholds = list(next(iter(rows.values())))
    heads = [f"{int(least) / 1000:g}" for least in thresholds]
    lines = [
        f"| {first} | {' | '.join(heads)} | right at any |",
        "|---" * (len(thresholds) + 2) + "|",
    ]
    for name, counts in sorted(rows.items(), key=_place):
        cells = [_precision(counts[least]) for least in thresholds]
        lines.append(f"| {name} | {' | '.join(cells)} | {counts[thresholds[0]]['possible']} |")
    return "\n".join(lines) + "\n"


def _place(row: tuple[str, object]) -> tuple[int, str]:
    return (FIRST.index(row[0]) if row[0] in FIRST else len(FIRST)), row[0]


def _precision(count: Figures) -> str:
    answers = count["right"] + count["wrong"]
    share = f" = {count['right'] / answers:.1%}" if count["right"] else ""
    return f"{count['right']} / {count['wrong']}{share}"
