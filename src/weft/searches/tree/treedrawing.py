"""Draw the tree of a run: a row per node, with its children indented below it.

Edges run left of all labels, so that none crosses a label. A node's colour shows its gain over its
parent; evals that were not promoted follow their parent's label as small dots, with the reason as a
tooltip.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from markupsafe import Markup

from weft.inspect.report.svg import element, wide_drawing
from weft.inspect.report.text import clip
from weft.searches.tree.answer import best_of
from weft.searches.tree.history import Eval, TreeNode
from weft.searches.tree.load import TreeRun

ROW, INDENT, RADIUS, SMALL = 38, 34, 9, 4.5
LEFT, LABEL_WIDTH, DOTS, WIDTH = 16, 330, 440, 1000
"""X of the root nodes, width of a label, X of the first dot, and width of the drawing."""
MAX_NODES, MAX_DOTS = 200, 34
INK, BETTER, WORSE, NONE = "currentColor", "var(--c-completed)", "var(--c-failed)", "var(--soft)"
DOT_STEP = 12


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node and its row, counted from the top."""

    node: TreeNode
    row: int

    @property
    def x(self) -> float:
        """Its distance from the left."""
        return LEFT + INDENT * self.node.depth

    @property
    def y(self) -> float:
        """Its distance from the top."""
        return ROW * self.row + ROW / 2


def draw_tree(tree_run: TreeRun) -> Markup:
    """Draw every scored node, with the path to the best one in bold."""
    nodes = [node for node in tree_run.history.nodes if node.result]
    if not nodes:
        return element("p", "The root has no score yet.", class_="quiet")
    best = best_of(tree_run.config, tree_run.history)
    path = {node.node_id for node in best.path()}
    rows = list(_rows(nodes))[:MAX_NODES]
    by_id = {row.node.node_id: row for row in rows}
    gains = {node.node_id: _gain(tree_run, node.score, node.parent) for node in nodes}
    most = max((abs(gain) for gain in gains.values() if gain is not None), default=Decimal(0))
    drawn = [part for row in rows for part in _edge(row, by_id, path)]
    by_parent = _refused(tree_run.history.evals)
    for row in rows:
        gain = gains[row.node.node_id]
        drawn += _node(row, gain, most, row.node.node_id in path)
        drawn += _dots(tree_run, row, by_parent.get(row.node.node_id, ()))
    label = f"{len(nodes)} nodes, best {best.name} with {best.score_text}"
    picture = wide_drawing(WIDTH, ROW * len(rows), *drawn, label=label)
    left_out = f" {len(nodes) - len(rows)} more are not drawn." if len(rows) < len(nodes) else ""
    return element("h3", "Tree") + _key(left_out) + picture


def _key(left_out: str) -> Markup:
    parts = [(BETTER, "gained over its parent"), (WORSE, "lost"), (NONE, "no gain, or no score")]
    marks = [
        element("svg", element("circle", cx=6, cy=6, r=5, fill=colour), width=12, height=12,
                aria_hidden="true") + element("span", f" {text} ", class_="gap")
        for colour, text in parts
    ]  # fmt: skip
    note = (
        "The stronger the colour, the larger the gain. Small dots are evals that were not"
        f" promoted: hover for the reason.{left_out}"
    )
    return element("p", *marks, class_="quiet") + element("p", note, class_="quiet")


def _rows(nodes: Sequence[TreeNode]) -> Iterator[NodeRow]:
    """Yield nodes from top to bottom: each before its children, which are in order of id."""
    children: dict[int | None, list[TreeNode]] = {}
    for node in nodes:
        parent = None if node.parent is None else node.parent.node_id
        children.setdefault(parent, []).append(node)
    waiting, row = list(reversed(children.get(None, []))), 0
    while waiting:
        node = waiting.pop()
        yield NodeRow(node, row)
        row += 1
        waiting += reversed(children.get(node.node_id, []))


