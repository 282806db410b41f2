"""The search behind `weft tree run`: plan a depth, run its stages, gate, rank, promote.

    root ─► depth: plan all evals ─► implement ─► collapse equal files ─► review ─► sweep ─► score
              ▲                                                                             │
              └──────────────── the best B are the next frontier ◄── gate, rank ◄───────────┘

`planning.py` plans, `evalstages.py` runs the stages, one round each, `promotion.py` promotes, and
`answer.py` builds the answer. All decide from recorded results only and record their decisions in a
`TreeHistory`, which can be rebuilt from a run.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from weft import INPUTS, search
from weft.model.codec import from_json, to_json
from weft.model.plan import MAX_NOTE_CHARS, Plan
from weft.model.results import Result
from weft.model.tasks import SearchCall, Unknown, make_round
from weft.model.values import Object, Value
from weft.searches.tree.answer import best_of, summary_of
from weft.searches.tree.config import Idea, Root, TreeConfig
from weft.searches.tree.decimals import EXACT, gain
from weft.searches.tree.evalstages import EvalStages, Step, Steps
from weft.searches.tree.history import TreeHistory, TreeNode, stop_text
from weft.searches.tree.objectives import missing
from weft.searches.tree.planning import Planner
from weft.searches.tree.promotion import Promotion
from weft.searches.tree.propose import add_ideas, propose_call
from weft.searches.tree.recordings import ImportedRun, Imports
from weft.searches.tree.results import StageOutcome, StageResult, failure_of, read_stage
from weft.searches.tree.scorings import median_of
from weft.searches.tree.stages import root_call

NAME = "tree.run"
Search = Generator[Step, Sequence[Result], dict[str, Value] | Unknown]


@search(name="tree.run", version=3)
def tree(
    config: dict[str, Value],
    ideas: list[dict[str, Value]],
    roots: list[dict[str, Value]],
    recorded: dict[str, Value],
    imported: dict[str, Value] | None,
    *,
    inputs: Mapping[str, Object] = INPUTS,
) -> Search:
    """Improve a repository's score by sequences of ideas; the answer is the best path."""
    arguments = {
        "config": config, "ideas": ideas, "roots": roots, "recorded": recorded,
        "imported": imported,
    }  # fmt: skip
    args = from_json(SearchArgs, arguments)
    return (yield from search_tree(args, inputs, TreeHistory()))


@dataclass(frozen=True, slots=True)
class SearchArgs:
    """The arguments of the search, as bound by the genesis."""

    config: TreeConfig
    ideas: tuple[Idea, ...]
    roots: tuple[Root, ...]
    recorded: Mapping[str, StageOutcome]
    imported: ImportedRun | None

    def call(self) -> SearchCall:
        """Return the search with these arguments."""
        return tree(
            config=to_json(self.config), ideas=[idea.to_dict() for idea in self.ideas],
            roots=[to_json(root) for root in self.roots],
            recorded={key: outcome.to_dict() for key, outcome in self.recorded.items()},
            imported=None if self.imported is None else to_json(self.imported),
        )  # fmt: skip


def search_tree(args: SearchArgs, inputs: Mapping[str, Object], history: TreeHistory) -> Search:
    """Run the search, recording its decisions in `history`."""
    state = TreeState(args, inputs, history)
    yield from state.score_roots(args.roots)
    if not history.scored_roots():
        return Unknown("incomplete", summary_of(state.config, history))
    yield state.expected()
    frontier = list(history.nodes)
    state.check_goals()
    if state.is_stopped():
        return state.answer()
    for depth in range(1, state.config.max_depth + 1):
        if state.planner.is_full():
            history.stopped = state.full_text()
            break
        yield from state.propose(depth, frontier)
        if state.is_stopped():
            break
        planned = state.planner.plan(depth, frontier)
        history.frontiers.append([node.node_id for node in frontier])
        if not planned:
            history.stopped = stop_text("no-ideas")
            break
        yield state.expected()
        yield from state.stages.run(planned)
        promoted = yield from state.promotion.promote(planned)
        state.check_goals()
        yield state.expected()
        if state.is_stopped():
            break
        if not promoted and state.config.stop_on_empty_frontier:
            history.stopped = state.last_stop(stop_text("empty-frontier"))
            break
        frontier = promoted or frontier
    else:
        depth_text = f"depth {state.config.max_depth} is done"
        history.stopped = state.last_stop(stop_text("max-depth", depth_text))
    return state.answer()


