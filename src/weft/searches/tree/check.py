"""`--validate-only`: check all that a tree run needs, try what costs nothing, make a table.

The root is scored and swept for real, in a temporary folder; of commands that may cost money
only the program is located.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from weft.model.codec import from_json, to_json
from weft.model.tasks import Budget
from weft.runs.decision import Decision, digests
from weft.runs.execution import Execution
from weft.runs.run import Watcher, checked_policy, execute, unnoted_place
from weft.searches.tree.checks import (
    FAILED,
    OK,
    ValidationCheck,
    config_checks,
    history_checks,
    report,
    trial_checks,
)
from weft.searches.tree.config import Stage
from weft.searches.tree.history import TreeHistory
from weft.searches.tree.request import TreeRequest
from weft.searches.tree.slot.git import Git, restore
from weft.searches.tree.validation import RootTrial, validate
from weft.worker.command import expand

REPORT = "VALIDATION_REPORT.md"
PAID = ("propose", "implement", "review")
"""Stages whose command may be an agent: not run for a check."""


def check_request(request: TreeRequest, watcher: Watcher | None = None) -> list[ValidationCheck]:
    """Check a request as a whole; runs the scorer and the sweep on the root."""
    checks = standing_checks(request)
    if any(check.outcome == FAILED for check in checks):
        return checks
    inputs = dict(request.inputs)
    ideas = [idea.to_dict() for idea in request.args.ideas]
    config, root = to_json(request.config), to_json(request.args.root)
    call = validate(config=config, ideas=ideas, root=root)
    policy = checked_policy(request.config.eval_retries, None, False)
    decision = Decision(call, request.file.seed, digests(inputs), Budget(), policy)
    with tempfile.TemporaryDirectory(prefix="weft-validate-") as place:
        execution = Execution(
            Path(place) / "run", request.file.max_parallel_evals, base=request.base
        )
        done = execute(decision, execution, inputs, watcher, unnoted_place())
    trial = from_json(RootTrial, done.answer)
    return checks + trial_checks(trial, deterministic=request.file.deterministic)


def standing_checks(request: TreeRequest) -> list[ValidationCheck]:
    """Check what needs no command to run."""
    files = _files(request)
    checks = [ValidationCheck("config", OK, "every field is known and in its range")]
    checks += config_checks(request.config, request.args.ideas, request.args.root, files)
    for name, stage in sorted(request.config.stages.items()):
        if stage.argv and not stage.recorded:
            checks.append(_command(name, stage, files, request.base))
    return checks


def write_report(request: TreeRequest, out: Path, history: TreeHistory) -> None:
    """Write what was checked at the start of a run, and how its root was scored."""
    checks = standing_checks(request)
    if not request.config.dry_run:
        checks += history_checks(history, deterministic=request.file.deterministic)
    (out / REPORT).write_text(report(checks), "utf-8")


def _files(request: TreeRequest) -> list[str]:
    """Return the paths of the root."""
    with tempfile.TemporaryDirectory(prefix="weft-tree-") as place:
        git = Git(Path(place) / "repo.git")
        restore(git, request.inputs["root"], [])
        names = git.run("ls-tree", "-r", "-z", "--name-only", request.args.root.tree)
    return [name.decode("utf-8", "backslashreplace") for name in names.split(b"\0") if name]


def _command(name: str, stage: Stage, files: list[str], base: Path) -> ValidationCheck:
    """Locate a command's program, and scripts beside the config."""
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
