"""External commands as tasks: prepare, run under the supervisor, collect.

The argv, environment and folder are recorded as templates and expanded here, on the slot, so
that no machine's paths reach the ledger. Exit codes: 0 done · 75 temporary, worth a retry · 126
and 127 the command itself is broken · any other the command's own failure. A signal from outside
is a loss, and so is anything that the machine lacks: a program, a folder, a variable. Secrets are
requested by variable name only and are recorded nowhere.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from weft import loaded
from weft.define import is_literal, task
from weft.model.codec import from_json
from weft.model.results import TaskError
from weft.model.sandbox import Sandbox
from weft.model.slots import CUDA_DEVICES
from weft.model.tasks import COMMAND
from weft.model.templates import fill, texts_of
from weft.model.values import Object, Value
from weft.worker import context as task_context
from weft.worker.adoption import AttemptOutcomes, FinishedFolders
from weft.worker.context import COMMAND_DEVICES, TaskContext
from weft.worker.ending import Ending
from weft.worker.environment import environment
from weft.worker.logtail import tail
from weft.worker.outcomes import StoredOutcome
from weft.worker.resultchannel import ChannelReport
from weft.worker.sandbox import (
    Isolation,
    SandboxView,
    find_isolation,
    interpreter_folders,
    program_folders,
)
from weft.worker.space import NO_ROOM, SpaceWatch, no_room
from weft.worker.supervision import supervise
from weft.worker.supervisor import CommandReport, CommandSpec

CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
TEMPORARY = 75
BROKEN = (126, 127)
OWN_FAULTS = (None, errno.ENOEXEC, errno.E2BIG, errno.ENAMETOOLONG)
"""Errors with which exec fails on any machine; any other is the fault of this machine."""
INLINE_BYTES = 64 * 1024
KEPT_VARIABLES = ("PATH", "HOME", "USER", "LOGNAME", "SYSTEMROOT", "VIRTUAL_ENV")
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class CommandRun:
    """One attempt of a command, as `prepare` and `collect` functions see it."""

    args: Mapping[str, Any]
    out_dir: Path
    tmp_dir: Path
    stdout: Path
    stderr: Path
    attempt: int
    seed: int
    slot: str
    exit_code: int | None = None
    work_dir: Path = Path()
    """The node's folder for scripts; the attempt's own folder when the node has none."""
    python: str = sys.executable
    run_id: str = ""
    cwd: str = ""
    """Where the command will start, as far as it is known before `prepare`."""
    allow_paths: tuple[str, ...] = ()
    moved: dict[Path, Path] = field(default_factory=dict)
    """What `prepare` moved aside, and where to; moved back if the command does not start."""
    channel: ChannelReport | None = None
    """What the command sent through its result channel, once it has ended; None if it had none."""

    def names(self) -> dict[str, str]:
        """Return the names that templates may use, with their values."""
        return {
            "out_dir": str(self.out_dir),
            "tmp_dir": str(self.tmp_dir),
            "attempt": str(self.attempt),
            "seed": str(self.seed),
            "slot": self.slot,
            "python": self.python,
            "work_dir": str(self.work_dir),
            "run_id": self.run_id,
        }

    def tail(self) -> str:
        """Return the last lines of stdout, or of stderr if stdout is empty."""
        return tail(self.stdout) or tail(self.stderr)


@dataclass(frozen=True, slots=True)
class Template:
    """A command before it is expanded; `on_broken` functions may execute it again."""

    argv: Sequence[str]
    env: Mapping[str, str]
    secrets: dict[str, str] = field(repr=False)
    cwd: str
    timeout_s: float | None
    memory_mb: int | None
    sandbox: Sandbox | None = None
    program: str = ""
    """The program that confines the command; empty if the machine has none."""
    values: Mapping[str, str] | None = None
    """The values of `args` for placeholders; None if undefined names are left unchanged."""

    def _filled(self, template: str, names: Mapping[str, str]) -> str:
        if self.values is None:
            return expand(template, names)
        try:
            return fill(template, {**self.values, **names})
        except KeyError as error:
            raise Ending(
                TaskError("command-broken", "prepare"),
                detail=f"{{{error.args[0]}}} in {template[:80]!r} is not defined: neither args"
                " nor what prepare returned has it as text or a number",
            ) from None

    def execute(
        self,
        run: CommandRun,
        more: Mapping[str, str],
        folders: Sequence[str] = (),
        noted: AttemptOutcomes | None = None,
    ) -> CommandReport:
        """Run the command under this worker's supervisor and return its report.

        The report holds the least free space in `folders` and in the command's own folder. With
        `noted`, the command's end is recorded there.
        """
        names = run.names() | dict(more)
        cwd = str(Path(self._filled(self.cwd, names)).absolute())
        requested = {name: self._filled(value, names) for name, value in self.env.items()}
        spec: CommandSpec = {
            "argv": [self._filled(word, names) for word in self.argv],
            "cwd": cwd,
            "folders": list(dict.fromkeys([*folders, cwd])),
            "env": _environment(run, requested) | _deadline(self.timeout_s) | self.secrets,
            "stdout": str(run.stdout),
            "stderr": str(run.stderr),
            "timeout_s": self.timeout_s,
            "memory_bytes": (self.memory_mb or 0) * 2**20,
        }
        if self.secrets:
            spec["secrets"] = self.secrets
        if noted is not None and (request := noted.request(run.out_dir.parent, cwd)):
            spec["outcome"] = request
        if self.sandbox is None:
            return supervise(spec)
        if self.program:
            spec["sandbox"] = self._view(run, names, cwd, self.sandbox).arguments(self.program)
        return supervise(spec)

    def _view(
        self, run: CommandRun, names: Mapping[str, str], cwd: str, sandbox: Sandbox
    ) -> SandboxView:
        """Return what a confined command sees: of the run, only its own attempt."""
        around = task_context.current()
        programs = program_folders(environment().get("PATH", ""))
        own, readable_paths = (
            str(run.out_dir.parent),
            [self._filled(p, names) for p in sandbox.readable],
        )
        readable = [
            own, str(run.work_dir), *programs, *interpreter_folders(run.python),
            *(os.path.expanduser(path) for path in readable_paths),  # noqa: PTH111 - a string
        ]  # fmt: skip
        writable = [str(run.out_dir), str(run.tmp_dir)]
        writable += [os.path.expanduser(self._filled(p, names)) for p in sandbox.writable]  # noqa: PTH111 - a string
        hidden = [str(around.place.attempts.parent)]
        return SandboxView(hidden, [p for p in readable if p], writable, cwd, sandbox.network)


@task(name=COMMAND)
def run_command(
    argv: list[str],
    args: dict[str, Value],
    prepare: str | None,
    collect: str | None,
    env: dict[str, str],
    env_from: list[str],
    cwd: str,
    on_broken: str | None = None,
    sandbox: dict[str, Value] | None = None,
    *,
    seed: int,
) -> Value:
    """Run one attempt; the value is what `collect` returns, or the command's output."""
    around = task_context.current()
    around.stage = "prepare"
    limits = (around.assignment.timeout_s, around.assignment.memory_mb)
    template = Template(
        argv, env, _secrets(env_from, around), cwd, *limits, *_confined(sandbox, around)
    )
    around.keep_secret(template.secrets)
    finished_folders.clear_settled()
    outcomes = AttemptOutcomes(around)
    stored = outcomes.adopt()
    run = _attempt(around, args, seed, cwd, outcomes, stored)
    watch = SpaceWatch([run.out_dir.parent, run.stdout.parent, run.work_dir])
    started = is_final = False
    try:
        if prepare is None or not is_literal(_hook(prepare)):
            template = replace(template, values=texts_of(args))
        report = stored.report if stored else _executed(template, prepare, run, watch, outcomes)
        started = report["unstarted"] is None
        _check_report(report, template, run, on_broken)
        watch.check_success()
        around.enter("collect")
        value = _collected(collect, replace(run, channel=report.get("channel")))
        is_final = True
        return value
    except Exception as error:
        detail = error.detail if isinstance(error, Ending) else str(error)
        if reason := watch.reason(error, f"{detail}\n{tail(run.stderr)}"):
            raise no_room(reason, detail) from None
        is_final = isinstance(error, Ending) and error.is_final
        if around.place.kept_folder is not None and isinstance(error, Ending) and error.is_fault:
            around.secrets.remove_from(run.out_dir.parent)
            _keep(run.out_dir.parent, around.place.kept_folder)
        raise
    finally:
        if not started:
            _put_back(run)
        if outcomes.settle(run.attempt, is_final=is_final):
            finished_folders.keep(run.out_dir.parent, around.notes.get("wall_s"))
        else:
            _remove(run)


