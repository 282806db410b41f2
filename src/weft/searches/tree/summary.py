"""A tree run as Markdown: TREE_SUMMARY.md and TREE_GRAPH.md.

Everything but the table of times follows from the ledger and is equal for equal heads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from weft.model.codec import to_json
from weft.searches.tree.history import Eval, TreeNode
from weft.searches.tree.load import Timing, TreeRun
from weft.searches.tree.search import best_of

TIMING = "## Timing"
MIB = 1 << 20
Cell = str | int | None


def summary(tree_run: TreeRun) -> str:
    """Return TREE_SUMMARY.md."""
    parts = [
        _head(tree_run),
        _config(tree_run),
        _depths(tree_run),
        _nodes(tree_run),
        _best(tree_run),
        _evals(tree_run),
    ]
    return "\n".join([*parts, _skips(tree_run), _timing(tree_run)])


def graph(tree_run: TreeRun) -> str:
    """Return TREE_GRAPH.md: the nodes as a Mermaid drawing."""
    lines = ["# Tree", "", "```mermaid", "graph TD"]
    for node in tree_run.history.nodes:
        score = node.score_text if node.result else "?"
        lines.append(f'  {node.name}["{node.name}: {score}"]')
        if node.parent is not None and node.idea is not None:
            label = "".join(c if c.isalnum() or c in " ._=-" else "_" for c in node.idea.name)
            lines.append(f'  {node.parent.name} -->|"{label}"| {node.name}')
    return "\n".join([*lines, "```", ""])


def _head(tree_run: TreeRun) -> str:
    history = tree_run.history
    stopped = history.stopped or "max_depth is reached"
    lines = [
        "# Tree summary",
        "",
        f"{len(history.evals)} evals, {len(history.nodes)} nodes. {stopped}.",
    ]
    if len(history.root_scores) > 1:
        scores = ", ".join(history.root_scores)
        lines.append(f"The root scored {scores}: noise band {history.band}.")
    if tree_run.imported_from:
        count = sum(bool(e.imported) for e in history.evals)
        lines.append(
            f"{count} evals are imported from the run with the head {tree_run.imported_from}."
        )
    if history.usd or history.tokens:
        lines.append(f"Spent: {history.usd} USD, {history.tokens} tokens.")
    return "\n".join([*lines, ""])


def _config(tree_run: TreeRun) -> str:
    plain = {n: v for n, v in to_json(tree_run.config).items() if n != "stages"}
    stages = {name: " ".join(s.argv) or "built in" for name, s in tree_run.config.stages.items()}
    rows = [*plain.items(), *stages.items()]
    return "## Config\n\n" + markdown_table(["field", "value"], [[n, f"`{v}`"] for n, v in rows])


def _depths(tree_run: TreeRun) -> str:
    rows: list[list[Cell]] = []
    for depth in range(1, max((e.depth for e in tree_run.history.evals), default=0) + 1):
        evals = tree_run.history.at(depth)
        nodes = [n for n in tree_run.history.nodes if n.depth == depth]
        states = [sum(e.state == s for e in evals) for s in ("completed", "failed", "dropped")]
        best = nodes[0].score_text if nodes else ""
        rows.append([depth, len(evals), *states, len(nodes), best])
    heads = ["depth", "evals", "completed", "failed", "dropped", "promoted", "best score"]
    return "## Depths\n\n" + markdown_table(heads, rows)


def _nodes(tree_run: TreeRun) -> str:
    rows = [_node_row(node) for node in tree_run.history.nodes]
    heads = ["node", "depth", "parent", "eval", "idea", "score", "holdout", "commit"]
    return "## Nodes\n\n" + markdown_table(heads, rows)


def _node_row(node: TreeNode) -> list[Cell]:
    parent = node.parent.name if node.parent else ""
    origin = "" if node.eval_id is None else f"e{node.eval_id}"
    idea = node.idea.name if node.idea else "root"
    score = node.result.score if node.result else None
    holdout = node.result.recorded.get("holdout", "") if node.result else ""
    return [node.name, node.depth, parent, origin, idea, score, f"{holdout}", node.commit]


def _best(tree_run: TreeRun) -> str:
    if not tree_run.history.nodes or tree_run.history.nodes[0].result is None:
        return "## Best path\n\nThe root has no score.\n"
    path = best_of(tree_run.config, tree_run.history).path()
    lines = [
        f"{number}. {node.idea.name if node.idea else 'root'}: {node.score_text}"
        for number, node in enumerate(path)
    ]
    return "\n".join(["## Best path", "", *lines, ""])


def _evals(tree_run: TreeRun) -> str:
    heads = ["eval", "depth", "parent", "idea", "state", "stage", "score", "rank", "verdict"]
    return "## Evals\n\n" + markdown_table(heads, [_eval_row(e) for e in tree_run.history.evals])


def _eval_row(e: Eval) -> list[Cell]:
    score = e.score or ""
    rank = "" if e.rank is None else e.rank
    return [e.name, e.depth, e.parent.name, e.idea.name, e.state, e.stage, score, rank, e.verdict]


def _skips(tree_run: TreeRun) -> str:
    rows: list[list[Cell]] = [
        [f"n{s.node_id}", s.depth, s.idea, s.reason] for s in tree_run.history.skips
    ]
    if not rows:
        return "## Skipped ideas\n\nNone.\n"
    return "## Skipped ideas\n\n" + markdown_table(["node", "depth", "idea", "why"], rows)


def _timing(tree_run: TreeRun) -> str:
    rows: list[list[Cell]] = []
    for item in tree_run.history.evals:
        t = tree_run.timing.get(item.eval_id, Timing())
        peak = f"{t.peak_bytes / MIB:.0f}"
        rows.append([item.name, t.attempts, f"{t.seconds:.2f}", f"{t.cpu_s:.2f}", peak])
    heads = ["eval", "attempts", "seconds", "CPU s", "peak MiB"]
    return f"{TIMING}\n\n" + markdown_table(heads, rows)


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Write a table; what cannot be printed is escaped."""
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    lines += [f"| {' | '.join(_cell(value) for value in row)} |" for row in rows]
    return "\n".join([*lines, ""])


def _cell(value: Cell) -> str:
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(value))
    return text.replace("|", "\\|")
