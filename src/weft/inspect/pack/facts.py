"""Everything a status pack shows, gathered from a run into frozen dataclasses.

A part that is damaged or missing is left out and named among the open ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from weft.errors import Damaged, ValueInvalid
from weft.inspect.access import open_manifest, run_named
from weft.inspect.pack.failures import FailureClass, RequeueCount, read_failures, read_requeues
from weft.inspect.pack.invariants import Invariant, RunEvidence, judge_invariants
from weft.inspect.pack.request import RecordedRequest, RepeatPaths, in_run, repeat_words
from weft.inspect.report.overview import (
    Badge,
    Overview,
    genesis_body,
    judge,
    overview_of,
    try_status,
)
from weft.inspect.report.text import counted
from weft.inspect.report.totals import Sum, read_totals
from weft.inspect.report.work import Work, measure
from weft.inspect.verify import Verdict
from weft.model.tasks import COMMAND
from weft.model.values import JsonValue
from weft.runs.execution import SEALED_VIEWS
from weft.storage.folder import RunFile, RunFolder
from weft.storage.heads import HeadsList

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Times, failures and events of the run, from the manifest alone."""

    work: Work
    functions: tuple[Sum, ...]
    failures: tuple[FailureClass, ...]
    losses: tuple[RequeueCount, ...]
    events: tuple[tuple[str, int], ...]
    commands: int


