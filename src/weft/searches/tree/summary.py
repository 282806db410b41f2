"""A tree run as Markdown: TREE_SUMMARY.md and TREE_GRAPH.md.

Everything except the timing table is derived from the ledger and is equal for equal heads.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from weft.inspect.report.text import counted
from weft.model.codec import to_json
from weft.model.values import Value
from weft.searches.tree.answer import best_of
from weft.searches.tree.history import Eval, TreeNode
from weft.searches.tree.load import Timing, TreeRun

MIB = 1 << 20
NO_SKIPS = "## Skipped ideas\n\nNone.\n"
Cell = str | int | None
Rows = Iterable[Sequence[Cell]]


def summary(tree_run: TreeRun) -> str:
    """Return TREE_SUMMARY.md."""
    history = tree_run.history
    skips = [(f"n{skip.node_id}", skip.depth, skip.idea, skip.reason) for skip in history.skips]
    parts = [
        _head(tree_run),
        _section("Config", "field,value", _config(tree_run)),
        _section("Depths", DEPTH, _depths(tree_run)),
        _section("Nodes", NODE, [_node(node) for node in history.nodes]),
        _best(tree_run),
        _section("Evals", EVAL, [_eval(item) for item in history.evals]),
        _section("Skipped ideas", "node,depth,idea,why", skips) if skips else NO_SKIPS,
        *_costs(tree_run),
        _section("Timing", TIMING, _timing(tree_run)),
    ]
    return "\n".join(parts)


def _section(title: str, heads: str, rows: Rows) -> str:
    return f"## {title}\n\n" + markdown_table(heads.split(","), rows)


def graph(tree_run: TreeRun) -> str:
    """Return TREE_GRAPH.md: the nodes as a Mermaid diagram."""
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
    counts = f"{counted(len(history.evals), 'eval')}, {counted(len(history.nodes), 'node')}."
    ended = f"Stopped by {history.stopped}." if history.stopped else "Under way."
    lines = ["# Tree summary", "", f"{counts} {ended}"]
    if len(history.root_scores) > 1:
        scores = ", ".join(history.root_scores)
        lines.append(f"The root scored {scores}: noise band {history.band}.")
    if tree_run.imported_from:
        count = sum(bool(e.imported) for e in history.evals)
        origin = f"the run with the head {tree_run.imported_from}"
        lines.append(f"Imported from {origin}: {counted(count, 'eval')}.")
    if history.usd or history.tokens:
        lines.append(f"Spent: {history.usd} USD, {history.tokens} tokens.")
    lines += [f"{note}." for note in tree_run.score_notes()]
    return "\n".join([*lines, ""])


def _config(tree_run: TreeRun) -> Iterator[tuple[Cell, Cell]]:
    for name, value in to_json(tree_run.config).items():
        if name != "stages":
            yield name, _setting(value)
    for name, stage in tree_run.config.stages.items():
        yield name, f"`{' '.join(stage.argv) or 'built in'}`"


def _setting(value: Value) -> str:
    """Format a field's value as in the config file.

    >>> _setting(True), _setting("three-way"), _setting(""), _setting(0)
    ('`true`', '`"three-way"`', 'none', '`0`')
    """
    if value is None or value in ("", [], {}):
        return "none"
    return f"`{json.dumps(value, ensure_ascii=False, default=str)}`"


DEPTH = "depth,evals,completed,failed,dropped,promoted,best score"
NODE = "node,depth,parent,eval,idea,score,holdout,commit"
COST = "stage,calls,USD,input tokens,output tokens"
TIMING = "eval,attempts,seconds,CPU s,peak MiB"
EVAL = "eval,depth,parent,idea,state,stage,score,rank,verdict"


def _depths(tree_run: TreeRun) -> Iterator[list[Cell]]:
    for depth in range(1, max((e.depth for e in tree_run.history.evals), default=0) + 1):
        evals = tree_run.history.at(depth)
        nodes = [n for n in tree_run.history.nodes if n.depth == depth]
        states = [sum(e.state == s for e in evals) for s in ("completed", "failed", "dropped")]
        best = nodes[0].score_text if nodes else ""
        yield [depth, len(evals), *states, len(nodes), best]


def _node(node: TreeNode) -> list[Cell]:
    parent = node.parent.name if node.parent else ""
    origin = "" if node.eval_id is None else f"e{node.eval_id}"
    idea = node.idea.name if node.idea else "root"
    score = node.result.score if node.result else None
    holdout = node.result.recorded.get("holdout", "") if node.result else ""
    return [node.name, node.depth, parent, origin, idea, score, f"{holdout}", node.commit]


def _best(tree_run: TreeRun) -> str:
    if not tree_run.history.scored_roots():
        return "## Best path\n\nThe root has no score.\n"
    path = best_of(tree_run.config, tree_run.history).path()
    steps = [f"{node.idea.name if node.idea else 'root'}: {node.score_text}" for node in path]
    lines = [f"{number}. {step}\n" for number, step in enumerate(steps)]
    return "## Best path\n\n" + "".join(lines)


def _eval(e: Eval) -> list[Cell]:
    rank = "" if e.rank is None else e.rank
    place: list[Cell] = [e.name, e.depth, e.parent.name, e.idea.name]
    return [*place, e.state, e.stage, e.score or "", rank, e.verdict]


def _costs(tree_run: TreeRun) -> Iterator[str]:
    """Yield the table of costs by stage; nothing if no command reported a cost."""
    rows: list[list[Cell]] = [
        [stage, c.calls, f"{c.usd:f}", c.input_tokens, c.output_tokens]
        for stage, c in tree_run.history.costs.items()
    ]
    if rows:
        yield _section("Cost", COST, rows)


def _timing(tree_run: TreeRun) -> Iterator[list[Cell]]:
    for item in tree_run.history.evals:
        t = tree_run.timing.get(item.eval_id, Timing())
        peak = f"{t.peak_bytes / MIB:.0f}"
        yield [item.name, attempts_text(t), f"{t.seconds:.2f}", f"{t.cpu_s:.2f}", peak]


def attempts_text(timing: Timing) -> str:
    """Return the number of attempts, with details of stages that had more than one."""
    several = {stage: n for stage, n in timing.attempts_by_stage.items() if n > 1}
    details = ", ".join(f"{stage} {n}" for stage, n in several.items())
    return f"{timing.attempts} ({details})" if details else str(timing.attempts)


def markdown_table(heads: Sequence[str], rows: Rows) -> str:
    """Return a Markdown table; non-printable characters are escaped."""
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    lines += [f"| {' | '.join(_cell(value) for value in row)} |" for row in rows]
    return "\n".join([*lines, ""])


def _cell(value: Cell) -> str:
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(value))
    return text.replace("|", "\\|")
