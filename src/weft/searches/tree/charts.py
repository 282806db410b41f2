"""Drawings of a tree run: scores by depth, and what each worker did when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from markupsafe import Markup

from weft.inspect.report.svg import element, table, wide_drawing
from weft.inspect.report.text import duration, some
from weft.inspect.report.view import RunView
from weft.searches.tree.history import Eval, TreeHistory
from weft.searches.tree.load import TreeRun, stage_id_of

WIDTH, HEIGHT, MARGIN = 1000, 300, 70
ROW, LABEL = 30, 110
MAX_SPANS = 1200
MAX_DOTS = 800
"""The most that a page shows; promoted evals are among them."""
PROMOTED, OTHER, BEST = "var(--c-completed)", "var(--c-queued)", "var(--accent)"
STAGES = {
    "propose": "var(--c-dropped)", "implement": "var(--c-running)", "review": "var(--paused)",
    "sweep": "var(--c-cancelled)", "score": "var(--c-completed)",
}  # fmt: skip


# -- scores by depth ----------------------------------------------------------------------------


def scores_by_depth(tree_run: TreeRun) -> Markup:
    """A dot per scored eval, the best so far as a line, and the same in a table."""
    depths = max((e.depth for e in tree_run.history.evals), default=0)
    has_scores = depths and tree_run.history.root_scores
    chart = _chart(tree_run, depths) if has_scores else Markup("")
    return element("h3", "Score by depth") + chart + _table(tree_run.history, depths)


def _chart(tree_run: TreeRun, depths: int) -> Markup:
    history = tree_run.history
    root = Decimal(history.root_scores[0])
    scored = [(e, Decimal(e.score)) for e in history.evals if e.score is not None]
    low, high = (edge([root, *(s for _, s in scored)]) for edge in (min, max))

    def place(depth: int, score: Decimal) -> tuple[float, float]:
        up = float((score - low) / (high - low)) if high > low else 0.5
        return MARGIN + (WIDTH - 2 * MARGIN) * depth / depths, 30 + (HEIGHT - 70) * (1 - up)

    best = _best_by_depth(tree_run, root, depths)
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(d, s) for d, s in enumerate(best)))
    drawn = [element("polyline", points=line, fill="none", stroke=BEST, stroke_width=3)]
    drawn.append(element("circle", cx=MARGIN, cy=place(0, root)[1], r=7, fill=PROMOTED))
    shown = sorted(scored, key=lambda pair: pair[0].node_id is None)[:MAX_DOTS]
    drawn += [_dot(e, s, place(e.depth, s)) for e, s in reversed(shown)]
    drawn += [_text(f"depth {d}", place(d, low)[0], HEIGHT - 8) for d in range(depths + 1)]
    drawn += [
        _text(str(s), MARGIN - 12, place(0, s)[1] + 5, "end") for s in sorted({low, root, high})
    ]
    label = f"Best score by depth: {', '.join(map(str, best))}"
    return wide_drawing(WIDTH, HEIGHT, *drawn, label=label)


def _best_by_depth(tree_run: TreeRun, root: Decimal, depths: int) -> list[Decimal]:
    better = max if tree_run.config.direction == "max" else min
    best = [root]
    for depth in range(1, depths + 1):
        here = [n.score for n in tree_run.history.nodes if n.depth == depth]
        best.append(better([best[-1], *here]))
    return best


def _dot(item: Eval, score: Decimal, at: tuple[float, float]) -> Markup:
    title = element("title", f"{item.name} {item.idea.name}: {score}, {item.verdict}")
    promoted = item.node_id is not None
    x = at[0] + (item.eval_id % 7 - 3) * 4  # apart, where many have one score
    fill, radius = (PROMOTED, 7) if promoted else (OTHER, 5)
    return element("circle", title, cx=x, cy=at[1], r=radius, fill=fill)


def _text(text: str, x: float, y: float, anchor: str = "middle") -> Markup:
    return element("text", text, x=x, y=y, text_anchor=anchor, font_size=15, fill="currentColor")


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
    """One stage on one slot."""

    slot: str
    stage: str
    title: str
    start: float
    end: float


def worker_timeline(run: RunView) -> Markup:
    """One row per slot, one bar per stage."""
    spans = _spans(run)
    if not spans:
        return element("p", "No stage has finished yet.", class_="quiet")
    shown = spans[:MAX_SPANS]
    slots = sorted({span.slot for span in shown})
    start, end = min(s.start for s in shown), max(s.end for s in shown)
    scale = (WIDTH - LABEL) / ((end - start) or 1.0)
    bars = [_text(slot, 0, n * ROW + 20, "start") for n, slot in enumerate(slots)]
    bars += [_bar(s, slots.index(s.slot), start, scale) for s in shown]
    head = f"What workers did ({duration(end - start)}, {some(len(shown), len(spans), 'stage')})"
    legend = element("p", *_legend(shown), class_="quiet")
    drawn = wide_drawing(WIDTH, len(slots) * ROW, *bars, label=head)
    return element("h3", head) + drawn + legend


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


def _bar(span: EvalSpan, row: int, start: float, scale: float) -> Markup:
    return element(
        "rect", element("title", span.title), x=LABEL + (span.start - start) * scale,
        y=row * ROW + 4, width=max(1.0, (span.end - span.start) * scale - 0.5), height=ROW - 8,
        fill=STAGES.get(span.stage, OTHER),
    )  # fmt: skip


def _legend(spans: Sequence[EvalSpan]) -> list[Markup]:
    known = [stage for stage in STAGES if any(span.stage == stage for span in spans)]
    parts = []
    for stage in known:
        box = element("rect", width=12, height=12, fill=STAGES[stage])
        mark = element("svg", box, width=12, height=12, aria_hidden="true")
        parts += [mark, element("span", f" {stage}   ")]
    return parts
