"""Write a run's results to files: copied in pieces, checked by hash, never overwriting."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from weft.errors import FileInvalid, InputError
from weft.inspect.report.view import RunView, view_of
from weft.model.values import Object
from weft.searches.jobs.search import NAME
from weft.searches.jobs.view import ViewedJob, jobs_of

SUFFIX = re.compile(r"\.[A-Za-z0-9_]{1,16}")


@dataclass(frozen=True, slots=True)
class Fetched:
    """One written result."""

    job_id: str
    path: Path
    size_bytes: int
    digest: str


def fetch(run: Path, to: Path, names: Sequence[str]) -> list[Fetched]:
    """Write the results of completed jobs, or of the named ones, into the folder `to`.

    Raises InputError for a job without a result, FileInvalid if a file already exists, and
    ObjectDamaged if stored bytes do not match their hash; then no file of that job is left.
    """
    view = view_of(run, NAME, "jobs")
    jobs = {job.job_id: job for job in jobs_of(view)}
    chosen = [_with_result(name, jobs, run) for name in names] or [
        job for job in jobs.values() if job.digest is not None
    ]
    paths = [to / (job.job_id + suffix_of(job)) for job in chosen]
    for path in paths:
        if path.exists() or path.is_symlink():
            raise FileInvalid(f"{path} already exists", hint="choose another --to")
    to.mkdir(parents=True, exist_ok=True)
    return [_write(view, job, path) for job, path in zip(chosen, paths, strict=True)]


def suffix_of(job: ViewedJob) -> str:
    """Return the suffix of a result's file: that of the expected file, `.json` for stdout.

    It is never empty and has exactly one dot, so that no two jobs get the same name.
    """
    if job.source != "file":
        return ".json"
    suffix = PurePosixPath(job.target).suffix
    return suffix if SUFFIX.fullmatch(suffix) else ".bin"


def _with_result(name: str, jobs: dict[str, ViewedJob], run: Path) -> ViewedJob:
    job = jobs.get(name)
    if job is None:
        raise InputError(f"{run} has no job {name!r:.140}", hint="weft report RUN lists them")
    if job.digest is None:
        raise InputError(f"job {name!r} of {run} has no result: it is {job.status}")
    return job


def _write(view: RunView, job: ViewedJob, path: Path) -> Fetched:
    assert job.digest is not None
    size = view.copy(Object(job.digest), path)
    return Fetched(job.job_id, path, size, job.digest)