def _executed(
    template: Template,
    prepare: str | None,
    run: CommandRun,
    watch: SpaceWatch,
    noted: AttemptOutcomes,
) -> CommandReport:
    """Prepare the attempt and run the command."""
    watch.check_before()
    names = _prepared(prepare, run)
    task_context.current().enter("run")
    report = template.execute(run, names, watch.folders, noted)
    watch.sampled(report["least_room"])
    return report


def _check_report(
    report: CommandReport, template: Template, run: CommandRun, on_broken: str | None
) -> None:
    """Note the resources that the command used; raise its fault or loss unless it succeeded."""
    around = task_context.current()
    if template.sandbox is not None:
        report["status"] = _as_signal(report["status"])
    for name in ("cpu_s", "peak_bytes", "wall_s"):
        around.notes[name] = report[name]
    if on_broken is not None and report["status"] in BROKEN:
        _hook(on_broken)(run, template, report["status"])
    elif report["unstarted"] is not None:
        _check_machine(report["unstarted"], around.place.slot)
    _judge(report, run)


finished_folders = FinishedFolders()
"""The folders of this worker's commands."""


def expand(template: str, names: Mapping[str, str]) -> str:
    """Substitute values for `{name}`; unknown names stay unchanged, and nothing is evaluated."""
    return _PLACEHOLDER.sub(lambda match: names.get(match[1], match[0]), template)


