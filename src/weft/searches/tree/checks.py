"""`--validate-only`: check everything that a tree run needs, and try what costs nothing.

The search `validate` really scores and sweeps the root, in a temporary folder; for commands that
may cost money, only the program is located. A run's history is judged in the same way.
The outcomes are written as a table to VALIDATION_REPORT.md.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from weft.inspect.report.text import counted
from weft.inspect.report.view import RunView
from weft.model.codec import from_json, to_json
from weft.model.tasks import Budget
from weft.runs.decision import Decision, digests
from weft.runs.execution import Execution
from weft.runs.run import Watcher, checked_policy, execute, unnoted_place
from weft.searches.tree.config import JUDGING, Idea, Root, Stage, TreeConfig, is_protected
from weft.searches.tree.history import TreeHistory
from weft.searches.tree.ideas import SUFFIXES, other_files
from weft.searches.tree.load import failure_reason, root_failure
from weft.searches.tree.request import TreeRequest
from weft.searches.tree.resultsource import OPEN_RESULT, OVER_CHANNEL
from weft.searches.tree.scorercheck import weaknesses
from weft.searches.tree.summary import markdown_table
from weft.searches.tree.validation import COMPARED, SCORINGS, RootOutcome, RootTrial, validate
from weft.worker.command import expand

OK, WARNING, FAILED = "ok", "warning", "failed"
MAX_NAMED = 8


@dataclass(frozen=True, slots=True)
class ValidationCheck:
    """One thing that was checked, and its outcome."""

    check: str
    outcome: str
    detail: str

    @property
    def line(self) -> str:
        """The check in one line; a detail that begins with a stage needs no further prefix."""
        return self.detail if self.detail.startswith("[") else f"{self.check}: {self.detail}"


def report(checks: Sequence[ValidationCheck]) -> str:
    """Return VALIDATION_REPORT.md."""
    counts = {o: sum(check.outcome == o for check in checks) for o in (OK, WARNING, FAILED)}
    head = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    rows = [[check.check, check.outcome, check.detail] for check in checks]
    return f"# Validation\n\n{head}.\n\n" + markdown_table(["check", "outcome", "detail"], rows)


def config_checks(
    config: TreeConfig, ideas: Sequence[Idea], roots: Sequence[Root], files: Sequence[str]
) -> list[ValidationCheck]:
    """Check the config, its ideas and roots without running a command."""
    kinds = sorted({idea.kind for idea in ideas})
    summary = counted(len(ideas), "idea") + (f": {', '.join(kinds)}" if kinds else "")
    more = ", and more are made for each node" if config.proposes() else ""
    return [
        *_roots(roots, files),
        ValidationCheck("ideas", OK, summary + more),
        *_repeated(ideas, config),
        *_protected(config, files),
    ]


def _roots(roots: Sequence[Root], files: Sequence[str]) -> list[ValidationCheck]:
    first = f"commit {roots[0].commit}, {counted(len(files), 'file')}"
    details = [first, *(f"commit {root.commit}, another root" for root in roots[1:])]
    return [ValidationCheck("repository", OK, detail) for detail in details]


def _repeated(ideas: Sequence[Idea], config: TreeConfig) -> list[ValidationCheck]:
    first: dict[str, str] = {}
    same = [i.name for i in ideas if first.setdefault(i.digest, i.name) != i.name]
    if not same or config.dedupe_scope == "none":
        return []
    return [ValidationCheck("ideas", WARNING, f"same text as another: {_some(same)}")]


def _protected(config: TreeConfig, files: Sequence[str]) -> list[ValidationCheck]:
    """Check that every pattern matches a file, and that the scorer itself is protected."""
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


def trial_checks(
    trial: RootTrial, *, deterministic: bool, reason: str = ""
) -> list[ValidationCheck]:
    """Judge commands and ideas by their results on the root; `reason` is of the first failure."""
    checks = [_score(trial.score[0], "score", reason), *_agreement(trial.score, deterministic)]
    checks += [_score(outcome, "score") for outcome in trial.others]
    checks += [_score(outcome, "sweep") for outcome in trial.sweep]
    if trial.applied:
        checks.append(_fitting(trial.applied))
    return checks


def history_checks(
    history: TreeHistory, *, deterministic: bool, root_failure: str = ""
) -> list[ValidationCheck]:
    """Judge the scorings of a run's root, or report why the root could not be scored."""
    if not history.scored_roots() or history.nodes[0].result is None:
        why = f"fails on the root: {root_failure}" if root_failure else "the root has no score yet"
        return [ValidationCheck("score", FAILED, why)]
    first = from_json(RootOutcome, history.nodes[0].result.recorded)
    outcomes = [replace(first, score=score) for score in history.root_scores]
    return [_score(first, "score"), *_agreement(outcomes, deterministic)]


def _score(outcome: RootOutcome, stage: str, reason: str = "") -> ValidationCheck:
    if outcome.error:
        why = f"{outcome.error}: {reason}" if reason else outcome.error
        return ValidationCheck(stage, FAILED, f"fails on the root: {why}")
    detail = str(outcome.rows) if outcome.rows else "ends well on the root"
    if outcome.rows and not outcome.rows.complete:
        return ValidationCheck(stage, FAILED, f"{detail}: no eval could be complete")
    head = f"score {outcome.score}, " if stage == "score" else ""
    return ValidationCheck(stage, OK, head + detail)


