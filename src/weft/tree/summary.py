"""A tree run as Markdown: TREE_SUMMARY.md and TREE_GRAPH.md.

Everything but the table of times follows from the ledger and is equal for equal heads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from weft.tree.search import best_of
from weft.tree.story import Eval, Node
from weft.tree.view import Timing, TreeSeen

TIMING = "## Timing"
MIB = 1 << 20


def summary(seen: TreeSeen) -> str:
    """Return TREE_SUMMARY.md."""
    parts = [_head(seen), _config(seen), _depths(seen), _nodes(seen), _best(seen), _evals(seen)]
    return "\n".join([*parts, _skips(seen), _timing(seen)])


def graph(seen: TreeSeen) -> str:
    """Return TREE_GRAPH.md: the nodes as a Mermaid drawing."""
    lines = ["# Tree", "", "```mermaid", "graph TD"]
    for node in seen.story.nodes:
        score = node.result.get("score", "?")
        lines.append(f'  {node.name}["{node.name}: {score}"]')
        if node.parent is not None and node.idea is not None:
            label = "".join(c if c.isalnum() or c in " ._=-" else "_" for c in node.idea.name)
            lines.append(f'  {node.parent.name} -->|"{label}"| {node.name}')
    return "\n".join([*lines, "```", ""])


def _head(seen: TreeSeen) -> str:
    story = seen.story
    stopped = story.stopped or "max_depth is reached"
    lines = [
        "# Tree summary",
        "",
        f"{len(story.evals)} evals, {len(story.nodes)} nodes. {stopped}.",
    ]
    if len(story.root_scores) > 1:
        scores = ", ".join(story.root_scores)
        lines.append(f"The root scored {scores}: noise band {story.band}.")
    if seen.imported_from:
        count = sum(bool(e.imported) for e in story.evals)
        lines.append(f"{count} evals are imported from the run with the head {seen.imported_from}.")
    if story.usd or story.tokens:
        lines.append(f"Spent: {story.usd} USD, {story.tokens} tokens.")
    return "\n".join([*lines, ""])


def _config(seen: TreeSeen) -> str:
    plain = {n: v for n, v in seen.plot.to_dict().items() if n != "stages"}
    stages = {name: " ".join(s.argv) or "built in" for name, s in seen.plot.stages.items()}
    rows = [*plain.items(), *stages.items()]
    return "## Config\n\n" + markdown_table(["field", "value"], [[n, f"`{v}`"] for n, v in rows])


def _depths(seen: TreeSeen) -> str:
    rows = []
    for depth in range(1, max((e.depth for e in seen.story.evals), default=0) + 1):
        evals = seen.story.at(depth)
        nodes = [n for n in seen.story.nodes if n.depth == depth]
        states = [sum(e.state == s for e in evals) for s in ("completed", "failed", "dropped")]
        best = nodes[0].result["score"] if nodes else ""
        rows.append([depth, len(evals), *states, len(nodes), best])
    heads = ["depth", "evals", "completed", "failed", "dropped", "promoted", "best score"]
    return "## Depths\n\n" + markdown_table(heads, rows)


def _nodes(seen: TreeSeen) -> str:
    rows = [_node_row(node) for node in seen.story.nodes]
    heads = ["node", "depth", "parent", "eval", "idea", "score", "holdout", "commit"]
    return "## Nodes\n\n" + markdown_table(heads, rows)


def _node_row(node: Node) -> list[Any]:
    parent = node.parent.name if node.parent else ""
    origin = "" if node.eval_id is None else f"e{node.eval_id}"
    idea = node.idea.name if node.idea else "root"
    result = node.result
    holdout = result.get("holdout", "")
    return [node.name, node.depth, parent, origin, idea, result.get("score"), holdout, node.commit]


def _best(seen: TreeSeen) -> str:
    if not seen.story.nodes or not seen.story.nodes[0].result:
        return "## Best path\n\nThe root has no score.\n"
    path = best_of(seen.plot, seen.story).path()
    lines = [
        f"{number}. {node.idea.name if node.idea else 'root'}: {node.result['score']}"
        for number, node in enumerate(path)
    ]
    return "\n".join(["## Best path", "", *lines, ""])


def _evals(seen: TreeSeen) -> str:
    heads = ["eval", "depth", "parent", "idea", "state", "stage", "score", "rank", "verdict"]
    return "## Evals\n\n" + markdown_table(heads, [_eval_row(e) for e in seen.story.evals])


def _eval_row(e: Eval) -> list[Any]:
    score = e.result["score"] if e.result else ""
    rank = "" if e.rank is None else e.rank
    return [e.name, e.depth, e.parent.name, e.idea.name, e.state, e.stage, score, rank, e.verdict]


def _skips(seen: TreeSeen) -> str:
    rows = [[f"n{s.node_id}", s.depth, s.idea, s.reason] for s in seen.story.skips]
    if not rows:
        return "## Skipped ideas\n\nNone.\n"
    return "## Skipped ideas\n\n" + markdown_table(["node", "depth", "idea", "why"], rows)


def _timing(seen: TreeSeen) -> str:
    rows = []
    for item in seen.story.evals:
        t = seen.timing.get(item.eval_id, Timing())
        peak = f"{t.peak_bytes / MIB:.0f}"
        rows.append([item.name, t.attempts, f"{t.seconds:.2f}", f"{t.cpu_s:.2f}", peak])
    heads = ["eval", "attempts", "seconds", "CPU s", "peak MiB"]
    return f"{TIMING}\n\n" + markdown_table(heads, rows)


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Write a table; what cannot be printed is escaped."""
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    lines += [f"| {' | '.join(_cell(value) for value in row)} |" for row in rows]
    return "\n".join([*lines, ""])


def _cell(value: Any) -> str:
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(value))
    return text.replace("|", "\\|")
