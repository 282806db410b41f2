"""The report's page of evals: each with its rules, its diff and the end of its log.

Promoted ones come first, then refused ones, whose diffs stay readable; what does not fit the
page is counted.
"""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from weft.inspect.report.svg import element, table
from weft.inspect.report.text import clip, duration, some
from weft.inspect.report.view import RunView
from weft.searches.tree.history import Eval
from weft.searches.tree.load import Timing, TreeRun

MAX_SHOWN = 150
DIFF_BYTES = 6000
LOG_BYTES = 1500
MAX_BYTES = 600_000
"""Of the whole page."""


def evals_page(run: RunView, tree_run: TreeRun) -> Markup:
    """Return one block per eval that can be opened: rules, diff, log."""
    order = sorted(
        tree_run.history.evals, key=lambda e: (e.node_id is None, e.result is None, e.eval_id)
    )
    blocks, used = [], 0
    for item in order[:MAX_SHOWN]:
        block = _block(run, item, tree_run.timing.get(item.eval_id, Timing()))
        used += len(block.encode())
        if used > MAX_BYTES:
            break
        blocks.append(block)
    head = some(len(blocks), len(order), "eval")
    text = f"{head}; promoted ones first. Open one for its rules, diff and log."
    return element("p", text, class_="quiet") + Markup("").join(blocks)


def _block(run: RunView, item: Eval, timing: Timing) -> Markup:
    score = f", score {item.score}" if item.score else ""
    head = f"{item.name} {clip(item.idea.name, 80)} on {item.parent.name}: {item.verdict}{score}"
    spent = element("small", f" {duration(timing.seconds)}", class_="quiet")
    inside = [_rules(item), _diff(run, item), *_logs(run, item)]
    summary = element("summary", element("span", head), spent)
    return element("details", summary, *inside, class_="eval")


def _rules(item: Eval) -> Markup:
    if not item.rules:
        return Markup("")
    rows = [["ok" if rule.passed else "no", rule.name, rule.detail] for rule in item.rules]
    return table(["", "rule", "detail"], rows)


def _diff(run: RunView, item: Eval) -> Markup:
    if item.candidate is None or item.candidate.diff is None:
        return element("p", "It made no diff.", class_="quiet")
    text = run.read(item.candidate.diff).decode("utf-8", "replace")
    return element("h4", "Diff") + _text(clip(text, DIFF_BYTES, lines=True))


def _logs(run: RunView, item: Eval) -> Iterator[Markup]:
    for key, stage in zip(item.keys, item.stages, strict=True):
        text = run.log_tail(key, LOG_BYTES)
        if text:
            yield element("h4", f"End of the log: {stage}")
            yield _text(clip(text, 2 * LOG_BYTES, lines=True))


def _text(text: str) -> Markup:
    return element("pre", Markup.escape(text))
