"""Determines whether a run's commands can be confined here, and what happens if not.

The setting is part of the decision; what took effect is noted in the manifest for each session.
A run that was confined so far continues without a sandbox only if the user accepts that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from weft.errors import RunMismatch, SandboxMissing
from weft.product import CommandNeeds, command_needs
from weft.runs.decision import Decision
from weft.runs.execution import Execution
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.manifest import Manifest
from weft.worker.sandbox import Isolation, find_isolation

HELD = "sandbox"
"""The event of a session whose commands are confined."""
MISSING = "sandbox-missing"
ACCEPTED = "sandbox-accepted"


@dataclass(frozen=True, slots=True)
class SessionIsolation:
    """How the commands of a session are confined."""

    needs: CommandNeeds
    program: str | None = None
    """As passed to workers; None for those on other machines, which find out themselves."""
    problem: str = ""
    accepted: bool = False

    @property
    def warning(self) -> str:
        """A warning for the user; empty if there is none."""
        if not self.problem:
            return ""
        return f"scores not isolated: commands run without a sandbox, {self.problem}"

    def note(self, event: Callable[[str, str], None]) -> None:
        """Note in the manifest what took effect."""
        if self.accepted:
            event(ACCEPTED, self.problem)
        if self.problem:
            event(MISSING, self.problem)
        elif self.program:
            event(HELD, self.program)


def session_isolation(
    decision: Decision, execution: Execution, folder: RunFolder, *, runs_commands: bool
) -> SessionIsolation:
    """Determine how commands can be confined, before anything is created.

    Raises SandboxMissing if they must be and cannot, RunMismatch if they were before and cannot.
    """
    needs = command_needs(decision.call.name, decision.call.args)
    if needs.sandbox == "off" or not runs_commands or execution.on_ray:
        return SessionIsolation(needs)
    isolation: Isolation = find_isolation()
    if isolation.program:
        return SessionIsolation(needs, isolation.program)
    if needs.sandbox == "required":
        raise SandboxMissing(
            f'sandbox = "required": {isolation.problem}',
            hint="install bubblewrap, or set sandbox to auto",
        )
    was_confined = _was_confined(folder)
    if was_confined and "sandbox" not in execution.accept:
        raise RunMismatch(
            f"{folder.path}: its commands were sandboxed and cannot be here: {isolation.problem}",
            hint="install bubblewrap, or continue without it with --accept sandbox",
        )
    return SessionIsolation(needs, "", isolation.problem, accepted=was_confined)


def _was_confined(folder: RunFolder) -> bool:
    if not folder.is_run() or not folder.manifest.is_file():
        return False
    manifest = Manifest.open(folder.manifest, Disk(), read_only=True)
    try:
        rows = manifest.query("SELECT count(*) FROM events WHERE kind=?", HELD)
    finally:
        manifest.close()
    return bool(rows[0][0])
