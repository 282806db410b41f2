"""The report's pages of a tree run: the tree itself, charts, and the table of evals."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from weft.inspect.report.hook import Page
from weft.inspect.report.svg import element, table, wide_drawing
from weft.inspect.report.text import clip, some
from weft.inspect.report.view import RunView
from weft.searches.tree.charts import scores_by_depth, worker_timeline
from weft.searches.tree.evalpage import evals_page
from weft.searches.tree.history import Eval, TreeNode
from weft.searches.tree.load import Timing, TreeRun, load_run
from weft.searches.tree.search import best_of

WIDTH, STEP, RADIUS = 1000, 90, 9
MAX_EVALS = 500
INK = "currentColor"


def lines(run: RunView) -> list[str]:
    """Return the lines that a tree run adds to its status and to its summary."""
    tree_run = load_run(run)
    history = tree_run.history
    done = sum(e.state in ("completed", "failed") for e in history.evals)
    summary = [f"{done} of {len(history.evals)} planned evals done, {len(history.nodes)} nodes"]
    if history.nodes and history.nodes[0].result:
        best = best_of(tree_run.config, history)
        root = history.root_scores[0]
        summary.insert(0, f"best {best.score_text} at {best.name}, root {root}")
    return summary


def pages(run: RunView) -> list[Page]:
    """Make the pages of a tree run."""
    tree_run = load_run(run)
    parts = [_tree(tree_run), scores_by_depth(tree_run), worker_timeline(run), _evals(tree_run)]
    return [
        Page("Tree", Markup("").join(parts), order=1),
        Page("Diffs and logs", evals_page(run, tree_run), order=2),
    ]


def _tree(tree_run: TreeRun) -> Markup:
    """Nodes by depth from top to bottom; the path to the best one is marked."""
    nodes = [n for n in tree_run.history.nodes if n.result]
    if not nodes:
        return element("p", "The root has no score yet.", class_="quiet")
    best = {n.node_id for n in best_of(tree_run.config, tree_run.history).path()}
    places = _places(nodes)
    drawn = [_edge(n, places, n.node_id in best) for n in nodes if n.parent is not None]
    drawn += [mark for n in nodes for mark in _node(n, places[n.node_id], n.node_id in best)]
    height = (max(n.depth for n in nodes) + 1) * STEP
    label = f"{len(nodes)} nodes, best {best_of(tree_run.config, tree_run.history).name}"
    return element("h3", "Tree") + wide_drawing(WIDTH, height, *drawn, label=label)


def _places(nodes: Sequence[TreeNode]) -> dict[int, tuple[float, float]]:
    places = {}
    for depth in range(max(n.depth for n in nodes) + 1):
        row = [n for n in nodes if n.depth == depth]
        for number, node in enumerate(row):
            x = WIDTH * (2 * number + 1) / (2 * len(row))
            places[node.node_id] = (x, depth * STEP + STEP / 3)
    return places


def _edge(node: TreeNode, places: dict[int, tuple[float, float]], best: bool) -> Markup:
    assert node.parent is not None
    (x1, y1), (x2, y2) = places[node.parent.node_id], places[node.node_id]
    width = 4 if best else 1
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=INK, stroke_width=width, opacity=0.5)


def _node(node: TreeNode, place: tuple[float, float], best: bool) -> list[Markup]:
    x, y = place
    idea = node.idea.name if node.idea else "root"
    dot = element(
        "circle",
        element("title", f"{node.name} {idea}: {node.score_text}"),
        cx=x, cy=y, r=RADIUS + (4 if best else 0), fill=INK,
    )  # fmt: skip
    label = f"{node.name} {node.score_text}"
    text = element("text", label, x=x, y=y + 30, text_anchor="middle", font_size=16, fill=INK)
    below = element(
        "text", clip(idea, 28), x=x, y=y + 46, text_anchor="middle", font_size=12, fill=INK
    )
    return [dot, text, below]


def _evals(tree_run: TreeRun) -> Markup:
    shown = tree_run.history.evals[:MAX_EVALS]
    rows = [_row(e, tree_run.timing.get(e.eval_id, Timing())) for e in shown]
    heads = ["eval", "depth", "parent", "idea", "score", "rank", "verdict", "seconds", "attempts"]
    head = f"Evals ({some(len(shown), len(tree_run.history.evals), 'eval')})"
    return element("h3", head) + table(heads, rows)


def _row(e: Eval, timing: Timing) -> list[str]:
    score = e.score or ""
    rank = "" if e.rank is None else str(e.rank)
    spent = f"{timing.seconds:.2f}"
    own = [e.name, str(e.depth), e.parent.name, e.idea.name, score, rank, e.verdict]
    return [*own, spent, str(timing.attempts)]
