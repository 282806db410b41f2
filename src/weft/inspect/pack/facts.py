"""Everything a status pack tells, gathered from a run into frozen dataclasses.

A part that is damaged or missing is left out and named among the open ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from weft.errors import Damaged, ValueInvalid
from weft.inspect.access import open_manifest, run_named
from weft.inspect.pack.asked import Asked, Places, in_run, repeat_words
from weft.inspect.pack.failures import FailureClass, Loss, read_failures, read_losses
from weft.inspect.pack.invariants import Checked, Invariant, judge_invariants
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
from weft.storage.folder import SEALED_VIEWS, RunFile, RunFolder
from weft.storage.heads import HeadsList

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Telemetry:
    """How the run went; from the manifest alone."""

    work: Work
    functions: tuple[Sum, ...]
    failures: tuple[FailureClass, ...]
    losses: tuple[Loss, ...]
    events: tuple[tuple[str, int], ...]
    commands: int


@dataclass(frozen=True, slots=True)
class Pack:
    """A run, ready to be handed over."""

    path: str
    overview: Overview
    badge: Badge
    asked: Asked | None
    execution: Mapping[str, Any]
    sources: Mapping[str, str]
    telemetry: Telemetry | None
    invariants: tuple[Invariant, ...]
    commands: tuple[tuple[str, list[str]], ...]
    """What each command is for, and its words."""
    open_ends: tuple[str, ...]
    summary: tuple[str, ...] = ()
    """What the run's search says of it."""

    @property
    def sound(self) -> bool:
        """Whether nothing that was checked is wrong with the run itself."""
        return self.badge.kind != "bad"

    def to_dict(self) -> dict[str, Any]:
        """JSON form, as `--json` prints it."""
        o, t = self.overview, self.telemetry
        return {
            "schema_version": SCHEMA_VERSION,
            "run": {"path": self.path, "run_id": o.run_id, "search": o.search, "state": o.state},
            "asked": None if self.asked is None else self.asked.to_dict(),
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
            "failures": [] if t is None else [asdict(f) for f in t.failures],
            "invariants": [asdict(i) for i in self.invariants],
            "commands": dict(self.commands),
            "open_ends": list(self.open_ends),
        }


def _telemetry_dict(found: Telemetry) -> dict[str, Any]:
    work = found.work
    return {
        "started_at": work.started_at,
        "wall_s": work.wall_s,
        "paused_s": work.paused_s,
        "busy_s": work.busy_s,
        "speed_up": work.speed_up,
        "functions": [asdict(line) for line in found.functions],
        "losses": [asdict(loss) for loss in found.losses],
        "events": dict(found.events),
        "external_commands": found.commands,
    }


def gather_pack(
    run: Path,
    heads: HeadsList,
    *,
    replayed: bool | None = None,
    summary: tuple[str, ...] = (),
    places: Places | None = None,
    noted: tuple[str, ...] = (),
) -> Pack:
    """Read a run in whatever state it is; raises only where there is no run at all.

    `replayed`, `summary` and `noted` are what the caller found out about it by itself; `places`
    says where the repeating command finds things, if not in the run.
    """
    folder, troubles = RunFolder(run), list(noted)
    with run_named(run):
        run_file = folder.read_run_file()
        verdict, badge = judge(run, heads)
        overview = overview_of(folder, run_file, verdict, try_status(run, troubles))
        asked = read_asked(folder)
        troubles += [] if asked else ["what was asked cannot be read from what is left of the run"]
        telemetry = _telemetry(folder, run_file, troubles)
    commands = telemetry.commands if telemetry else 0
    checked = Checked(overview, verdict, badge, asked, commands, replayed, str(run))
    pack = Pack(
        path=str(run),
        overview=overview,
        badge=badge,
        asked=asked,
        execution={k: v for k, v in run_file.execution.items() if k != "labels"},
        sources=run_file.sources,
        telemetry=telemetry,
        invariants=judge_invariants(checked),
        commands=tuple(_commands(run, overview, asked, run_file, places)),
        open_ends=(),
        summary=summary,
    )
    return replace(pack, open_ends=tuple(_open_ends(pack, verdict, troubles)))


def read_asked(folder: RunFolder) -> Asked | None:
    """Return what the genesis asks for; None when there is none to be read."""
    body = genesis_body(folder)
    try:
        return None if body is None else Asked.from_genesis(body)
    except (AttributeError, KeyError, TypeError, ValueInvalid):
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
                read_losses(manifest),
                tuple((kind, count) for kind, count in events),
                manifest.query(external, COMMAND)[0][0],
            )
    except Damaged as error:
        troubles.append(error.message)
        return None


def _commands(
    run: Path, overview: Overview, asked: Asked | None, run_file: RunFile, places: Places | None
) -> list[tuple[str, list[str]]]:
    name, found = str(run), list[tuple[str, list[str]]]()
    if overview.state != "finished":
        found.append(("resume", ["weft", "resume", name]))
    if asked is not None:
        places = places or in_run(run, asked, run_file.search_path)
        words = repeat_words(asked, places, run_file.imports)
        found += [] if words is None else [("repeat", words)]
    found.append(("verify", ["weft", "verify", name]))
    if overview.state == "finished":
        found.append(("replay", ["weft", "replay", name]))
    return [*found, ("look", ["weft", "report", name])]


def _open_ends(pack: Pack, verdict: Verdict | None, troubles: list[str]) -> list[str]:
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
        ends.append(f"{counted(failed, 'task')} failed: weft explain {pack.path} KEY tells more")
    open_lanes = overview.lanes - overview.lanes_answered
    if open_lanes:
        ends.append(f"{counted(open_lanes, 'lane')} without an answer yet")
    if pack.asked is not None and pack.asked.args_text() is None:
        ends.append("its arguments hold objects, which a command cannot name: repeat it in Python")
    ends += [f"not checked: {i.name} ({i.how})" for i in pack.invariants if i.holds is None]
    ends += verdict.notes if verdict else ()
    return ends
