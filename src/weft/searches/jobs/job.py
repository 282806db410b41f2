"""One job: its definition as plain data, and its form in the ledger."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from weft.model.codec import to_json
from weft.model.values import Value

OWN_PLACE = re.compile(r"\{(out_dir|tmp_dir|seed)\}")
"""Names that differ for every job, so that paths with them never collide."""

WORK_DIR = "{work_dir}"


@dataclass(frozen=True, slots=True)
class Job:
    """A script or a command with its limits and the location of its result."""

    job_id: str
    timeout_s: float
    script: str = ""
    """Path relative to the node's folder, run by the node's interpreter; empty with `argv`."""
    argv: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    cwd: str = ""
    expected_output: str = ""
    """Path relative to `cwd`."""
    result: str = "stdout"
    """`stdout`, `file`, or `auto`: stdout first, then the file."""
    scalars: bool = False
    format: str = "json"
    """Format of the expected file: `json`, or `bytes` that are not inspected."""
    gpu: int = 1
    env: Mapping[str, str] = field(default_factory=dict)
    env_from: tuple[str, ...] = ()
    retries: int | None = None
    memory_mb: int | None = None
    script_sha256: str = ""
    """SHA-256 of the script at the start of the run; empty if it was not on this machine."""

    def to_dict(self) -> dict[str, Value]:
        """JSON form, as bound by the genesis; unset fields are omitted."""
        table = to_json(self)
        return {n: v for n, v in table.items() if n == "gpu" or v not in (None, "", [], {}, False)}

    def folder(self) -> str:
        """Return its working directory, as a template."""
        return _below(WORK_DIR, self.cwd)

    def words(self) -> list[str]:
        """Return the command line, as templates."""
        start = ["{python}", _below(WORK_DIR, self.script)] if self.script else [*self.argv]
        return [*start, *self.args]

    def target(self) -> str:
        """Return the path of its expected file, as a template; empty if it has none."""
        return _below(self.folder(), self.expected_output) if self.expected_output else ""

    def meets(self) -> str:
        """Return its normalised target if another job could write there; otherwise empty."""
        if not self.expected_output or OWN_PLACE.search(self.target()):
            return ""
        return _spelt(self.target())


def _spelt(path: str) -> str:
    """Normalise a path template; a `..` that leads outside the node's folder is preserved."""
    if path.startswith(WORK_DIR):
        return f"{WORK_DIR}/{posixpath.normpath('./' + path.removeprefix(WORK_DIR))}"
    return posixpath.normpath(path)


def _below(folder: str, path: str) -> str:
    """Join two templates; a path that is absolute or begins with a named folder is unchanged.

    The result is not normalised: only the slot knows where `..` leads.
    """
    if path.startswith(("/", "{out_dir}", "{tmp_dir}", WORK_DIR)):
        return path
    return posixpath.join(folder, path) if path else folder
