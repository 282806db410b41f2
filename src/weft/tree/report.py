"""The report's pages of a tree run: the tree, scores by depth, the evals with diffs, times."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from markupsafe import Markup

from weft.report.hook import Page
from weft.report.svg import drawing, element, table
from weft.report.text import clip, duration, some
from weft.report.view import RunView
from weft.tree.search import best_of
from weft.tree.story import Eval, Node
from weft.tree.view import Timing, TreeSeen, see

WIDTH, STEP, RADIUS = 1000, 90, 9
MAX_EVALS = 500
MAX_DIFFS = 60
DIFF_BYTES = 6000
BAR = 12
INK = "currentColor"


def lines(run: RunView) -> list[str]:
    """Return the lines that a tree run adds to its status and to its summary."""
    seen = see(run)
    story = seen.story
    done = sum(e.state in ("completed", "failed") for e in story.evals)
    told = [f"{done} of {len(story.evals)} planned evals done, {len(story.nodes)} nodes"]
    if story.nodes and story.nodes[0].result:
        best = best_of(seen.plot, story)
        told.append(f"best {best.result['score']} at {best.name}, root {story.root_scores[0]}")
    return told


def pages(run: RunView) -> list[Page]:
    """Make the pages of a tree run."""
    seen = see(run)
    parts = [_tree(seen), _depths(seen), _timeline(seen), _evals(seen)]
    return [
        Page("Tree", Markup("").join(parts), order=1),
        Page("Diffs", _diffs(run, seen), order=2),
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
    return element("h3", "Tree") + drawing(WIDTH, height, *drawn, label=label)


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


def _depths(seen: TreeSeen) -> Markup:
    rows = []
    for depth in range(max((e.depth for e in seen.story.evals), default=0) + 1):
        nodes = [n for n in seen.story.nodes if n.depth == depth and n.result]
        evals = seen.story.at(depth)
        scores = [Decimal(e.result["score"]) for e in evals if e.result]
        spread = f"{min(scores)} to {max(scores)}" if scores else ""
        best = nodes[0].result["score"] if nodes else ""
        rows.append([str(depth), str(len(evals)), str(len(nodes)), best, spread])
    heads = ["depth", "evals", "nodes", "best score", "scores of all evals"]
    return element("h3", "Score by depth") + table(heads, rows)


def _timeline(seen: TreeSeen) -> Markup:
    """One bar per eval, from its first start to its last end."""
    spans = [
        (e, t)
        for e in seen.story.evals[:MAX_EVALS]
        if (t := seen.timing.get(e.eval_id)) and t.started_at and t.finished_at
    ]
    if not spans:
        return element("p", "No eval has finished yet.", class_="quiet")
    start = min(t.started_at or 0.0 for _, t in spans)
    length = max(t.finished_at or 0.0 for _, t in spans) - start or 1.0
    bars = [_bar(number, e, t, start, length) for number, (e, t) in enumerate(spans)]
    head = f"Timeline of evals ({duration(length)})"
    return element("h3", head) + drawing(WIDTH, len(spans) * BAR, *bars, label=head)


def _bar(number: int, item: Eval, timing: Timing, start: float, length: float) -> Markup:
    x = WIDTH * ((timing.started_at or start) - start) / length
    width = WIDTH * ((timing.finished_at or start) - (timing.started_at or start)) / length
    title = element("title", f"{item.name} {item.idea.name}: {item.verdict}")
    shade = 0.9 if item.node_id is not None else 0.4
    return element(
        "rect", title, x=x, y=number * BAR, width=max(1.0, width), height=BAR - 3,
        fill=INK, opacity=shade,
    )  # fmt: skip


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


def _diffs(run: RunView, seen: TreeSeen) -> Markup:
    """Diffs of promoted evals first, then of refused ones."""
    found = [e for e in seen.story.evals if e.candidate and e.candidate["diff"] is not None]
    found.sort(key=lambda e: (e.node_id is None, e.eval_id))
    parts = [element("p", some(min(len(found), MAX_DIFFS), len(found), "diff"))]
    for item in found[:MAX_DIFFS]:
        assert item.candidate is not None
        text = run.read(item.candidate["diff"]).decode("utf-8", "replace")
        parts.append(element("h4", f"{item.name} {item.idea.name}: {item.verdict}"))
        parts.append(element("pre", Markup.escape(clip(text, DIFF_BYTES, lines=True))))
    return Markup("").join(parts)
