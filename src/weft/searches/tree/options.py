"""The options of `weft tree`, each declared once, and the option groups of its commands."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated

import typer

from weft.console import options
from weft.console.execution import ExecutionOptions
from weft.console.options import decision, runtime
from weft.errors import UsageError
from weft.lazy_imports import lazy_imports

with lazy_imports():
    from weft.runs import execution as runs
    from weft.searches.tree import configfile, export

Config = Annotated[Path, typer.Argument(metavar="CONFIG", help="The search's tree.toml.")]
Out = Annotated[Path | None, runtime("DIR", "The run's folder.")]
DryRun = Annotated[
    bool,
    decision(
        None,
        "Run the whole engine with synthetic outcomes, without the config's commands.",
        "--dry-run",
    ),
]
ImportFrom = Annotated[
    Path | None,
    decision("RUN", "Import completed evals of an earlier run: same parent commit, same idea."),
]
Events = Annotated[
    Path | None,
    runtime("FILE", "Append events of evals and nodes to a file, as JSON lines."),
]
_SETTING = "Override a field of the config with a TOML value: --set score.timeout_s=5. Repeatable."
Settings = Annotated[list[str], decision("NAME=VALUE", _SETTING, "--set")]
BeamWidth = Annotated[int | None, decision("N", "How many evals of a depth become nodes.")]
IdeasPerNode = Annotated[int | None, decision("N", "Ideas tried on each node.")]
MaxDepth = Annotated[int | None, decision("N", "Most ideas on top of each other.")]
MaxTotalEvals = Annotated[int | None, decision("N", "Most evals in the whole search.")]
EvalRetries = Annotated[
    int | None, decision("N", "Extra attempts after a timeout or exit code 75.")
]
RootRepeats = Annotated[
    int | None, decision("N", "Scorings of the root, whose spread is the noise band.")
]
ReviewRounds = Annotated[
    int | None, decision("N", "Most times an idea is implemented until approved.")
]
EvalTimeout = Annotated[float | None, decision("S", "Time limit of a stage, in seconds.")]
_SCOPES = "node|ancestors|global|none"
Scope = Annotated[str | None, decision(_SCOPES, "Where not to repeat an idea with the same text.")]
StrictDepth = Annotated[bool | None, decision(None, "The first failed eval ends the search.")]
StopOnEmpty = Annotated[
    bool | None,
    decision(None, "Stop if a depth promotes nothing, or try the next ideas on the same nodes."),
]
Parallel = Annotated[int | None, runtime("N", "Most evals at a time. Default: 1.")]
PerNode = Annotated[int | None, runtime("N", "Most evals of one node at a time.")]
ParallelBackend = Annotated[
    str | None,
    runtime(
        "serial|local|ray",
        "Where evals run: one at a time, on workers of this machine (also called"
        " threadpool), or on a Ray cluster.",
        "--parallel-backend",
        "--backend",
    ),
]
_AREA = "Record ideas and outcomes in this area's index, for later runs."
Area = Annotated[str | None, runtime("NAME", _AREA)]
FeedIndex = Annotated[
    bool | None,
    decision(None, "Give the proposing command the results of earlier runs in the area."),
]
Memory = Annotated[
    str | None,
    decision("off|replay", "Whether commands get the transcript of the path to their node."),
]
_PARITY = "Run it again with a different number of workers and compare the ledgers."
CheckParity = Annotated[bool, runtime(None, _PARITY, "--check-parity")]
ValidateOnly = Annotated[
    bool,
    runtime(
        None,
        "Check config, repository, ideas, protected paths and commands, and score the root"
        " twice; with --out the table is written there.",
        "--validate-only",
    ),
]
_REPORT = "Rewrite the summary of an existing run; nothing is run."
ReportOnly = Annotated[bool, runtime(None, _REPORT, "--report-only")]
_REJECTED = "Write the files of evals that were not promoted to RUN/kept."
KeepRejected = Annotated[bool, runtime(None, _REJECTED, "--keep-rejected-worktrees")]
_FAILED = "Keep the folders of failed attempts in RUN/kept."
KeepFailed = Annotated[bool, runtime(None, _FAILED, "--keep-failed-artifacts")]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFields:
    """Overrides of config fields that decide a plan; None keeps the file's value."""

    beam_width: BeamWidth = None
    ideas_per_node: IdeasPerNode = None
    max_depth: MaxDepth = None
    max_total_evals: MaxTotalEvals = None
    dedupe_scope: Scope = None
    settings: Settings = field(default_factory=list)

    def overrides(self) -> list[configfile.Override]:
        """Return the overrides of the file's values, --set last."""
        flags = [field.name for field in fields(self) if field.name != "settings"]
        flag_overrides = [configfile.Override(name, getattr(self, name)) for name in flags]
        settings = [configfile.parse_setting(text) for text in self.settings]
        return [override for override in flag_overrides if override.value is not None] + settings


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFields(PlanFields):
    """Overrides of config fields that decide or execute a run; None keeps the file's value."""

    eval_retries: EvalRetries = None
    eval_timeout_seconds: EvalTimeout = None
    root_repeats: RootRepeats = None
    review_rounds: ReviewRounds = None
    strict_fail_depth: StrictDepth = None
    stop_on_empty_frontier: StopOnEmpty = None
    memory: Memory = None
    area: Area = None
    feed_index: FeedIndex = None
    max_parallel_evals: Parallel = None
    max_parallel_per_node: PerNode = None
    parallel_backend: ParallelBackend = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeExecutionOptions:
    """Execution options other than workers and backend, which are in the config."""

    ray_address: options.RayAddress = None
    nodes: options.Nodes = None
    simulate_nodes: options.SimulateNodes = False
    placement: options.Placement = None
    keep_rejected_worktrees: KeepRejected = False
    keep_failed_artifacts: KeepFailed = False
    accept: options.Accept = field(default_factory=list)
    wall_limit: options.WallLimit = None
    sign_key: options.SignKey = None

    def execution(self, out: Path, backend: str) -> runs.Execution:
        """Return the execution of a run with the backend of its config."""
        own = ("keep_rejected_worktrees", "keep_failed_artifacts")
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in own}
        shared = ExecutionOptions(backend=backend, **values)
        rejected = (export.REJECTED,) if self.keep_rejected_worktrees else ()
        failed = (export.FAILED,) if self.keep_failed_artifacts else ()
        return replace(shared.execution(out), keep=(*rejected, *failed))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeOptions:
    """Modes that replace or follow a run."""

    check_parity: CheckParity = False
    validate_only: ValidateOnly = False
    report_only: ReportOnly = False

    def check(self, out: Path | None, import_from: Path | None) -> None:
        """Refuse contradictory options before anything is read."""
        if out is None and not self.validate_only:
            raise UsageError(
                "--out DIR is missing", hint="or check the config with --validate-only"
            )
        if self.validate_only and (self.report_only or self.check_parity):
            raise UsageError("--validate-only runs nothing: omit --report-only and --check-parity")
        if self.report_only and self.check_parity:
            raise UsageError("--report-only runs nothing: omit --check-parity")
        if import_from is not None and out is not None and import_from.resolve() == out.resolve():
            problem = "--import-from is the run of --out itself"
            raise UsageError(problem, hint="choose another --out")
