"""What a confined command may read and change. Plain data, recorded with the command."""

from __future__ import annotations

from dataclasses import dataclass

MODES = ("auto", "required", "off")
"""With `auto`, a machine that cannot confine commands runs them anyway, and this is noted."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """How a command is confined: it may read most files, and change only its own folders.

    Paths are templates, expanded on the slot.
    """

    mode: str = "auto"
    """`auto` or `required`."""
    network: bool = False
    writable: tuple[str, ...] = ()
    """Files and folders that it may change, besides its output folder and its TMPDIR."""
    readable: tuple[str, ...] = ()
    """Paths that it may read inside hidden folders, such as the home folder."""
