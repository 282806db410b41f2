"""The context given to a propose command: its node, the path to it, and the evals on that path.

`context_of` is pure and derives the context from the history alone, with references to the ideas'
bytes. On the slot, `with_texts` inserts their texts and `as_markdown` formats the same for people
and agents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from weft.model.codec import to_json
from weft.model.values import Object, Value
from weft.searches.tree.history import Eval, TreeHistory, TreeNode

MAX_TRIED = 300
"""Number of evals listed, the latest ones; the rest are counted."""
MAX_TEXT = 4000
"""Limit on an idea's text, in characters."""
Read = Callable[[Object], bytes]


@dataclass(frozen=True, slots=True)
class PathStep:
    """A node on the path from the root."""

    node: str
    idea: str | None
    text: Object | None
    """The idea's bytes."""
    score: str | None
    metrics: Value


@dataclass(frozen=True, slots=True)
class TriedEval:
    """An eval on the path, with its verdict."""

    eval: str
    node: str
    idea: str
    text: Object | None
    score: str | None
    metrics: Value
    verdict: str
    why: str
    feedback: str


@dataclass(frozen=True, slots=True)
class ProposalContext:
    """Everything known before ideas for a node are generated."""

    node: str
    depth: int
    direction: str
    commit: str
    score: str | None
    metrics: Value
    path: tuple[PathStep, ...]
    tried: tuple[TriedEval, ...]
    left_out: int


def context_of(
    node: TreeNode, depth: int, history: TreeHistory, direction: str, inputs: Mapping[str, Object]
) -> ProposalContext:
    """Return the context for generating ideas for a node."""
    path = node.path()
    above = {n.node_id for n in path}
    tried = [e for e in history.evals if e.parent.node_id in above]
    result = node.result
    return ProposalContext(
        node.name, depth, direction, node.commit, result.score if result else None,
        result.metrics if result else None, tuple(_step(n, inputs) for n in path),
        tuple(_tried(e, inputs) for e in tried[-MAX_TRIED:]), max(0, len(tried) - MAX_TRIED),
    )  # fmt: skip


def _step(node: TreeNode, inputs: Mapping[str, Object]) -> PathStep:
    idea, result = node.idea, node.result
    return PathStep(
        node.name, idea.name if idea else None, idea.bytes_in(inputs) if idea else None,
        result.score if result else None, result.metrics if result else None,
    )  # fmt: skip


def _tried(item: Eval, inputs: Mapping[str, Object]) -> TriedEval:
    result = item.result
    why = next((rule.detail for rule in item.rules if not rule.passed), "")
    return TriedEval(
        item.name, item.parent.name, item.idea.name, item.idea.bytes_in(inputs),
        result.score if result else None, result.metrics if result else None, item.verdict,
        why, item.feedback,
    )  # fmt: skip


# -- on the slot --------------------------------------------------------------------------------


def with_texts(context: ProposalContext, read: Read, index: list[Value]) -> dict[str, Value]:
    """Return the context as a command reads it, with ideas as text and other runs' findings."""
    path: list[Value] = [{**to_json(s), "text": _text(s.text, read)} for s in context.path]
    tried: list[Value] = [{**to_json(e), "text": _text(e.text, read)} for e in context.tried]
    return {**to_json(context), "path": path, "tried": tried, "index": index}


def _text(content: Object | None, read: Read) -> str | None:
    return None if content is None else read(content).decode("utf-8", "replace")[:MAX_TEXT]


def as_markdown(context: ProposalContext, read: Read, index: list[Value]) -> str:
    """Format a context as Markdown, for people and agents."""
    better = "higher" if context.direction == "max" else "lower"
    lines = [
        f"# Ideas for {context.node}",
        "",
        f"Score {context.score}; {better} is better. Ideas will be tried at depth {context.depth}.",
        "",
        "## Path from the root",
        "",
    ]
    lines += [f"- {s.node}: {s.idea or 'root'}, score {s.score}" for s in context.path]
    lines += ["", "## Tried on this path", ""]
    for tried in context.tried:
        lines += _tried_lines(tried, _text(tried.text, read) or "")
    if context.left_out:
        lines.append(f"{context.left_out} earlier ones are left out.")
    lines += ["", "## Other runs", ""]
    for entry in index:
        if isinstance(entry, dict):
            scores = f"{entry['parent_score']} to {entry['score']}"
            lines.append(f"- {entry['idea']}: {entry['verdict']}, {scores}")
    return "\n".join([*lines, ""])


def _tried_lines(entry: TriedEval, text: str) -> list[str]:
    head = f"### {entry.eval} {entry.idea} on {entry.node}: {entry.verdict}"
    score = "no score" if entry.score is None else f"score {entry.score}"
    remarks = [part for part in (score, entry.why, entry.feedback) if part]
    return [head, "", ". ".join(remarks) + ".", "", "```", text.rstrip(), "```", ""]
