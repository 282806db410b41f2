"""Jobs files: a JSON list, `{"jobs": […]}`, JSON lines, or TOML with a `[[jobs]]` table per job.

Every field is checked and unknown fields are refused, in one line that names the file and the job.
Only the file is read; the caller checks that scripts exist.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from weft.errors import FileInvalid
from weft.model import strictjson
from weft.model.codec import from_json
from weft.model.fields import first_problem
from weft.model.slots import VISIBLE_DEVICES
from weft.model.values import JsonValue
from weft.searches.jobs.job import Job

MAX_BYTES = 16 * 2**20
MAX_JOBS = 100_000
EXAMPLE = 'write [{"job_id": …}, …] or [[jobs]]'
Text = Annotated[str, Field(max_length=100_000, pattern=r"^[^\x00]*$")]
Named = Annotated[str, Field(min_length=1, max_length=4096, pattern=r"^[^\x00]+$")]
Variable = Annotated[str, Field(max_length=200, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class JobEntry(BaseModel):
    """One job of a file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    job_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$")]
    script: Named | None = None
    argv: Annotated[list[Text], Field(min_length=1)] | None = None
    args: list[Text] = []
    expected_output: Named | None = None
    result: Literal["stdout", "file", "auto"] | None = None
    scalars: bool = False
    format: Literal["json", "bytes"] = "json"
    timeout_s: Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)] | None = None
    gpu: Annotated[int, Field(ge=0, le=1)] = 1
    env: dict[Variable, Text] = {}
    env_from: list[Variable] = []
    cwd: Named | None = None
    retries: Annotated[int, Field(ge=0, le=100)] | None = None
    memory_mb: Annotated[int, Field(ge=1, le=2**40)] | None = None

    @model_validator(mode="after")
    def _check_together(self) -> JobEntry:
        if (self.script is None) is (self.argv is None):
            raise ValueError("give either script or argv")
        if self.argv is not None and not self.argv[0]:
            raise ValueError("argv: the first argument is the program and must not be empty")
        if self.result in ("file", "auto") and self.expected_output is None:
            raise ValueError(f'result = "{self.result}" needs expected_output')
        if self.scalars and self.channel() == "file":
            raise ValueError("scalars applies only to stdout; the result is a file")
        if self.format == "bytes" and self.channel() == "stdout":
            raise ValueError('format = "bytes" needs a result file; the result is on stdout')
        pinned = [name for name in (*self.env, *self.env_from) if name in VISIBLE_DEVICES]
        if self.gpu and pinned:
            raise ValueError(f"{pinned[0]} is set by the slot: a GPU job sees its own GPU only")
        if any(self.env.get(name, "*") for name in pinned):
            raise ValueError(f"{pinned[0]} is set by the slot: a job with gpu = 0 sees no GPU")
        if self.expected_output is not None:
            _check_written("expected_output", self.expected_output)
        twice = sorted(name for name in self.env_from if name in self.env)
        if twice:
            raise ValueError(f"{twice[0]} is in both env and env_from")
        return self

    def channel(self) -> str:
        """Return where the result is: `result`, by default the expected file if there is one."""
        return self.result or ("stdout" if self.expected_output is None else "file")

    def to_job(self, timeout_s: float) -> Job:
        """Return the job, with `timeout_s` as the default."""
        settings = {"timeout_s": timeout_s, **self.model_dump(exclude_none=True)}
        return from_json(Job, {**settings, "result": self.channel()})


def _check_written(field: str, path: str) -> None:
    """Refuse a path to write to that is absolute or contains `..`."""
    if path.startswith("/"):
        raise ValueError(f"{field} is absolute: it must be inside cwd; write a relative path")
    if ".." in PurePosixPath(path).parts:
        raise ValueError(f"{field} has a `..`: it must be inside cwd")


def read_jobs(path: Path, timeout_s: float) -> list[Job]:
    """Return the jobs of a file; raises FileInvalid, which names the file and the job."""
    entries = _entries(path)
    if not 0 < len(entries) <= MAX_JOBS:
        raise FileInvalid(f"{path}: {len(entries):,} jobs; there must be 1 to {MAX_JOBS:,}")
    jobs = [_job(raw, number, path, timeout_s) for number, raw in enumerate(entries, 1)]
    _check_apart(jobs, path)
    return jobs


def name_of(path: Path, number: int, job_id: object) -> str:
    """Return the name of a job in a file, for messages."""
    return f"{path}: job {number} ({str(job_id)[:128]!r})"


def _job(raw: JsonValue, number: int, path: Path, timeout_s: float) -> Job:
    job_id = raw.get("job_id", "?") if isinstance(raw, dict) else "?"
    try:
        return JobEntry.model_validate(raw).to_job(timeout_s)
    except ValidationError as error:
        where, problem = first_problem(error)
    problem = f"{where}: {problem}" if where else problem
    raise FileInvalid(f"{name_of(path, number, job_id)}: {problem}")


def _check_apart(jobs: Sequence[Job], path: Path) -> None:
    """Refuse jobs with the same id, or that would write the same file."""
    ids: dict[str, int] = {}
    targets: dict[str, Job] = {}
    for number, job in enumerate(jobs, 1):
        where = name_of(path, number, job.job_id)
        if job.job_id in ids:
            raise FileInvalid(f"{where}: job {ids[job.job_id]} has the same job_id")
        ids[job.job_id] = number
        target = job.meets()
        if target and target in targets:
            other = targets[target].job_id
            raise FileInvalid(
                f"{where}: expected_output is that of job {other!r} too",
                hint="give each job its own file, or put it in {out_dir}",
            )
        targets[target] = job


# -- file formats -------------------------------------------------------------------------------


def _entries(path: Path) -> list[JsonValue]:
    data = _read(path)
    if not data.strip():
        raise FileInvalid(f"{path}: is empty", hint=EXAMPLE)
    if path.suffix == ".jsonl":
        lines = enumerate(data.split(b"\n"), 1)
        return [
            strictjson.loads(line, where=f"{path}: line {number}", max_bytes=MAX_BYTES)
            for number, line in lines
            if line.strip()
        ]
    raw: JsonValue = (
        _toml(data, path)
        if path.suffix == ".toml"
        else strictjson.loads(data, where=str(path), max_bytes=MAX_BYTES)
    )
    if isinstance(raw, Mapping):
        unknown = sorted(raw.keys() - {"jobs"})
        if unknown:
            raise FileInvalid(f"{path}: unknown field {unknown[0][:80]!r} next to jobs")
        raw = raw.get("jobs")
    if not isinstance(raw, list):
        raise FileInvalid(f"{path}: contains no list of jobs", hint=EXAMPLE)
    return raw


def _toml(data: bytes, path: Path) -> JsonValue:
    try:
        return tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise FileInvalid(f"{path}: {' '.join(str(error).split())[:300]}") from None


def _read(path: Path) -> bytes:
    try:
        if not path.is_file():
            what = "is not a regular file" if path.exists() else "does not exist"
            raise FileInvalid(f"jobs file {path} {what}")
        if path.stat().st_size > MAX_BYTES:
            raise FileInvalid(f"{path}: larger than {MAX_BYTES:,} bytes")
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileInvalid(f"jobs file {str(path)[:200]!r}: {reason}") from None
