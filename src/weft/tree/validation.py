"""What is checked before ideas are tried, and VALIDATION_REPORT.md, the table of it.

`validate` is a small search of its own: it scores the root twice, sweeps it, and applies the
ideas that need no command, all on the engine. The checks read its answer, or a run's story.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weft.define import search
from weft.model.results import Result
from weft.model.tasks import Round, TaskCall, make_round
from weft.model.values import Object
from weft.report.text import counted
from weft.tree.failures import kind_of
from weft.tree.plot import Idea, Plot, Root
from weft.tree.recordings import Recordings
from weft.tree.stages import root_call, stage_call, stage_on
from weft.tree.story import Eval, Node, Story
from weft.tree.summary import markdown_table
from weft.treetools.stage import is_protected

OK, WARNING, FAILED = "ok", "warning", "failed"
MAX_APPLIED = 200
"""Ideas that are tried on the root."""
SCORINGS = 2
MAX_NAMED = 8


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at, and what came of it."""

    what: str
    outcome: str
    said: str

    def to_dict(self) -> dict[str, str]:
        """JSON form."""
        return {"check": self.what, "outcome": self.outcome, "said": self.said}


def report(checks: Sequence[Check]) -> str:
    """Return VALIDATION_REPORT.md."""
    counts = {o: sum(check.outcome == o for check in checks) for o in (OK, WARNING, FAILED)}
    head = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    rows = [[check.what, check.outcome, check.said] for check in checks]
    return f"# Validation\n\n{head}.\n\n" + markdown_table(["check", "outcome", "what"], rows)


# -- on the engine ------------------------------------------------------------------------------


@search(version=1)
def validate(
    plot: dict[str, Any], ideas: list[dict[str, Any]], root: dict[str, Any], *, inputs: Any
) -> Generator[Round, Sequence[Result], Any]:
    """Try on the root whatever costs nothing; the answer is what each part said."""
    own, node = Plot.from_dict(plot), Node(0, root["commit"], root["tree"], 0, (), {})
    fitting = _without_command([Idea(**raw) for raw in ideas], own)
    scores = yield make_round([root_call(node, n, own, inputs) for n in range(SCORINGS)])
    sweeps = yield make_round([_sweep(node, own, inputs)] if own.has("sweep") else [])
    evals = [Eval(number, node, idea, 1) for number, idea in enumerate(fitting, 1)]
    nothing = Recordings()
    applied = yield make_round(
        [stage_call("implement", item, own, inputs, nothing) for item in evals]
    )
    return {
        "score": [_told("score", result) for result in scores],
        "sweep": [_told("sweep", result) for result in sweeps],
        "applied": {
            e.idea.name: _kind("implement", r) for e, r in zip(evals, applied, strict=True)
        },
    }


def _without_command(ideas: Sequence[Idea], plot: Plot) -> Sequence[Idea]:
    return () if plot.has("implement") else ideas[:MAX_APPLIED]


def _sweep(node: Node, plot: Plot, inputs: Mapping[str, Object]) -> TaskCall:
    asked = {"eval_id": None, "parent_node_id": 0, "idea_path": "", "depth": 0, "stage": "sweep"}
    return stage_on(node, plot, inputs, asked, {}, None)


def _told(stage: str, result: Result) -> dict[str, Any]:
    if not result.ok:
        return {"error": _kind(stage, result)}
    return {name: result.value.get(name) for name in ("score", "holdout", "rows", "metrics")}


def _kind(stage: str, result: Result) -> str:
    error = result.error
    return "" if error is None else kind_of(stage, error.type, error.exit_code)


# -- checks -------------------------------------------------------------------------------------


def config_checks(
    plot: Plot, ideas: Sequence[Idea], root: Root, files: Sequence[str]
) -> list[Check]:
    """Check what can be seen without running anything."""
    kinds = sorted({idea.kind for idea in ideas})
    told = counted(len(ideas), "idea") + (f": {', '.join(kinds)}" if kinds else "")
    more = ", and more are made for each node" if plot.proposes() else ""
    return [
        Check("repository", OK, f"commit {root.commit}, {counted(len(files), 'file')}"),
        Check("ideas", OK, told + more),
        *_repeated(ideas, plot),
        *_protected(plot, files),
    ]


