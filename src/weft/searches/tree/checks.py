"""What is checked before ideas are tried, and VALIDATION_REPORT.md, the table of it.

The checks read the answer of the search `validate`, or a run's history.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from weft.inspect.report.text import counted
from weft.model.codec import from_json
from weft.searches.tree.config import Idea, Root, TreeConfig, is_protected
from weft.searches.tree.history import TreeHistory
from weft.searches.tree.summary import markdown_table
from weft.searches.tree.validation import COMPARED, SCORINGS, RootOutcome, RootTrial

OK, WARNING, FAILED = "ok", "warning", "failed"
MAX_NAMED = 8


@dataclass(frozen=True, slots=True)
class ValidationCheck:
    """One thing that was checked, and its outcome."""

    name: str
    outcome: str
    detail: str

    def to_dict(self) -> dict[str, str]:
        """JSON form."""
        return {"check": self.name, "outcome": self.outcome, "detail": self.detail}


def report(checks: Sequence[ValidationCheck]) -> str:
    """Return VALIDATION_REPORT.md."""
    counts = {o: sum(check.outcome == o for check in checks) for o in (OK, WARNING, FAILED)}
    head = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    rows = [[check.name, check.outcome, check.detail] for check in checks]
    return f"# Validation\n\n{head}.\n\n" + markdown_table(["check", "outcome", "detail"], rows)


def config_checks(
    config: TreeConfig, ideas: Sequence[Idea], root: Root, files: Sequence[str]
) -> list[ValidationCheck]:
    """Check what needs no command to run."""
    kinds = sorted({idea.kind for idea in ideas})
    summary = counted(len(ideas), "idea") + (f": {', '.join(kinds)}" if kinds else "")
    more = ", and more are made for each node" if config.proposes() else ""
    return [
        ValidationCheck("repository", OK, f"commit {root.commit}, {counted(len(files), 'file')}"),
        ValidationCheck("ideas", OK, summary + more),
        *_repeated(ideas, config),
        *_protected(config, files),
    ]


def _repeated(ideas: Sequence[Idea], config: TreeConfig) -> list[ValidationCheck]:
    first: dict[str, str] = {}
    same = [i.name for i in ideas if first.setdefault(i.digest, i.name) != i.name]
    if not same or config.dedupe_scope == "none":
        return []
    return [ValidationCheck("ideas", WARNING, f"same text as another: {_some(same)}")]


def _protected(config: TreeConfig, files: Sequence[str]) -> list[ValidationCheck]:
    """Every pattern must stand for something, and the scorer itself should be among them."""
    checks = []
    for pattern in config.protected:
        count = sum(is_protected(name, [pattern]) for name in files)
        detail = counted(count, "file") if count else "no file of the root matches"
        checks.append(
            ValidationCheck("protected", OK if count else WARNING, f"{pattern}: {detail}")
        )
    words = [word for word in config.stages["score"].argv if word in files]
    open_words = [word for word in words if not is_protected(word, config.protected)]
    if open_words:
        detail = f"{_some(open_words)}: part of the scorer, and ideas may change it"
        checks.append(ValidationCheck("protected", WARNING, detail))
    return checks


def trial_checks(trial: RootTrial, *, deterministic: bool) -> list[ValidationCheck]:
    """Judge how commands and ideas did on the root."""
    checks = [_score(trial.score[0], "score"), *_agreement(trial.score, deterministic)]
    checks += [_score(outcome, "sweep") for outcome in trial.sweep]
    if trial.applied:
        checks.append(_fitting(trial.applied))
    return checks


def history_checks(history: TreeHistory, *, deterministic: bool) -> list[ValidationCheck]:
    """Judge the same from a run: how its root was scored."""
    if not history.nodes or history.nodes[0].result is None:
        return [ValidationCheck("score", FAILED, history.stopped or "the root has no score yet")]
    first = from_json(RootOutcome, history.nodes[0].result.recorded)
    outcomes = [replace(first, score=score) for score in history.root_scores]
    return [_score(first, "score"), *_agreement(outcomes, deterministic)]


def _score(outcome: RootOutcome, stage: str) -> ValidationCheck:
    if outcome.error:
        return ValidationCheck(stage, FAILED, f"fails on the root: {outcome.error}")
    detail = str(outcome.rows) if outcome.rows else "ends well on the root"
    if outcome.rows and not outcome.rows.complete:
        return ValidationCheck(stage, FAILED, f"{detail}: no eval could be complete")
    head = f"score {outcome.score}, " if stage == "score" else ""
    return ValidationCheck(stage, OK, head + detail)


def _agreement(outcomes: Sequence[RootOutcome], deterministic: bool) -> list[ValidationCheck]:
    """Compare scorings of the root; what differs is noise, or a broken promise."""
    if len(outcomes) < SCORINGS or any(outcome.error for outcome in outcomes):
        return []
    first = outcomes[0]
    differing = [n for n in COMPARED if any(getattr(o, n) != getattr(first, n) for o in outcomes)]
    if not differing:
        return [ValidationCheck("same score", OK, f"{len(outcomes)} scorings of the root agree")]
    scores = ", ".join(str(outcome.score) for outcome in outcomes)
    detail = f"scorings of the root differ in {', '.join(differing)} (scores {scores})"
    if deterministic:
        detail += ", and the config says deterministic"
        return [ValidationCheck("same score", FAILED, detail)]
    detail += ": measure the noise with root_repeats"
    return [ValidationCheck("same score", WARNING, detail)]


def _fitting(applied: Mapping[str, str]) -> ValidationCheck:
    broken = [f"{name} ({kind})" for name, kind in sorted(applied.items()) if kind]
    detail = f"{len(applied) - len(broken)} of {len(applied)} fit the root"
    if broken:
        detail += f"; these may fit later: {_some(broken)}"
    return ValidationCheck("ideas", OK if len(broken) < len(applied) else WARNING, detail)


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MAX_NAMED])
    return shown if len(names) <= MAX_NAMED else f"{shown} and {len(names) - MAX_NAMED} more"