def _attempt(
    around: TaskContext,
    args: Mapping[str, Value],
    seed: int,
    cwd: str,
    noted: AttemptOutcomes,
    stored: StoredOutcome | None,
) -> CommandRun:
    """Create empty folders for the attempt, or reuse those of the adopted attempt."""
    attempt = around.assignment.attempt if stored is None else stored.attempt
    folder = noted.attempt_folder(attempt)
    out_dir, tmp_dir = folder / "out", folder / "tmp"
    stdout, stderr = map(Path, noted.logs(attempt))
    try:
        if stored is None:
            _make_empty(folder)
            out_dir.mkdir(exist_ok=True)
            tmp_dir.mkdir(exist_ok=True)
            _make_without(stdout.parent, stdout, stderr)
    except OSError as error:  # a full disk is the node's fault, not the command's
        is_full = error.errno in NO_ROOM
        reason = f"short of space: {error}" if is_full else "no-folder"
        raise Ending(
            None, lost=reason, detail=str(error), cause="resource" if is_full else "worker"
        ) from None
    run = CommandRun(
        args, out_dir, tmp_dir, stdout, stderr, attempt, seed, around.place.slot,
        work_dir=Path(around.place.folder) if around.place.folder else out_dir,
        python=around.place.python or sys.executable,
        run_id=around.place.run_id,
        allow_paths=around.place.allow_paths,
    )  # fmt: skip
    return replace(run, cwd=expand(cwd, run.names()))


def _make_empty(folder: Path) -> None:
    """Create an empty folder; remove what a killed worker left of an attempt of that number."""
    try:
        folder.mkdir()
    except FileNotFoundError:  # the first command of the run
        folder.parent.mkdir(exist_ok=True)
        folder.mkdir()
    except FileExistsError:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(exist_ok=True)


def _make_without(folder: Path, *files: Path) -> None:
    """Create a folder, or remove these files from it if it exists; usually it is new."""
    try:
        folder.mkdir()
    except FileExistsError:
        for path in files:
            path.unlink(missing_ok=True)


def _put_back(run: CommandRun) -> None:
    """Restore what was moved aside for a command that did not start."""
    for path, aside in run.moved.items():
        if not os.path.lexists(path):
            with contextlib.suppress(OSError):
                aside.rename(path)


def _remove(run: CommandRun) -> None:
    """Remove the attempt's folders; most commands leave nothing in them."""
    folder = run.out_dir.parent
    try:
        for path in (run.tmp_dir, run.out_dir, folder):
            path.rmdir()
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)


def _keep(folder: Path, target: Path) -> None:
    """Keep the folder of a failed attempt for the user; nothing reads it again."""
    with contextlib.suppress(OSError):  # a full disk must not turn a fault into a loss
        target.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(target / folder.name, ignore_errors=True)
        shutil.move(folder, target / folder.name)


def _prepared(name: str | None, run: CommandRun) -> dict[str, str]:
    """Run the search's prepare hook; return the names that it adds for the templates."""
    if name is None:
        return {}
    more = _hook(name)(run)
    return {} if more is None else {key: str(value) for key, value in more.items()}


def _collected(name: str | None, run: CommandRun) -> Value:
    """Return the attempt's value: that of the search's collect hook, or the command's stdout."""
    if name is not None:
        value: Value = _hook(name)(run)
        return value
    data = run.stdout.read_bytes() if run.stdout.is_file() else b""
    try:
        text = data.decode() if len(data) <= INLINE_BYTES else None
    except UnicodeDecodeError:
        text = None
    stdout: str | Object = task_context.put(data) if text is None else text
    return {"exit_code": 0, "stdout": stdout}


