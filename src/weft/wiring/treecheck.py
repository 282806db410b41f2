"""`--validate-only`: look at all that a tree run needs, try what costs nothing, make a table.

The root is scored and swept for real, in a temporary folder; commands that may cost money are
only looked for.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from weft.coordinator.loop import Watcher
from weft.model.tasks import Budget
from weft.tree.plot import Stage
from weft.tree.story import Story
from weft.tree.validation import (
    FAILED,
    OK,
    Check,
    answer_checks,
    config_checks,
    report,
    story_checks,
    validate,
)
from weft.treetools.git import Git, restore
from weft.wiring.request import Decision, Execution, digests
from weft.wiring.run import carry_out, checked_policy, unnoted_place
from weft.wiring.treerequest import TreeRequest
from weft.worker.command import expand

REPORT = "VALIDATION_REPORT.md"
PAID = ("propose", "implement", "review")
"""Stages whose command may be an agent: not run for a check."""


def check_request(request: TreeRequest, watcher: Watcher | None = None) -> list[Check]:
    """Check a request as a whole; runs the scorer and the sweep on the root."""
    checks = standing_checks(request)
    if any(check.outcome == FAILED for check in checks):
        return checks
    inputs = dict(request.inputs)
    said = [idea.to_dict() for idea in request.ideas]
    call = validate(plot=request.plot.to_dict(), ideas=said, root=request.root.to_dict())
    policy = checked_policy(request.plot.eval_retries, None, False)
    decision = Decision(call, request.file.seed, digests(inputs), Budget(), policy)
    with tempfile.TemporaryDirectory(prefix="weft-validate-") as place:
        execution = Execution(
            Path(place) / "run", request.file.max_parallel_evals, base=request.base
        )
        done = carry_out(decision, execution, inputs, watcher, unnoted_place())
    return checks + answer_checks(done.answer, deterministic=request.file.deterministic)


def standing_checks(request: TreeRequest) -> list[Check]:
    """Check what can be seen without running anything."""
    files = _files(request)
    checks = [Check("config", OK, "every field is known and in its range")]
    checks += config_checks(request.plot, request.ideas, request.root, files)
    for name, stage in sorted(request.plot.stages.items()):
        if stage.argv and not stage.recorded:
            checks.append(_command(name, stage, files, request.base))
    return checks


def write_report(request: TreeRequest, out: Path, story: Story) -> None:
    """Write what was checked at the start of a run, and how its root was scored."""
    checks = standing_checks(request)
    if not request.plot.dry_run:
        checks += story_checks(story, deterministic=request.file.deterministic)
    (out / REPORT).write_text(report(checks), "utf-8")


def _files(request: TreeRequest) -> list[str]:
    """Return the paths of the root."""
    with tempfile.TemporaryDirectory(prefix="weft-tree-") as place:
        git = Git(Path(place) / "repo.git")
        restore(git, request.inputs["root"], [])
        names = git.run("ls-tree", "-r", "-z", "--name-only", request.root.tree)
    return [name.decode("utf-8", "backslashreplace") for name in names.split(b"\0") if name]


def _command(name: str, stage: Stage, files: list[str], base: Path) -> Check:
    """Look for a command's program, and for scripts beside the config."""
    known = {"python": sys.executable, "work_dir": str(base)}
    program = expand(stage.argv[0], known)
    scripts = [expand(word, known) for word in stage.argv[1:] if word.startswith("{work_dir}/")]
    if missing := [path for path in scripts if not Path(path).exists()]:
        return Check(f"[{name}]", FAILED, f"there is no {os.path.relpath(missing[0], base)}")
    if "/" in program and not program.startswith("/"):
        found = os.path.normpath(program) in files
    else:
        found = "{" in program or shutil.which(program) is not None
    if not found:
        return Check(f"[{name}]", FAILED, f"there is no program {program[:80]!r}")
    said = "found; not run, since it may cost something" if name in PAID else "found"
    return Check(f"[{name}]", OK, f"{stage.argv[0]} is {said}")
