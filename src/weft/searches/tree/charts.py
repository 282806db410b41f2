"""Charts of a tree run: scores by depth and over time, and a timeline of the workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from markupsafe import Markup

from weft.inspect.report.lanes import SlotBar, SlotLane, draw_lanes
from weft.inspect.report.plot import Axes, Points, framed
from weft.inspect.report.svg import colour_key, element, table
from weft.inspect.report.text import counted, duration, some
from weft.inspect.report.view import RunView
from weft.searches.tree.history import Eval, TreeHistory
from weft.searches.tree.load import TreeRun, stage_id_of

MAX_SPANS = 1200
MAX_DOTS = 800
"""Most dots that a chart shows; promoted evals come first."""
PROMOTED, OTHER = "var(--c-completed)", "var(--c-queued)"
SCORE_COLOURS = {"completed": "promoted", "queued": "not promoted", "line": "best so far"}
STAGES = {
    "propose": "stage-propose", "implement": "stage-implement", "review": "stage-review",
    "sweep": "stage-sweep", "score": "worked",
}  # fmt: skip
"""CSS class of each stage's bars, which sets the colour."""
OTHER_STAGE = "stage-other"


# -- scores -------------------------------------------------------------------------------------


def score_charts(tree_run: TreeRun) -> Markup:
    """Draw scores by depth and over time, and tabulate them by depth."""
    history = tree_run.history
    depths = max((e.depth for e in history.evals), default=0)
    charts = Markup("")
    if depths and history.root_scores:
        parts = [_by_depth(tree_run, depths), _over_time(tree_run)]
        charts = element("div", *(part for part in parts if part), class_="charts")
        charts += element("p", colour_key(SCORE_COLOURS), class_="quiet")
    return charts + _table(history, depths)


def _better(tree_run: TreeRun) -> str:
    return "higher" if tree_run.config.direction == "max" else "lower"