def _hook(name: str) -> Callable[..., Any]:
    """Import a search's hook; a failed import is a loss, being the node's fault."""
    path = task_context.current().assignment.import_path(name)
    module, _, attribute = path.partition(":")
    try:
        hook: Callable[..., Any] = getattr(loaded.import_first(module), attribute)
    except (ImportError, AttributeError) as error:
        raise Ending(None, lost="import-failed", detail=str(error)) from None
    return hook


def _as_signal(status: int) -> int:
    """Convert exit code 128+n, with which bubblewrap reports death by signal n, to -n.

    Applied whether or not a machine can confine commands, so that all record the same end.
    """
    return 128 - status if status - 128 in signal.valid_signals() else status


def _confined(raw: dict[str, Value] | None, around: TaskContext) -> tuple[Sandbox | None, str]:
    """Return a command's sandbox and its program; raises a loss if a required one is missing."""
    if raw is None:
        return None, ""
    sandbox, program = from_json(Sandbox, raw), around.place.facilities.sandbox
    if program is None:
        program = _own_isolation().program
    if not program and sandbox.mode == "required":
        node, why = around.place.slot.rpartition("/")[0], _own_isolation().problem
        raise Ending(None, lost=f"no sandbox on node {node}: {why}", detail=why, cause="machine")
    around.notes["sandbox"] = "bubblewrap" if program else "none"
    return sandbox, program


@cache
def _own_isolation() -> Isolation:
    return find_isolation()


def _secrets(names: Sequence[str], around: TaskContext) -> dict[str, str]:
    """Return the variables that the command requests; a missing one is the node's fault."""
    variables = {**environment(), **around.place.facilities.secrets} if names else {}
    node = around.place.slot.rpartition("/")[0]
    missing = [
        f"variable {name} is not set on node {node}" for name in names if name not in variables
    ]
    if missing:
        raise Ending(None, lost=missing[0], detail="\n".join(missing), cause="machine")
    return {name: variables[name] for name in names}


def _environment(run: CommandRun, requested: Mapping[str, str]) -> dict[str, str]:
    """Return a small environment of known contents, the same on every machine."""
    variables = environment()
    inherited = {name: variables[name] for name in KEPT_VARIABLES if name in variables}
    variable, _, index = variables.get(COMMAND_DEVICES, f"{CUDA_DEVICES}=").partition("=")
    inherited[variable] = index
    fixed = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC", "TMPDIR": str(run.tmp_dir)}
    weft = {f"WEFT_{name.upper()}": value for name, value in run.names().items()}
    return inherited | fixed | weft | dict(requested)


def _deadline(timeout_s: float | None) -> dict[str, str]:
    """Return the variable that gives a command its deadline, in Unix seconds."""
    if timeout_s is None:
        return {}
    return {"WEFT_DEADLINE": str(int(time.time() + timeout_s))}  # noqa: TID251 - not recorded


def _check_machine(unstarted: tuple[int | None, str], slot: str) -> None:
    """Raise a loss if a command could not start because of the machine."""
    number, why = unstarted
    if number not in OWN_FAULTS:
        node = slot.rpartition("/")[0]
        raise Ending(None, lost=f"cannot start on node {node}: {why}", detail=why, cause="machine")


def _judge(report: CommandReport, run: CommandRun) -> None:
    """Raise the fault or loss that the command's end means; return if it succeeded."""
    status, reason = report["status"], report["reason"]
    if (status, reason) == (0, "exited"):
        return
    detail = tail(run.stderr) or tail(run.stdout)
    if reason == "timeout":
        raise Ending(TaskError("timeout", "run"), retriable=True, detail=detail)
    if reason == "out-of-memory":
        raise Ending(TaskError("out-of-memory", "run"), detail=detail)
    if reason == "closed" or (status < 0 and -status not in CRASHES):
        name = signal.Signals(-status).name if status < 0 else "closed"
        raise Ending(None, lost=f"command-killed-{name}", detail=detail)
    if status < 0:
        raise Ending(TaskError("crashed", "run", 128 - status), detail=detail)
    if status == TEMPORARY:
        raise Ending(TaskError("temporary", "run", status), retriable=True, detail=detail)
    if status in BROKEN:
        raise Ending(TaskError("command-broken", "run", status), detail=detail)
    raise Ending(TaskError("exit", "run", status), detail=detail)