def _agreement(outcomes: Sequence[RootOutcome], deterministic: bool) -> list[ValidationCheck]:
    """Compare scorings of the root; a difference is noise, or contradicts `deterministic`."""
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
    listed = ", ".join(names[:MAX_NAMED])
    return listed if len(names) <= MAX_NAMED else f"{listed} and {len(names) - MAX_NAMED} more"


# -- a request --------------------------------------------------------------------------------


REPORT = "VALIDATION_REPORT.md"
PAID = ("propose", "implement", "review")
"""Stages whose command may be a paid agent; not run by a check."""


def check_request(request: TreeRequest, watcher: Watcher | None = None) -> list[ValidationCheck]:
    """Check a whole request, including the scorer and the sweep on the root."""
    checks = standing_checks(request)
    if any(check.outcome == FAILED for check in checks):
        return checks
    inputs = dict(request.inputs)
    ideas = [idea.to_dict() for idea in request.args.ideas]
    config, roots = to_json(request.config), [to_json(root) for root in request.args.roots]
    call = validate(config=config, ideas=ideas, roots=roots)
    policy = checked_policy(request.config.eval_retries, None, False)
    decision = Decision(call, request.file.seed, digests(inputs), Budget(), policy)
    with tempfile.TemporaryDirectory(prefix="weft-validate-") as place:
        execution = Execution(
            Path(place) / "run", request.file.max_parallel_evals, base=request.base
        )
        result = execute(decision, execution, inputs, watcher, unnoted_place())
        trial = from_json(RootTrial, result.answer)
        reason = failure_reason(RunView(execution.out, call.name))
    deterministic = request.file.deterministic
    return checks + trial_checks(trial, deterministic=deterministic, reason=reason)


def standing_checks(request: TreeRequest) -> list[ValidationCheck]:
    """Check everything about a request that needs no command to run."""
    files = _files(request)
    checks = [ValidationCheck("config", OK, "every field is known and in its range")]
    checks += config_checks(request.config, request.args.ideas, request.args.roots, files)
    checks += _other_files(request)
    for name, stage in sorted(request.config.stages.items()):
        if stage.argv and not stage.recorded:
            checks.append(_command(name, stage, files, request.base))
    return checks + protection_checks(request, files)


def run_warnings(request: TreeRequest) -> list[ValidationCheck]:
    """Return the warnings to print before a run starts; a dry run scores nothing."""
    files = _files(request)
    checks = config_checks(request.config, request.args.ideas, request.args.roots, files)
    checks += _other_files(request)
    if not request.config.dry_run:
        checks += protection_checks(request, files)
    return [check for check in checks if check.outcome == WARNING]


def _other_files(request: TreeRequest) -> list[ValidationCheck]:
    """Warn about files in the ideas folder that are not ideas."""
    if request.file.ideas is None:
        return []
    names = other_files(request.base / Path(request.file.ideas).expanduser())
    if not names:
        return []
    detail = f"not read, since they do not end in {', '.join(SUFFIXES)}: {_some(names)}"
    return [ValidationCheck("ideas", WARNING, detail)]


def protection_checks(request: TreeRequest, files: Sequence[str]) -> list[ValidationCheck]:
    """Check where candidate code could decide its own score, as far as can be detected."""
    checks: list[ValidationCheck] = []

    def read(name: str) -> str:
        if name.startswith("{work_dir}/"):
            return (request.base / name.removeprefix("{work_dir}/")).read_text("utf-8")
        return request.stream.read(request.stream.root.files[os.path.normpath(name)]).decode()

    for name in JUDGING:
        stage = request.config.stages.get(name, Stage())
        if stage.argv:
            problems = weaknesses(stage, files, read)
            detail = OVER_CHANNEL if stage.has_channel else OPEN_RESULT
            outcome = OK if stage.has_channel or not problems else WARNING
            checks.append(ValidationCheck("result", outcome, f"[{name}]: {detail}"))
            checks += [ValidationCheck("scorer", WARNING, f"[{name}]: {why}") for why in problems]
    return checks


def write_report(request: TreeRequest, out: Path, history: TreeHistory) -> None:
    """Write the checks made at the start of a run and the outcome of scoring its root."""
    checks = standing_checks(request)
    if not request.config.dry_run:
        deterministic = request.file.deterministic
        failure = root_failure(out, history)
        checks += history_checks(history, deterministic=deterministic, root_failure=failure)
    (out / REPORT).write_text(report(checks), "utf-8")


def _files(request: TreeRequest) -> list[str]:
    """Return the paths of the root's files."""
    return list(request.stream.root.files)


def _command(name: str, stage: Stage, files: list[str], base: Path) -> ValidationCheck:
    """Locate a command's program and its scripts beside the config."""
    known = {"python": sys.executable, "work_dir": str(base)}
    program = expand(stage.argv[0], known)
    scripts = [expand(word, known) for word in stage.argv[1:] if word.startswith("{work_dir}/")]
    if missing := [path for path in scripts if not Path(path).exists()]:
        return ValidationCheck(
            f"[{name}]", FAILED, f"there is no {os.path.relpath(missing[0], base)}"
        )
    if "/" in program and not program.startswith("/"):
        exists = os.path.normpath(program) in files
    else:
        exists = "{" in program or shutil.which(program) is not None
    if not exists:
        return ValidationCheck(f"[{name}]", FAILED, f"there is no program {program[:80]!r}")
    detail = "found; not run, since it may cost something" if name in PAID else "found"
    return ValidationCheck(f"[{name}]", OK, f"{stage.argv[0]} is {detail}")