@dataclass(frozen=True, slots=True)
class StatusPack:
    """A summary of a run that lets someone else continue it."""

    path: str
    overview: Overview
    badge: Badge
    request: RecordedRequest | None
    execution: Mapping[str, JsonValue]
    sources: Mapping[str, str]
    telemetry: Telemetry | None
    invariants: tuple[Invariant, ...]
    commands: tuple[tuple[str, list[str]], ...]
    """For each command, its purpose and its words."""
    open_ends: tuple[str, ...]
    summary: tuple[str, ...] = ()
    """Lines added by the run's search."""

    @property
    def sound(self) -> bool:
        """Whether no check found anything wrong with the run itself."""
        return self.badge.kind != "bad"

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON form, as `--json` prints it."""
        o, t = self.overview, self.telemetry
        return {
            "schema_version": SCHEMA_VERSION,
            "run": {"path": self.path, "run_id": o.run_id, "search": o.search, "state": o.state},
            "asked": None if self.request is None else self.request.to_dict(),
            "execution": dict(self.execution),
            "sources": dict(self.sources),
            "result": {
                "status": o.answered or "none",
                "answer": o.answer,
                "tasks": dict(o.counts),
                "lanes": {"opened": o.lanes, "answered": o.lanes_answered},
                "timing_dependent": o.timing_dependent,
                "summary": list(self.summary),
            },
            "head": {"size": o.size, "root": o.head},
            "telemetry": None if t is None else _telemetry_dict(t),
            "failures": [] if t is None else [f.to_dict() for f in t.failures],
            "invariants": [asdict(i) for i in self.invariants],
            "commands": {name: [*words] for name, words in self.commands},
            "open_ends": list(self.open_ends),
        }


def _telemetry_dict(telemetry: Telemetry) -> dict[str, JsonValue]:
    work = telemetry.work
    return {
        "started_at": work.started_at,
        "wall_s": work.wall_s,
        "paused_s": work.paused_s,
        "busy_s": work.busy_s,
        "speed_up": work.speed_up,
        "functions": [asdict(line) for line in telemetry.functions],
        "losses": [asdict(loss) for loss in telemetry.losses],
        "events": dict(telemetry.events),
        "external_commands": telemetry.commands,
    }


def gather_pack(
    run: Path,
    heads: HeadsList,
    *,
    replayed: bool | None = None,
    summary: tuple[str, ...] = (),
    paths: RepeatPaths | None = None,
    notes: tuple[str, ...] = (),
) -> StatusPack:
    """Read a run in any state; raises only if there is no run.

    `replayed`, `summary` and `notes` are what the caller knows about it; `paths` are those used by
    the command that repeats the run, if not paths of the run folder.
    """
    folder, troubles = RunFolder(run), list(notes)
    with run_named(run):
        run_file = folder.read_run_file()
        verdict, badge = judge(run, heads)
        overview = overview_of(folder, run_file, verdict, try_status(run, troubles))
        request = read_request(folder)
        troubles += [] if request else ["the request cannot be read from what is left of the run"]
        telemetry = _telemetry(folder, run_file, troubles)
    commands = telemetry.commands if telemetry else 0
    evidence = RunEvidence(overview, verdict, badge, request, commands, replayed, str(run))
    pack = StatusPack(
        path=str(run),
        overview=overview,
        badge=badge,
        request=request,
        execution={k: v for k, v in run_file.execution.items() if k != "labels"},
        sources=run_file.sources,
        telemetry=telemetry,
        invariants=judge_invariants(evidence),
        commands=tuple(_commands(run, overview, request, run_file, paths)),
        open_ends=(),
        summary=summary,
    )
    return replace(pack, open_ends=tuple(_open_ends(pack, verdict, troubles)))


def read_request(folder: RunFolder) -> RecordedRequest | None:
    """Return the request in the genesis; None if it cannot be read."""
    body = genesis_body(folder)
    try:
        return None if body is None else RecordedRequest.from_genesis(body)
    except (Damaged, TypeError, ValueInvalid):
        return None


def _telemetry(folder: RunFolder, run_file: RunFile, troubles: list[str]) -> Telemetry | None:
    if not folder.manifest.is_file():
        troubles.append("the manifest is missing: times, failures and events are not known")
        return None
    sealed = SEALED_VIEWS in run_file.tags
    try:
        with open_manifest(folder) as manifest:
            events = manifest.query("SELECT kind, count(*) FROM events GROUP BY kind ORDER BY kind")
            external = "SELECT count(*) FROM tasks WHERE function = ?"
            return Telemetry(
                measure(manifest),
                read_totals(manifest).functions.lines,
                read_failures(manifest, folder.logs, sealed=sealed),
                read_requeues(manifest),
                tuple((kind, count) for kind, count in events),
                manifest.query(external, COMMAND)[0][0],
            )
    except Damaged as error:
        troubles.append(error.message)
        return None


def _commands(
    run: Path,
    overview: Overview,
    request: RecordedRequest | None,
    run_file: RunFile,
    paths: RepeatPaths | None,
) -> list[tuple[str, list[str]]]:
    name, commands = str(run), list[tuple[str, list[str]]]()
    if overview.state != "finished":
        commands.append(("resume", ["weft", "resume", name]))
    if request is not None:
        paths = paths or in_run(run, request, run_file.search_path)
        words = repeat_words(request, paths, run_file.imports)
        commands += [] if words is None else [("repeat", words)]
    commands.append(("verify", ["weft", "verify", name]))
    if overview.state == "finished":
        commands.append(("replay", ["weft", "replay", name]))
    return [*commands, ("look", ["weft", "report", name])]


def _open_ends(pack: StatusPack, verdict: Verdict | None, troubles: list[str]) -> list[str]:
    overview, ends = pack.overview, list(dict.fromkeys(troubles))
    if not pack.sound:
        ends.append(f"the run is {pack.badge.word}: {pack.badge.reason}")
    if overview.state == "interrupted":
        ends.append(f"interrupted: weft resume {pack.path}")
    elif overview.state == "running":
        ends.append("still running: the figures are of this moment")
    if overview.answered == "unknown":
        ends.append(f"the answer is UNKNOWN: {overview.answer}")
    failed = dict(overview.counts).get("failed", 0)
    if failed:
        ends.append(f"{counted(failed, 'task')} failed: weft explain {pack.path} KEY says more")
    open_lanes = overview.lanes - overview.lanes_answered
    if open_lanes:
        ends.append(f"{counted(open_lanes, 'lane')} without an answer yet")
    if pack.request is not None and pack.request.args_text() is None:
        ends.append("its arguments hold objects, which a command cannot name: repeat it in Python")
    ends += [f"not checked: {i.name} ({i.how})" for i in pack.invariants if i.holds is None]
    ends += verdict.notes if verdict else ()
    return ends
