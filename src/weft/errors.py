"""Every error Weft raises on purpose, in one tree.

    WeftError
    ├── InputError             your input: exit 3 (2 for usage)
    │   ├── UsageError         options that do not go together
    │   │   └── OptionInvalid  one option, by its name in Python
    │   ├── ValueInvalid       a value outside what tasks may pass
    │   ├── FileInvalid        a file that cannot be read as what it should be
    │   ├── SearchInvalid      a search or task that breaks the contract
    │   ├── ExtraMissing       a command whose extra is not installed
    │   ├── RunFolderInvalid   the folder is not a run, or not one to write into
    │   ├── RunMismatch        the folder holds a different run
    │   ├── CodeChanged        the task code differs from the recorded one
    │   ├── RunCopied          the folder is a copy of a run that exists elsewhere
    │   ├── RunRolledBack      the folder is older than a head seen outside it
    │   └── ReplayDiverged     the search asked for tasks other than those recorded
    ├── WorldError             the environment: exit 75
    │   ├── RunLocked          another coordinator holds the run
    │   ├── NodeUnreachable    a machine that cannot be reached
    │   ├── StorageFailed      a disk that is full or broken
    │   ├── SandboxMissing     a required sandbox that this machine lacks
    │   ├── RunFolderUnsafe    a link, FIFO, socket or device inside a run: exit 5
    │   └── Damaged            exit 5
    │       ├── LedgerDamaged
    │       │   └── SignatureMissing   the ledger is not signed, or not to its end
    │       ├── ManifestDamaged
    │       └── ObjectDamaged
    └── BugError               our bug: exit 70

    KeyboardInterrupt
    └── Interrupted            stopped on request, resumable: exit 130
        └── Paused             stopped at the requested milestone

A message is one line: what, where, why, and the next command (`hint`).
`TaskFailed` and `Temporary` are not in the tree: they travel inside searches and tasks.
"""

from __future__ import annotations

import errno
from typing import ClassVar, Final

SHORTAGES: Final = {
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
    errno.ENFILE: "raise the limit of open files (ulimit -n)",
    errno.EAGAIN: "end other processes or raise their limit (ulimit -u)",
    errno.ENOMEM: "free memory or take fewer --workers",
}
"""What to do where the machine, not the disk, has too little of something."""

GENERATED: Final = "<string>"
"""The file that tracebacks name for code which `dataclasses` made."""


class _Reported(BaseException):
    """What ends a command with one line: a message, and the next thing to do (`hint`)."""

    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class WeftError(_Reported, Exception):
    """Base of all errors; `hint` is the next thing to do, printed after the message."""


class InputError(WeftError):
    """Something the user gave us is wrong; nothing on disk was changed."""

    exit_code = 3

    def _render_traceback_(self) -> list[str]:
        """What IPython and notebooks show: the lines of the user's own code, then the message."""
        import traceback  # noqa: PLC0415 - slow, and only for whoever sees it

        own = f"{__file__.rpartition('/')[0]}/"
        frames = [
            frame
            for frame in traceback.extract_tb(self.__traceback__)
            if not frame.filename.startswith((own, GENERATED)) and "/IPython/" not in frame.filename
        ]
        lines = "".join(traceback.format_list(frames)).splitlines()
        return [*lines, f"{type(self).__name__}: {self}"]


class UsageError(InputError):
    """Options that are wrong or do not go together."""

    exit_code = 2


class OptionInvalid(UsageError):
    """An option out of its range: `parameter` in Python, `flag` on the command line."""

    def __init__(self, parameter: str, rule: str, *, flag: str = "") -> None:
        super().__init__(f"{parameter} {rule}")
        self.on_command_line = f"{flag or '--' + parameter} {rule}"
        """The message with the name of the flag."""


class ValueInvalid(InputError):
    """A value that tasks may not pass or return; `path` is the location inside it."""

    def __init__(self, reason: str, *, path: str = "$", hint: str = "") -> None:
        super().__init__(f"value at {path}: {reason}", hint=hint)
        self.reason = reason
        self.path = path


class FileInvalid(InputError):
    """A file that is missing or not what it should be."""


class SearchInvalid(InputError):
    """A search or task definition that breaks the contract."""


class ExtraMissing(InputError):
    """A command or search needs packages that an extra of Weft installs."""


class RunFolderInvalid(InputError):
    """A folder that is not a run, or not one that may be written to."""


class RunMismatch(InputError):
    """The folder holds a run with another search, config, seed or inputs."""


class CodeChanged(InputError):
    """The source of the task packages differs from the one recorded in run.toml."""


class RunCopied(InputError):
    """The original of this copy still exists."""


class RunRolledBack(InputError):
    """The run is older than a head that was seen outside it."""


class ReplayDiverged(InputError):
    """On replay the search asked for something other than what was recorded."""


class WorldError(WeftError):
    """The world around us failed; trying again later may work."""

    exit_code = 75


class RunLocked(WorldError):
    """Another coordinator holds the run."""


class NodeUnreachable(WorldError):
    """A machine that cannot be reached over SSH, or has no Python to ask."""


class StorageFailed(WorldError):
    """A durable write failed; everything completed before is safe."""


class SandboxMissing(WorldError):
    """Commands must be sandboxed, and this machine cannot do it."""


class Interrupted(_Reported, KeyboardInterrupt):
    """Stopped on request; the same command continues.

    Not an `Exception`, just as Ctrl-C is not: a loop over many runs that catches `Exception` must
    stop.
    """

    exit_code = 130

    def _render_traceback_(self) -> list[str]:
        """What IPython and notebooks show instead of a traceback: one line."""
        return [f"weft: {self}"]


class Paused(Interrupted):
    """Stopped at the requested milestone; the same command continues."""


class RunFolderUnsafe(WorldError):
    """A run folder contains something that would lead a reader out of it or block it forever.

    Not `Damaged`: readers show as much of a damaged run as they can, but nothing of this one.
    """

    exit_code = 5


class Damaged(WorldError):
    """Stored data does not agree with itself."""

    exit_code = 5


class LedgerDamaged(Damaged):
    """The ledger or its checkpoint was altered; `seq` is the first wrong record."""

    def __init__(self, message: str, *, seq: int | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.seq = seq


class SignatureMissing(LedgerDamaged):
    """The required signature is missing, or covers only a part of the ledger."""


class ManifestDamaged(Damaged):
    """The manifest cannot be read or contradicts itself."""


class ObjectDamaged(Damaged):
    """An object is missing or its bytes do not match its name."""


class BugError(WeftError):
    """A state that should be impossible: our bug."""
