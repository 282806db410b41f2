"""What a command may see and change when it is confined: recorded with the command, plain data."""

from __future__ import annotations

from dataclasses import dataclass

MODES = ("auto", "required", "off")
"""With `auto` a machine that cannot confine commands runs them all the same, and that is noted."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """How a command is confined: it may read most files, and change only its own folders.

    Paths are templates, expanded on the slot.
    """

    mode: str = "auto"
    """`auto` or `required`."""
    network: bool = False
    writable: tuple[str, ...] = ()
    """Files and folders that it may change, beside its output folder and its TMPDIR."""
    readable: tuple[str, ...] = ()
    """What it may read below folders that are hidden, such as the home folder."""
