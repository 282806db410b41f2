"""Report pages of a tree run: tree, charts and evals, then each eval's rules, diff and log."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator

from markupsafe import Markup

from weft.inspect.report.controls import finder
from weft.inspect.report.hook import Page
from weft.inspect.report.svg import element, table
from weft.inspect.report.text import clip, counted, duration, some
from weft.inspect.report.view import RunView
from weft.searches.tree.answer import best_among, best_of
from weft.searches.tree.approvals import unanswered, waiting_evals
from weft.searches.tree.charts import score_charts, worker_timeline
from weft.searches.tree.diffview import draw_diff
from weft.searches.tree.history import Eval
from weft.searches.tree.load import Timing, TreeRun, load_run
from weft.searches.tree.summary import attempts_text
from weft.searches.tree.treedrawing import draw_tree

MAX_EVALS = 500
MAX_SHOWN = 150
DIFF_BYTES = 6000
LOG_BYTES = 1500
MAX_PAGE_BYTES = 600_000
"""Size limit of the page with diffs and logs."""


def lines(run: RunView) -> list[str]:
    """Return the lines that a tree run adds to its status and to its summary."""
    tree_run = load_run(run)
    history = tree_run.history
    finished = sum(e.state in ("completed", "failed") for e in history.evals)
    evals, nodes = counted(len(history.evals), "planned eval"), counted(len(history.nodes), "node")
    summary = [f"{finished} of {evals} done, {nodes}"]
    if roots := history.scored_roots():
        best = best_of(tree_run.config, history)
        root = best_among(tree_run.config, roots).score_text
        summary.insert(0, f"best {best.score_text} at {best.name}, root {root}")
    summary += [*_live_lines(tree_run), *_waiting_lines(run, tree_run)]
    return summary + tree_run.score_notes()


def _live_lines(tree_run: TreeRun) -> list[str]:
    """Return lines about evals in an incomplete round."""
    scored = [f"e{n} {s.score}" for n, s in sorted(tree_run.live.items()) if s.score is not None]
    running = [f"e{n} {s.stage}" for n, s in sorted(tree_run.live.items()) if s.state == "running"]
    parts = (("scored so far", scored), ("running", running))
    return [f"{word}: {clip(', '.join(names), 200)}" for word, names in parts if names]


def _waiting_lines(run: RunView, tree_run: TreeRun) -> list[str]:
    waiting = unanswered(waiting_evals(run.path, tree_run))
    command = f"weft tree approve {shlex.quote(str(run.path))}"
    return [f"{item.name} waits for a person: {command} {item.name} --yes" for item in waiting]


def pages(run: RunView) -> list[Page]:
    """Return the pages of a tree run."""
    tree_run = load_run(run)
    parts = [
        _waiting(run, tree_run), draw_tree(tree_run), score_charts(tree_run), worker_timeline(run),
        _costs(tree_run), _evals(tree_run),
    ]  # fmt: skip
    return [
        Page("Tree", Markup("").join(parts), order=1),
        Page("Diffs and logs", evals_page(run, tree_run), order=2),
    ]


def _waiting(run: RunView, tree_run: TreeRun) -> Markup:
    """List evals that wait for a person, with commands to copy: the page itself changes nothing."""
    waiting = unanswered(waiting_evals(run.path, tree_run))
    if not waiting:
        return Markup("")
    command = f"weft tree approve {shlex.quote(str(run.path))}"
    rows = [
        [item.name, item.idea_path, item.score or "", item.parent_score or "",
         f"{command} {item.name} --yes", f"{command} {item.name} --no"]
        for item in waiting
    ]  # fmt: skip
    heads = ["eval", "idea", "score", "before", "to approve", "to reject"]
    return element("h3", f"Waiting for a person ({len(waiting)})") + table(heads, rows)


def _costs(tree_run: TreeRun) -> Markup:
    costs = tree_run.history.costs
    if not costs:
        return Markup("")
    rows = [
        [stage, str(c.calls), f"{c.usd:f}", str(c.input_tokens), str(c.output_tokens)]
        for stage, c in costs.items()
    ]
    heads = ["stage", "calls", "USD", "input tokens", "output tokens"]
    return element("h3", "Cost") + table(heads, rows)


def _evals(tree_run: TreeRun) -> Markup:
    listed = tree_run.history.evals[:MAX_EVALS]
    rows = [_row(e, tree_run.timing.get(e.eval_id, Timing())) for e in listed]
    heads = ["eval", "depth", "parent", "idea", "score", "rank", "verdict", "seconds", "attempts"]
    head = f"Evals ({some(len(listed), len(tree_run.history.evals), 'eval')})"
    return element("h3", head) + table(heads, rows)


def _row(e: Eval, timing: Timing) -> list[str]:
    score = e.score or ""
    rank = "" if e.rank is None else str(e.rank)
    spent = f"{timing.seconds:.2f}"
    own = [e.name, str(e.depth), e.parent.name, e.idea.name, score, rank, e.verdict]
    return [*own, spent, attempts_text(timing)]


# -- diffs and logs -----------------------------------------------------------------------------


def evals_page(run: RunView, tree_run: TreeRun) -> Markup:
    """Return one collapsible block per eval with rules, diff and log."""
    order = sorted(
        tree_run.history.evals, key=lambda e: (e.node_id is None, e.result is None, e.eval_id)
    )
    blocks, used = [], 0
    for item in order[:MAX_SHOWN]:
        block = _block(run, item, tree_run.timing.get(item.eval_id, Timing()))
        used += len(block.encode())
        if used > MAX_PAGE_BYTES:
            break
        blocks.append(block)
    head = some(len(blocks), len(order), "eval")
    text = f"{head}; promoted ones first. Open one for its rules, diff and log."
    controls = finder("idea, node, verdict", "Verdicts", Counter(map(_kind, order[: len(blocks)])))
    return element("p", text, class_="quiet") + controls + Markup("").join(blocks)


def _kind(item: Eval) -> str:
    """Return the verdict in one word."""
    return item.verdict.split()[0]


def _block(run: RunView, item: Eval, timing: Timing) -> Markup:
    score = f", score {item.score}" if item.score else ""
    head = f"{item.name} {clip(item.idea.name, 80)} on {item.parent.name}: {item.verdict}{score}"
    spent = element("small", f" {duration(timing.seconds)}", class_="quiet")
    inside = [_rules(item), _diff(run, item), *_logs(run, item)]
    summary = element("summary", element("span", head), spent)
    return element(
        "details", summary, *inside, class_="eval", data_find=head.lower(), data_kinds=_kind(item)
    )


def _rules(item: Eval) -> Markup:
    if not item.rules:
        return Markup("")
    rows = [["ok" if rule.passed else "no", rule.name, rule.detail] for rule in item.rules]
    return table(["", "rule", "detail"], rows)


def _diff(run: RunView, item: Eval) -> Markup:
    if item.candidate is None or item.candidate.diff is None:
        return element("p", "It made no diff.", class_="quiet")
    text = run.read(item.candidate.diff).decode("utf-8", "replace")
    return element("h4", "Diff") + draw_diff(clip(text, DIFF_BYTES, lines=True))


def _logs(run: RunView, item: Eval) -> Iterator[Markup]:
    for key, stage in zip(item.keys, item.stages, strict=True):
        text = run.log_tail(key, LOG_BYTES)
        if text:
            yield element("h4", f"End of the log: {stage}")
            yield _text(clip(text, 2 * LOG_BYTES, lines=True))


def _text(text: str) -> Markup:
    return element("pre", Markup.escape(text))