def _axes(points: Points, across: str, tree_run: TreeRun) -> Axes:
    """Fit axes to the points rather than to zero, since scores may be close together."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    room = (max(ys) - min(ys)) * 0.06 or abs(ys[0]) * 0.06 or 1.0
    wide = (max(xs) - min(xs)) * 0.03 or 0.5
    low, high = (min(xs) - wide, min(ys) - room), (max(xs) + wide, max(ys) + room)
    name = f"score ({_better(tree_run)} is better)"
    return Axes(low, high, across, name, whole=across == "depth")


def _by_depth(tree_run: TreeRun, depths: int) -> Markup:
    history = tree_run.history
    root = Decimal(history.root_scores[0])
    scored = [(e, Decimal(e.score)) for e in history.evals if e.score is not None]
    best = [(float(d), float(s)) for d, s in enumerate(_best_by_depth(tree_run, root, depths))]
    places = [(_apart(e), float(score)) for e, score in scored]
    axes = _axes([(0.0, float(root)), *places, *best], "depth", tree_run)
    dots = _dots(axes, scored, places)
    label = f"Best score by depth: {', '.join(f'{score:g}' for _, score in best)}"
    line = _line(axes, best)
    return element("section", element("h3", "Score by depth"), framed(axes, label, *line, *dots))


def _over_time(tree_run: TreeRun) -> Markup:
    """Draw scores by the time they became known, in seconds since the first eval began."""
    timings = tree_run.timing
    known = [
        (e, Decimal(e.score), timing.finished_at)
        for e in tree_run.history.evals
        if e.score is not None and (timing := timings.get(e.eval_id)) and timing.finished_at
    ]
    starts = [t.started_at for t in timings.values() if t.started_at is not None]
    if not known or not starts:
        return Markup("")
    known.sort(key=lambda item: (item[2], item[0].eval_id))
    places = [(at - min(starts), float(score)) for _, score, at in known]
    better = max if tree_run.config.direction == "max" else min
    best: list[tuple[float, float]] = []
    for at, score in places:
        best += [(at, best[-1][1])] if best else []
        best.append((at, better(best[-1][1], score) if best else score))
    axes = _axes(places, "seconds since the first eval began", tree_run)
    dots = _dots(axes, [(e, score) for e, score, _ in known], places)
    label = f"Score over time: {len(places)} scores in {duration(places[-1][0])}"
    line = _line(axes, best)
    return element("section", element("h3", "Score over time"), framed(axes, label, *line, *dots))


def _apart(item: Eval) -> float:
    """Return the depth with a small horizontal offset, so that equal scores do not overlap."""
    return item.depth + (item.eval_id % 7 - 3) * 0.02


def _dots(axes: Axes, scored: Sequence[tuple[Eval, Decimal]], places: Points) -> list[Markup]:
    """Draw a dot per eval, promoted ones on top; they also come first if there are too many."""
    pairs = sorted(zip(scored, places, strict=True), key=lambda pair: pair[0][0].node_id is None)
    return [_dot(axes, *pair, place) for pair, place in reversed(pairs[:MAX_DOTS])]


def _dot(axes: Axes, item: Eval, score: Decimal, place: tuple[float, float]) -> Markup:
    title = element("title", f"{item.name} {item.idea.name}: {score}, {item.verdict}")
    fill, radius = (PROMOTED, 5) if item.node_id is not None else (OTHER, 3.5)
    return element("circle", title, cx=axes.x(place[0]), cy=axes.y(place[1]), r=radius, fill=fill)


def _line(axes: Axes, points: Points) -> list[Markup]:
    text = " ".join(f"{axes.x(x):.1f},{axes.y(y):.1f}" for x, y in points)
    return [element("polyline", points=text, class_="best")]


def _best_by_depth(tree_run: TreeRun, root: Decimal, depths: int) -> list[Decimal]:
    better = max if tree_run.config.direction == "max" else min
    best = [root]
    for depth in range(1, depths + 1):
        here = [n.score for n in tree_run.history.nodes if n.depth == depth]
        best.append(better([best[-1], *here]))
    return best


def _table(history: TreeHistory, depths: int) -> Markup:
    rows = []
    for depth in range(depths + 1):
        nodes = [n for n in history.nodes if n.depth == depth and n.result]
        evals = history.at(depth)
        scores = [Decimal(e.score) for e in evals if e.score is not None]
        spread = f"{min(scores)} to {max(scores)}" if scores else ""
        best = nodes[0].score_text if nodes else ""
        rows.append([str(depth), str(len(evals)), str(len(nodes)), best, spread])
    return table(["depth", "evals", "nodes", "best score", "scores of all evals"], rows)


# -- workers ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EvalSpan:
    """A stage's time on a slot."""

    slot: str
    stage: str
    title: str
    start: float
    end: float


def worker_timeline(run: RunView) -> Markup:
    """Draw one row per slot with one bar per stage."""
    spans = _spans(run)
    if not spans:
        return element("p", "No stage has finished yet.", class_="quiet")
    first_spans = spans[:MAX_SPANS]
    lanes = [_lane(slot, first_spans) for slot in sorted({span.slot for span in first_spans})]
    head = f"What workers did ({some(len(first_spans), len(spans), 'stage')})"
    return (
        element("h3", head) + element("p", _legend(first_spans), class_="quiet") + draw_lanes(lanes)
    )


def _lane(slot: str, spans: Sequence[EvalSpan]) -> SlotLane:
    own = [span for span in spans if span.slot == slot]
    stat = f"{counted(len(own), 'stage')}, {duration(sum(s.end - s.start for s in own))}"
    bars = [SlotBar(s.start, s.end, s.title, STAGES.get(s.stage, OTHER_STAGE)) for s in own]
    return SlotLane(slot, stat, bars, f"{slot}: {stat}")


def _spans(run: RunView) -> list[EvalSpan]:
    spans = []
    for task in run.tasks():
        stage = stage_id_of(task)
        if task.started_at and task.finished_at and task.node != "recorded":
            number = stage.eval_id
            name = f"n{stage.parent_node_id}" if number is None else f"e{number}"
            title = f"{name} {stage.stage} {stage.idea_path}: {task.state}"
            slot = str(task.notes.get("slot") or task.node or "?")
            spans.append(EvalSpan(slot, stage.stage, title, task.started_at, task.finished_at))
    return sorted(spans, key=lambda span: (span.start, span.title))


def _legend(spans: Sequence[EvalSpan]) -> Markup:
    present = {span.stage for span in spans}
    return colour_key({kind: stage for stage, kind in STAGES.items() if stage in present})
