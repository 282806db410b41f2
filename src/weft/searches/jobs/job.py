"""One job as it is asked for: plain data, and its form in the ledger."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from weft.model.codec import to_json
from weft.model.values import Value

OWN_PLACE = re.compile(r"\{(out_dir|tmp_dir|seed)\}")
"""Names that differ for every job, so that two paths with them never meet."""

WORK_DIR = "{work_dir}"


@dataclass(frozen=True, slots=True)
class Job:
    """A script or a command, what it may use, and where its result is."""

    job_id: str
    timeout_s: float
    script: str = ""
    """Path relative to the node's folder, run by the node's interpreter; or else `argv`."""
    argv: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    cwd: str = ""
    expected_output: str = ""
    """Path relative to `cwd`."""
    result: str = "stdout"
    """`stdout`, `file`, or `auto`: stdout first, then the file."""
    scalars: bool = False
    format: str = "json"
    """Of the expected file: `json`, or `bytes` that are not looked into."""
    gpu: int = 1
    env: Mapping[str, str] = field(default_factory=dict)
    env_from: tuple[str, ...] = ()
    retries: int | None = None
    memory_mb: int | None = None
    script_sha256: str = ""
    """Of the script as it was when the run started; empty when it was not here."""

    def to_dict(self) -> dict[str, Value]:
        """JSON form, as the run's first record binds it; what is not given is left out."""
        table = to_json(self)
        return {n: v for n, v in table.items() if n == "gpu" or v not in (None, "", [], {}, False)}

    def folder(self) -> str:
        """Where it starts, as a template."""
        return _below(WORK_DIR, self.cwd)

    def words(self) -> list[str]:
        """Return what is executed, as templates."""
        start = ["{python}", _below(WORK_DIR, self.script)] if self.script else [*self.argv]
        return [*start, *self.args]

    def target(self) -> str:
        """Where its expected file will be, as a template; empty when it has none."""
        return _below(self.folder(), self.expected_output) if self.expected_output else ""

    def meets(self) -> str:
        """Return its target, in one spelling, if another job could write there; else nothing."""
        if not self.expected_output or OWN_PLACE.search(self.target()):
            return ""
        return _spelt(self.target())


def _spelt(path: str) -> str:
    """Spell a template one way; `..` may lead out of the node's folder but not be lost."""
    if path.startswith(WORK_DIR):
        return f"{WORK_DIR}/{posixpath.normpath('./' + path.removeprefix(WORK_DIR))}"
    return posixpath.normpath(path)


def _below(folder: str, path: str) -> str:
    """Join two templates; a path that begins in a folder of its own stays as it is.

    Left as written: what `..` leads to is known on the slot only.
    """
    if path.startswith(("/", "{out_dir}", "{tmp_dir}", WORK_DIR)):
        return path
    return posixpath.join(folder, path) if path else folder
