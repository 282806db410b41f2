"""What a proposing command is told: its node, the way to it, and all that was tried there.

`context_of` is pure and follows from the story alone; it holds references to the ideas' bytes.
`told` puts their texts in on the slot, `as_markdown` writes the same for people and agents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from weft.model.values import Object
from weft.tree.story import Eval, Node, Story

MAX_TRIED = 300
"""Evals told of, the latest ones; the rest is counted."""
MAX_TEXT = 4000
"""Characters of an idea's text."""


def context_of(
    node: Node, depth: int, story: Story, direction: str, inputs: Mapping[str, Object]
) -> dict[str, Any]:
    """Return what is known before ideas for a node are made."""
    path = node.path()
    above = {n.node_id for n in path}
    tried = [e for e in story.evals if e.parent.node_id in above]
    return {
        "node": node.name,
        "depth": depth,
        "direction": direction,
        "commit": node.commit,
        "score": node.result.get("score"),
        "metrics": node.result.get("metrics"),
        "path": [_step(n, inputs) for n in path],
        "tried": [_tried(e, inputs) for e in tried[-MAX_TRIED:]],
        "left_out": max(0, len(tried) - MAX_TRIED),
    }


def _step(node: Node, inputs: Mapping[str, Object]) -> dict[str, Any]:
    return {
        "node": node.name,
        "idea": node.idea.name if node.idea else None,
        "text": node.idea.bytes_in(inputs) if node.idea else None,
        "score": node.result.get("score"),
        "metrics": node.result.get("metrics"),
    }


def _tried(item: Eval, inputs: Mapping[str, Object]) -> dict[str, Any]:
    result = item.result or {}
    return {
        "eval": item.name,
        "node": item.parent.name,
        "idea": item.idea.name,
        "text": item.idea.bytes_in(inputs),
        "score": result.get("score"),
        "metrics": result.get("metrics"),
        "verdict": item.verdict,
        "why": next((rule.said for rule in item.rules if not rule.passed), ""),
        "feedback": item.feedback,
    }


# -- on the slot --------------------------------------------------------------------------------


def told(
    context: Mapping[str, Any], read: Callable[[Object], bytes], index: list[Any]
) -> dict[str, Any]:
    """Return a context with the ideas' texts in place of references, and what other runs found."""
    filled = {name: [_filled(entry, read) for entry in context[name]] for name in ("path", "tried")}
    return {**context, **filled, "index": index}


def _filled(entry: Mapping[str, Any], read: Callable[[Object], bytes]) -> dict[str, Any]:
    found = entry["text"]
    text = None if found is None else read(found).decode("utf-8", "replace")[:MAX_TEXT]
    return {**entry, "text": text}


def as_markdown(context: Mapping[str, Any]) -> str:
    """Write a context for people and agents to read."""
    better = "higher" if context["direction"] == "max" else "lower"
    lines = [
        f"# Ideas for {context['node']}",
        "",
        f"Score {context['score']}; {better} is better. Ideas will be tried at depth"
        f" {context['depth']}.",
        "",
        "## The way here",
        "",
    ]
    lines += [f"- {s['node']}: {s['idea'] or 'root'}, score {s['score']}" for s in context["path"]]
    lines += ["", "## Tried on the way", ""]
    for entry in context["tried"]:
        lines += _tried_lines(entry)
    if context["left_out"]:
        lines.append(f"{context['left_out']} earlier ones are left out.")
    lines += ["", "## Other runs", ""]
    lines += [_index_line(entry) for entry in context["index"]]
    return "\n".join([*lines, ""])


def _tried_lines(entry: Mapping[str, Any]) -> list[str]:
    head = f"### {entry['eval']} {entry['idea']} on {entry['node']}: {entry['verdict']}"
    score = "no score" if entry["score"] is None else f"score {entry['score']}"
    said = [part for part in (score, entry["why"], entry["feedback"]) if part]
    body = ["", "```", (entry["text"] or "").rstrip(), "```", ""]
    return [head, "", ". ".join(said) + ".", *body]


def _index_line(entry: Mapping[str, Any]) -> str:
    return f"- {entry['idea']}: {entry['verdict']}, {entry['parent_score']} to {entry['score']}"
