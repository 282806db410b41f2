"""The search behind `weft jobs run`: one round of commands, an answer from their results.

It knows nothing about nodes, placement or time; two runs of a jobs file have the same ledger.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from weft import command, reference, search
from weft.model.codec import from_json, to_json
from weft.model.plan import Plan
from weft.model.results import Result
from weft.model.tasks import TaskCall, Unknown
from weft.model.values import Value
from weft.searches.jobs.job import Job

NAME = "jobs.run"
PREPARE = reference("jobs.prepare", "weft.searches.jobs.results:prepare")
COLLECT = reference("jobs.collect", "weft.searches.jobs.results:collect")
JobsSearch = Generator[list[TaskCall] | Plan, Sequence[Result], list[Value] | Unknown]


@search(name="jobs.run", version=2)
def jobs(jobs: list[dict[str, Value]]) -> JobsSearch:
    """Run every job; the answer lists them in order, and is unknown if any failed."""
    parsed = [from_json(Job, raw) for raw in jobs]
    yield Plan(total=len(parsed), unit="jobs")
    ended = yield [call_of(job) for job in parsed]
    outcomes: list[Value] = [outcome_of(job, end) for job, end in zip(parsed, ended, strict=True)]
    return outcomes if all(end.ok for end in ended) else Unknown("incomplete", outcomes)


def call_of(job: Job) -> TaskCall:
    """Return a job as a command; only arguments that affect its result are recorded."""
    needed = {
        "job_id": job.job_id,
        "target": job.target(),
        "result": job.result,
        "scalars": job.scalars,
        "format": job.format,
        "script": job.words()[1] if job.script else "",
        "script_sha256": job.script_sha256,
    }
    return command(
        job.words(),
        timeout_s=job.timeout_s,
        args=needed,
        prepare=PREPARE,
        collect=COLLECT,
        env=job.env,
        env_from=job.env_from,
        cwd=job.folder(),
        retries=job.retries,
        memory_mb=job.memory_mb,
        gpu=job.gpu,
    )


def outcome_of(job: Job, result: Result) -> dict[str, Value]:
    """Return the outcome of a job as an entry of the answer."""
    error = result.error
    if error is None:
        return {"job_id": job.job_id, "status": "completed", **result.value, "error": None}
    nothing = {"source": None, "bytes": None, "object": None}
    return {"job_id": job.job_id, "status": "failed", **nothing, "error": to_json(error)}
