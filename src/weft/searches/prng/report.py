"""Report pages and status lines for the runs of both searches, chosen by the run's search.

The page of an analysis shows the verdict, match timeline, next draws, program, effort over time,
residues and coverage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from markupsafe import Markup

from weft.inspect.report.hook import Page
from weft.inspect.report.plot import Axes, bar, framed
from weft.inspect.report.svg import colour_key, element, table
from weft.inspect.report.text import counted
from weft.inspect.report.view import RunView
from weft.lazy_imports import lazy_imports
from weft.model.codec import from_json
from weft.model.values import Object, from_wire
from weft.searches.prng import programs, words
from weft.searches.prng.answer import AnalyseAnswer, Coverage, ScoredCandidate
from weft.searches.prng.attack import Gap
from weft.searches.prng.effort import effort_section, tried_ranges
from weft.searches.prng.generate import generate
from weft.searches.prng.history import History
from weft.searches.prng.scoring import known, split

with lazy_imports():
    from weft.searches.prng.pipeline import report as pipeline
    from weft.searches.prng.pipeline import summary

PIPELINE = "prng.pipeline"
WIDTH = 1000
HEIGHT = 90
"""Height of the match timeline, in SVG user units."""
MAX_CELLS = 500
RESIDUES = (8, 10, 16)
MOST_BARS = 100
"""Largest modulus drawn with one bar per value, if none of RESIDUES divides it."""
MAX_OPEN = 6
SHOWN_DRAWS = 20


def lines(run: RunView) -> list[str]:
    """Return the verdict as status lines; for a pipeline its steps follow."""
    if run.search == PIPELINE:
        *steps, end = summary.lines(run)
        return [end, *steps]
    answer = answer_of(run)
    if answer is None:
        return []
    return list(words.verdict_lines(answer, _history(run)))[:1]


def pages(run: RunView) -> list[Page]:
    """Build the page of an analysis or of a pipeline run."""
    if run.search == PIPELINE:
        return pipeline.pages(run)
    answer, history = answer_of(run), _history(run)
    effort = effort_section(tried_ranges(run.tasks()))
    if answer is None:
        body = element("p", "The analysis is not finished yet.", class_="quiet")
        return [Page("Draws", body + effort + _residues(history.draws, 0), order=1)]
    verdict = _verdict(answer, history)
    parts = [
        element("p", verdict[0], class_="claim"),
        *(element("p", line) for line in verdict[1:]),
        _candidates(answer),
        _timeline(answer, history),
        _next_draws(answer, history),
        _program(answer),
    ]
    parts += [effort, _residues(history.draws, answer.modulus), _coverage(answer)]
    return [Page("Verdict", Markup("").join(parts), order=1)]


def _verdict(answer: AnalyseAnswer, history: History) -> list[str]:
    """Return the verdict lines; next draws and coverage have separate sections."""
    if answer.is_signal:
        return list(words.signal_lines(answer, history))
    return list(words.verdict_lines(answer, history))[:1]


def answer_of(run: RunView) -> AnalyseAnswer | None:
    """Return the answer of an analysis, with or without a signal; None while unfinished."""
    body = run.answer()
    if body is None:
        return None
    raw = body["value"] if body.get("status") != "unknown" else from_wire(body["detail"])
    if not isinstance(raw, dict) or "verdict" not in raw:
        return None
    return from_json(AnalyseAnswer, raw)


def _history(run: RunView) -> History:
    digest = run.genesis()["inputs"]["history"]
    return History.from_canonical(run.read(Object(digest)))


def _candidates(answer: AnalyseAnswer) -> Markup:
    rows = words.table_rows(answer)
    if len(rows) == 1:
        return Markup("")
    return element("h3", "Hypotheses") + table(list(rows[0]), [list(row) for row in rows[1:]])


def _timeline(answer: AnalyseAnswer, history: History) -> Markup:
    """Draw the share of matching draws along the history, with the holdout marked."""
    if not answer.found:
        return Markup("")
    best = answer.found[0]
    draws = history.streams()[best.stream]
    predictions = generate(best.hypothesis, known(best.hypothesis, len(draws)))
    right = [a == b for a, b in zip(predictions, draws, strict=False)]
    train = len(split(draws, answer.modulus)[0])
    head = element("h3", "Matches along the history")
    share = f"{sum(right):,} of {len(right):,} draws match; the holdout is right of the line."
    return head + element("p", share, class_="quiet") + _bars(right, train)


def _next_draws(answer: AnalyseAnswer, history: History) -> Markup:
    """List the next draws in the form of the file, and how well the last ones were predicted."""
    if not answer.is_signal or not answer.found[0].next:
        return Markup("")
    best = answer.found[0]
    texts = history.texts(best.next)
    note = f"It predicted {best.tail_hits} of the last {best.tail} draws unseen."
    first = element("p", words.in_line(texts[:SHOWN_DRAWS]), class_="code")
    rest = Markup("")
    if len(texts) > SHOWN_DRAWS:
        summary = element("summary", f"{len(texts) - SHOWN_DRAWS} more")
        rest = element("details", summary, element("p", words.in_line(texts[SHOWN_DRAWS:])))
    block = [element("p", line, class_="quiet") for line in words.block_lines(best, history)]
    head = _cards_left(best, history) + element("h3", "Next draws")
    return head + element("p", note, class_="quiet") + first + rest + Markup("").join(block)


def _cards_left(best: ScoredCandidate, history: History) -> Markup:
    cards = words.cards_left(best, history)
    if not cards:
        return Markup("")
    note = f"{len(cards)} cards of the last deal's deck are still in it, in this order."
    head = element("h3", "Rest of the deck") + element("p", note, class_="quiet")
    return head + element("p", words.in_line(cards), class_="code")


def _program(answer: AnalyseAnswer) -> Markup:
    """Show the generator as a Python program, folded because its state may be long."""
    if not answer.is_signal:
        return Markup("")
    text = programs.program(answer.found[0].hypothesis, "python")
    note = "weft prng export-program RUN --language python|c|java writes it."
    summary = element("summary", f"{len(text.splitlines())} lines of Python")
    head = element("h3", "Program that reproduces these draws") + element("p", note, class_="quiet")
    return head + element("details", summary, element("pre", text))


def _bars(right: Sequence[bool], train: int) -> Markup:
    """Draw one bar per group of draws: green up to the share that matches, red above."""
    per_bar = -(-len(right) // MAX_CELLS)
    pieces = [right[at : at + per_bar] for at in range(0, len(right), per_bar)]
    step = WIDTH / len(pieces)
    good, bad = "", ""
    for number, piece in enumerate(pieces):
        height, x, wide = HEIGHT * sum(piece) / len(piece), number * step, step * 0.85
        good += f"M{x:.5g} {HEIGHT}v-{height:.4g}h{wide:.4g}v{height:.4g}z" if height else ""
        rest = HEIGHT - height
        bad += f"M{x:.5g} 0v{rest:.4g}h{wide:.4g}v-{rest:.4g}z" if rest else ""
    path = f"M{WIDTH * train / len(right):.5g} -14V{HEIGHT + 14}"
    picture = element(
        "svg", element("path", d=good, class_="right"), element("path", d=bad, class_="wrong"),
        element("path", d=path, class_="held"), viewBox=f"0 -14 {WIDTH} {HEIGHT + 28}",
        preserveAspectRatio="none", role="img", aria_label=f"right draws, {per_bar} per bar",
    )  # fmt: skip
    ends = [element("span", f"draw {number:,}") for number in (1, len(right))]
    key = colour_key({"completed": "right", "failed": "wrong", "held": _held(train)})
    below = element("p", ends[0], key, ends[1], class_="ends")
    return element("figure", picture, below, class_="drawing matches")


def _held(train: int) -> str:
    return f"holdout from draw {train + 1:,}"


def _residues(draws: Sequence[int], modulus: int) -> Markup:
    """Draw how often each residue occurs, with a line for the mean."""
    moduli = [r for r in RESIDUES if not modulus or modulus % r == 0]
    moduli = moduli or [modulus if modulus <= MOST_BARS else RESIDUES[1]]
    pictures = [element("div", _residue(draws, r)) for r in moduli]
    pictures += [element("div")] * (len(pictures) == 1)  # a single one would fill the page
    note = "How many draws leave each remainder; the line is what chance gives on average."
    head = element("h3", "Residues of the draws") + element("p", note, class_="quiet")
    return head + element("div", *pictures, class_="charts")


def _residue(draws: Sequence[int], modulus: int) -> Markup:
    counts = Counter(draw % modulus for draw in draws)
    level = len(draws) / modulus
    most = max(counts.values(), default=1)
    axes = Axes(
        (0.0, 0.0), (modulus, max(1.0, most)), f"remainder modulo {modulus}", "draws", bars=True
    )
    bars = [bar(axes, residue, counts[residue]) for residue in range(modulus)]
    at = axes.y(level)
    line = element("line", x1=axes.x(0), x2=axes.x(modulus), y1=at, y2=at, class_="best")
    return framed(axes, f"draws by residue modulo {modulus}", *bars, line)


def _coverage(answer: AnalyseAnswer) -> Markup:
    heads = ["generator", "output", "attack", "covers"]
    rows = [[*_names(item), item.covers] for item in answer.covered]
    gaps = [[*_names(gap), gap.why] for gap in answer.gaps]
    untried = [[*_names(item), item.covers] for item in answer.not_tried]
    cut = [
        [*_names(item), f"{item.done} of {item.units} parts: {item.covers}"]
        for item in answer.in_part
    ]
    parts = [
        ("What would have been found", heads, rows),
        ("Covered in part", heads, cut),
        ("Not tried", heads, untried),
        ("What was not covered", [*heads[:3], "why"], gaps),
    ]
    return Markup("").join(_listed(*part) for part in parts if part[2])


def _listed(title: str, heads: list[str], rows: list[list[str]]) -> Markup:
    """Show a table, folded if it is long."""
    if len(rows) <= MAX_OPEN:
        return element("h3", title) + table(heads, rows)
    summary = element("summary", counted(len(rows), "attack"))
    return element("h3", title) + element("details", summary, table(heads, rows))


def _names(item: Coverage | Gap) -> list[str]:
    return [item.family, item.output, item.attack]