def _gain(tree_run: TreeRun, score: Decimal, parent: TreeNode | None) -> Decimal | None:
    """Return the gain over the parent in the direction of the search; None for a root."""
    if parent is None or parent.result is None:
        return None
    return (score - parent.score) * (1 if tree_run.config.direction == "max" else -1)


def _edge(row: NodeRow, by_id: Mapping[int, NodeRow], path: set[int]) -> list[Markup]:
    """Draw a line from the parent down, then right to the node."""
    parent = by_id.get(row.node.parent.node_id) if row.node.parent else None
    if parent is None:
        return []
    d = f"M{parent.x:g} {parent.y + RADIUS:g}V{row.y:g}H{row.x - RADIUS:g}"
    width, opacity = (3.5, 0.8) if row.node.node_id in path else (1.2, 0.45)
    return [element("path", d=d, fill="none", stroke=INK, stroke_width=width, opacity=opacity)]


def _paint(gain: Decimal | None, most: Decimal) -> tuple[str, float]:
    if gain is None or not gain or not most:
        return NONE, 1.0
    share = float(min(abs(gain) / most, Decimal(1)))
    return (BETTER if gain > 0 else WORSE), round(0.35 + 0.65 * share, 3)


def _node(row: NodeRow, gain: Decimal | None, most: Decimal, best: bool) -> list[Markup]:
    node = row.node
    idea = node.idea.name if node.idea else "root"
    fill, opacity = _paint(gain, most)
    change = "" if gain is None else f", gain {gain:+f}"
    tip = element("title", f"{node.name} {idea}: score {node.score_text}{change}")
    circle = element(
        "circle", tip, cx=row.x, cy=row.y, r=RADIUS + (2 if best else 0), fill=fill,
        fill_opacity=opacity, stroke=INK, stroke_width=2 if best else 0.6,
    )  # fmt: skip
    name = element("tspan", f"{node.name} {node.score_text}", font_weight=600 if best else 400)
    about = element("tspan", f"  {clip(idea, 30)}", font_size=12, opacity=0.75)
    label = element("text", name, about, x=row.x + 18, y=row.y + 5, font_size=15, fill=INK)
    return [circle, label]


def _refused(evals: Sequence[Eval]) -> dict[int, list[Eval]]:
    """Return the evals that did not become nodes, by parent node id."""
    by_parent: dict[int, list[Eval]] = {}
    for item in evals:
        if item.node_id is None:
            by_parent.setdefault(item.parent.node_id, []).append(item)
    return by_parent


def _dots(tree_run: TreeRun, row: NodeRow, evals: Sequence[Eval]) -> list[Markup]:
    start = max(DOTS, row.x + LABEL_WIDTH)
    room = min(MAX_DOTS, int((WIDTH - 40 - start) / DOT_STEP))
    scores = [_score_gain(tree_run, item) for item in evals]
    most = max((abs(gain) for gain in scores if gain is not None), default=Decimal(0))
    dots = []
    for at, (item, gain) in enumerate(zip(evals[:room], scores, strict=False)):
        fill, opacity = _paint(gain, most)
        score = "" if item.score is None else f", score {item.score}"
        tip = element("title", f"{item.name} {item.idea.name}: {item.verdict}{score}")
        dots.append(element(
            "circle", tip, cx=start + DOT_STEP * at, cy=row.y, r=SMALL, class_="refused",
            fill="none" if gain is None else fill, fill_opacity=opacity, stroke=NONE,
        ))  # fmt: skip
    if len(evals) > room:
        text = f"+{len(evals) - room}"
        x = start + DOT_STEP * room
        dots.append(element("text", text, x=x, y=row.y + 4, font_size=11, fill=NONE))
    return dots


def _score_gain(tree_run: TreeRun, item: Eval) -> Decimal | None:
    return None if item.score is None else _gain(tree_run, Decimal(item.score), item.parent)
