"""The report's pages of a tree run: the tree itself, charts, and the table of evals."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from weft.report.hook import Page
from weft.report.svg import element, table, wide_drawing
from weft.report.text import clip, some
from weft.report.view import RunView
from weft.tree.charts import scores_by_depth, worker_timeline
from weft.tree.evalpage import evals_page
from weft.tree.search import best_of
from weft.tree.story import Eval, Node
from weft.tree.view import Timing, TreeSeen, see

WIDTH, STEP, RADIUS = 1000, 90, 9
MAX_EVALS = 500
INK = "currentColor"


def lines(run: RunView) -> list[str]:
    """Return the lines that a tree run adds to its status and to its summary."""
    seen = see(run)
    story = seen.story
    done = sum(e.state in ("completed", "failed") for e in story.evals)
    told = [f"{done} of {len(story.evals)} planned evals done, {len(story.nodes)} nodes"]
    if story.nodes and story.nodes[0].result:
        best = best_of(seen.plot, story)
        told.insert(0, f"best {best.result['score']} at {best.name}, root {story.root_scores[0]}")
    return told


def pages(run: RunView) -> list[Page]:
    """Make the pages of a tree run."""
    seen = see(run)
    parts = [_tree(seen), scores_by_depth(seen), worker_timeline(run), _evals(seen)]
    return [
        Page("Tree", Markup("").join(parts), order=1),
        Page("Diffs and logs", evals_page(run, seen), order=2),
    ]


def _tree(seen: TreeSeen) -> Markup:
    """Nodes by depth from top to bottom; the way to the best one is marked."""
    nodes = [n for n in seen.story.nodes if n.result]
    if not nodes:
        return element("p", "The root has no score yet.", class_="quiet")
    best = {n.node_id for n in best_of(seen.plot, seen.story).path()}
    places = _places(nodes)
    drawn = [_edge(n, places, n.node_id in best) for n in nodes if n.parent is not None]
    drawn += [mark for n in nodes for mark in _node(n, places[n.node_id], n.node_id in best)]
    height = (max(n.depth for n in nodes) + 1) * STEP
    label = f"{len(nodes)} nodes, best {best_of(seen.plot, seen.story).name}"
    return element("h3", "Tree") + wide_drawing(WIDTH, height, *drawn, label=label)


def _places(nodes: Sequence[Node]) -> dict[int, tuple[float, float]]:
    places = {}
    for depth in range(max(n.depth for n in nodes) + 1):
        row = [n for n in nodes if n.depth == depth]
        for number, node in enumerate(row):
            x = WIDTH * (2 * number + 1) / (2 * len(row))
            places[node.node_id] = (x, depth * STEP + STEP / 3)
    return places


def _edge(node: Node, places: dict[int, tuple[float, float]], best: bool) -> Markup:
    assert node.parent is not None
    (x1, y1), (x2, y2) = places[node.parent.node_id], places[node.node_id]
    width = 4 if best else 1
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=INK, stroke_width=width, opacity=0.5)


def _node(node: Node, place: tuple[float, float], best: bool) -> list[Markup]:
    x, y = place
    idea = node.idea.name if node.idea else "root"
    dot = element(
        "circle",
        element("title", f"{node.name} {idea}: {node.result['score']}"),
        cx=x, cy=y, r=RADIUS + (4 if best else 0), fill=INK,
    )  # fmt: skip
    said = f"{node.name} {node.result['score']}"
    text = element("text", said, x=x, y=y + 30, text_anchor="middle", font_size=16, fill=INK)
    below = element(
        "text", clip(idea, 28), x=x, y=y + 46, text_anchor="middle", font_size=12, fill=INK
    )
    return [dot, text, below]


def _evals(seen: TreeSeen) -> Markup:
    shown = seen.story.evals[:MAX_EVALS]
    rows = [_row(e, seen.timing.get(e.eval_id, Timing())) for e in shown]
    heads = ["eval", "depth", "parent", "idea", "score", "rank", "verdict", "seconds", "attempts"]
    head = f"Evals ({some(len(shown), len(seen.story.evals), 'eval')})"
    return element("h3", head) + table(heads, rows)


def _row(e: Eval, timing: Timing) -> list[str]:
    score = str(e.result["score"]) if e.result else ""
    rank = "" if e.rank is None else str(e.rank)
    spent = f"{timing.seconds:.2f}"
    own = [e.name, str(e.depth), e.parent.name, e.idea.name, score, rank, e.verdict]
    return [*own, spent, str(timing.attempts)]