class TreeState:
    """The state of one search; every method is a pure function of recorded results."""

    def __init__(
        self, args: SearchArgs, inputs: Mapping[str, Object], history: TreeHistory
    ) -> None:
        self.config, self.inputs, self.history = args.config, inputs, history
        self.recordings = args.recorded
        self.planner = Planner(args.config, args.ideas, Imports(args.imported), history)
        self.stages = EvalStages(args.config, inputs, args.recorded, history)
        self.promotion = Promotion(args.config, self.stages, history)
        self._best_id, self._stale_depths = 0, 0

    def expected(self) -> Plan:
        """Return the progress of the search: finished evals and the best score."""
        evals, best = self.history.evals, best_of(self.config, self.history)
        finished = sum(e.state in ("completed", "failed") for e in evals)
        note = f"{finished} of {len(evals)} evals, best {best.score_text} at {best.name}"
        return Plan(unit="stages", note=note[:MAX_NOTE_CHARS])

    def score_roots(self, roots: Sequence[Root]) -> Steps:
        """Score the roots as often as configured; the largest spread of scores is the noise."""
        config, history = self.config, self.history
        nodes = [TreeNode(number, r.commit, r.tree, 0, ()) for number, r in enumerate(roots)]
        history.nodes += nodes
        history.roots = len(nodes)
        repeats = range(max(config.root_repeats, config.repeats))
        calls = [root_call(node, n, config, self.inputs) for node in nodes for n in repeats]
        results = yield make_round(calls)
        for result in (r for r in results if not r.ok):
            history.root_error = failure_of("score", result)
            history.root_key = result.key
            history.stopped = stop_text("root-unscored")
            return
        for number, node in enumerate(nodes):
            own = results[number * len(repeats) : (number + 1) * len(repeats)]
            self._store_root(node, [read_stage(StageResult, result.value) for result in own])

    def _store_root(self, node: TreeNode, scored: Sequence[StageResult]) -> None:
        config, history = self.config, self.history
        unknown = missing(scored[0], config)
        if unknown:
            history.stopped = stop_text("metric-missing", f"{node.name} reports no {unknown[0]}")
            return
        values = [Decimal(result.score_text) for result in scored]
        node.result = scored[0] if config.repeats == 1 else median_of(scored, config.direction)
        if node.node_id == 0:
            history.root_scores = [result.score_text for result in scored]
        history.band = max(history.band, EXACT.subtract(max(values), min(values)))

    def check_goals(self) -> None:
        """Stop the search if its target is reached or its patience is exhausted."""
        config, best = self.config, best_of(self.config, self.history)
        depths = len(self.history.frontiers)
        self._stale_depths = (
            0 if best.node_id != self._best_id else self._stale_depths + bool(depths)
        )
        self._best_id = best.node_id
        if self.history.stopped:
            return
        target = Decimal(config.target_score) if config.target_score else None
        if target is not None and gain(best.score, target, config.direction) >= 0:
            self.history.stopped = stop_text("target-score", f"{best.name} has {best.score_text}")
        elif config.patience and self._stale_depths >= config.patience:
            detail = f"no better score in {self._stale_depths} depths"
            self.history.stopped = stop_text("patience", detail)

    def is_stopped(self) -> bool:
        """Whether the search has a reason to stop."""
        return bool(self.history.stopped)

    def full_text(self) -> str:
        """Return the stop reason if no more evals may be planned."""
        return stop_text("max-total-evals", f"{self.config.max_total_evals} evals are planned")

    def last_stop(self, otherwise: str) -> str:
        """Return the stop reason: an exhausted eval limit takes precedence over `otherwise`."""
        return self.full_text() if self.planner.is_cut else otherwise

    def propose(self, depth: int, frontier: Sequence[TreeNode]) -> Steps:
        """Generate ideas by mutations and a command, one task per node."""
        if not self.config.proposes():
            return
        nodes = sorted(frontier, key=lambda n: n.node_id)
        calls = [
            propose_call(n, depth, self.config, self.history, self.inputs, self.recordings)
            for n in nodes
        ]
        results = yield from self.stages.run_round("propose", calls)
        for node, result in zip(nodes, results, strict=False):
            add_ideas(node, depth, result, self.history)

    def answer(self) -> dict[str, Value] | Unknown:
        """Return the best path, or Unknown if there is none."""
        history, summary = self.history, summary_of(self.config, self.history)
        has_answer = any(e.state == "completed" for e in history.evals)
        has_answer = has_answer or history.stopped.startswith("target-score")
        if not has_answer or self.stages.is_strict():
            return Unknown("incomplete", summary)
        best = best_of(self.config, history)
        better = best.node_id >= history.roots
        return summary if better else Unknown("no-improvement", summary)