def _repeated(ideas: Sequence[Idea], plot: Plot) -> list[Check]:
    first: dict[str, str] = {}
    same = [i.name for i in ideas if first.setdefault(i.digest, i.name) != i.name]
    if not same or plot.dedupe_scope == "none":
        return []
    return [Check("ideas", WARNING, f"same text as another: {_some(same)}")]


def _protected(plot: Plot, files: Sequence[str]) -> list[Check]:
    """Every pattern must stand for something, and the scorer itself should be among them."""
    checks = []
    for pattern in plot.protected:
        count = sum(is_protected(name, [pattern]) for name in files)
        said = counted(count, "file") if count else "no file of the root is called so"
        checks.append(Check("protected", OK if count else WARNING, f"{pattern}: {said}"))
    words = [word for word in plot.stages["score"].argv if word in files]
    open_words = [word for word in words if not is_protected(word, plot.protected)]
    if open_words:
        said = f"{_some(open_words)}: part of the scorer, and ideas may change it"
        checks.append(Check("protected", WARNING, said))
    return checks


def answer_checks(answer: Mapping[str, Any], *, deterministic: bool) -> list[Check]:
    """Read what `validate` found out."""
    checks = [_score(answer["score"][0], "score"), *_agreement(answer["score"], deterministic)]
    checks += [_score(told, "sweep") for told in answer["sweep"]]
    if answer["applied"]:
        checks.append(_fitting(answer["applied"]))
    return checks


def story_checks(story: Story, *, deterministic: bool) -> list[Check]:
    """Read the same from a run: how its root was scored."""
    if not story.nodes or not story.nodes[0].result:
        return [Check("score", FAILED, story.stopped or "the root has no score yet")]
    result = story.nodes[0].result
    told = [{**result, "score": score} for score in story.root_scores]
    return [_score(result, "score"), *_agreement(told, deterministic)]


def _score(told: Mapping[str, Any], stage: str) -> Check:
    if "error" in told:
        return Check(stage, FAILED, f"fails on the root: {told['error']}")
    rows = told.get("rows")
    said = f"{rows['ok']} of {rows['expected']} rows" if rows else "ends well on the root"
    if rows and rows["ok"] != rows["expected"]:
        return Check(stage, FAILED, f"{said}: no eval could be complete")
    return Check(stage, OK, f"score {told['score']}, {said}" if stage == "score" else said)


def _agreement(told: Sequence[Mapping[str, Any]], deterministic: bool) -> list[Check]:
    """Compare scorings of the root; what differs is noise, or a broken promise."""
    if len(told) < SCORINGS or any("error" in one for one in told):
        return []
    differing = [n for n in ("score", "holdout", "rows", "metrics") if _differs(n, told)]
    if not differing:
        return [Check("same score", OK, f"{len(told)} scorings of the root agree")]
    scores = ", ".join(str(one["score"]) for one in told)
    said = f"scorings of the root differ in {', '.join(differing)} (scores {scores})"
    if deterministic:
        return [Check("same score", FAILED, f"{said}, and the config says deterministic")]
    return [Check("same score", WARNING, f"{said}: measure the noise with root_repeats")]


def _differs(name: str, told: Sequence[Mapping[str, Any]]) -> bool:
    return any(one.get(name) != told[0].get(name) for one in told)


def _fitting(applied: Mapping[str, str]) -> Check:
    broken = [f"{name} ({kind})" for name, kind in sorted(applied.items()) if kind]
    said = f"{len(applied) - len(broken)} of {len(applied)} fit the root"
    if broken:
        said += f"; these may fit later: {_some(broken)}"
    return Check("ideas", OK if len(broken) < len(applied) else WARNING, said)


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MAX_NAMED])
    return shown if len(names) <= MAX_NAMED else f"{shown} and {len(names) - MAX_NAMED} more"
