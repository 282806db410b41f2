"""The request of a jobs run: its jobs, read and checked on the nodes visible from here.

A job that could never run is refused before anything starts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from weft.errors import FileInvalid
from weft.model.slots import Node, local_nodes
from weft.model.tasks import SearchCall
from weft.runs.execution import default_workers, is_here, placed
from weft.runs.run import Policy, checked_policy
from weft.searches.jobs.job import Job
from weft.searches.jobs.jobfile import name_of, read_jobs
from weft.searches.jobs.search import jobs as jobs_search
from weft.worker.preflight import Need, find_problem


@dataclass(frozen=True, slots=True)
class JobLimits:
    """Settings that decide the outcome in addition to the jobs file."""

    timeout_s: float
    """Time limit of an attempt, for jobs without their own."""
    retries: int = 0
    strict: bool = False
    seed: int = 0


@dataclass(frozen=True, slots=True)
class JobsRequest:
    """Everything that decides a run of jobs, and the requirements on their nodes."""

    jobs: tuple[Job, ...]
    """Jobs with their script hashes and time limits."""
    policy: Policy
    seed: int
    nodes: tuple[Node, ...]
    """The nodes on which they can run; these do not affect the outcome."""
    needs: tuple[Need, ...] = ()
    """The requirements of each job on its node."""

    def call(self) -> SearchCall:
        """Return the search with these jobs."""
        return jobs_search(jobs=[job.to_dict() for job in self.jobs])

    def elsewhere(self) -> list[Node]:
        """Return the nodes that are not this machine."""
        return [node for node in self.nodes if not is_here(node)]


def read_request(
    path: Path,
    limits: JobLimits,
    nodes: Sequence[Node] = (),
    workers: int | None = None,
    *,
    anywhere: bool = False,
) -> JobsRequest:
    """Read a jobs file for some nodes, or for this machine if there are none.

    With `anywhere`, nodes may be other machines, whose scripts are not visible from here.
    Raises FileInvalid, which names the file and the job, if a job could never run.
    """
    policy = checked_policy(limits.retries, None, limits.strict)
    jobs = read_jobs(path, limits.timeout_s)
    places = tuple(nodes) or local_nodes(workers or default_workers())
    names = [name_of(path, number, job.job_id) for number, job in enumerate(jobs, 1)]
    for job, name in zip(jobs, names, strict=True):
        _check_kind(job, places, name, bool(nodes))
    visible = [node for node in places if not anywhere or is_here(node)]
    here = placed(visible, Path.cwd())
    folders = list(dict.fromkeys(Path(node.folder) for node in here))
    known: dict[Path, str] = {}
    named = zip(jobs, names, strict=True)
    bound = [_with_script(job, folders, name, known) for job, name in named]
    needs = [_need(job, name) for job, name in zip(bound, names, strict=True)]
    _check_here(here, needs)
    return JobsRequest(tuple(bound), policy, limits.seed, places, tuple(needs))


def _need(job: Job, where: str) -> Need:
    words, target = job.words(), job.target()
    script = words[1] if job.script else ""
    path = job.env.get("PATH", "")
    facts = (script, job.script_sha256, target, path, job.env_from)
    return Need(where, words[0], job.folder(), *facts)


def _check_here(nodes: Sequence[Node], needs: Sequence[Need]) -> None:
    """Refuse jobs that the nodes on this machine cannot run; equal nodes are checked once."""
    checked: set[tuple[str, str, tuple[str, ...]]] = set()
    for node in nodes:
        place = (node.folder, node.python, node.allow_paths)
        if place not in checked and (why := find_problem(*place, needs)):
            raise refusal(node.name, why)
        checked.add(place)


def refusal(node: str, why: str) -> FileInvalid:
    """Return the error for something that a node lacks."""
    return FileInvalid(f"{why} (node {node})")


def _check_kind(job: Job, nodes: Sequence[Node], where: str, named: bool) -> None:
    offered = sum(node.gpus if job.gpu else node.cpus for node in nodes)
    if offered:
        return
    if not job.gpu:
        raise FileInvalid(f"{where}: needs a CPU slot, but no node has one")
    other = "" if named else ", or name nodes with --nodes"
    raise FileInvalid(
        f"{where}: needs a GPU, but no node has one", hint=f"set gpu to 0 for it{other}"
    )


def _with_script(job: Job, folders: Sequence[Path], where: str, known: dict[Path, str]) -> Job:
    """Bind a job to its script's current hash; every visible node must have the script."""
    if not job.script or "{" in job.script:
        return job
    if not folders and (Path.cwd() / job.script).is_file():
        folders = [Path.cwd()]  # other machines must have the same script
    digests = [_digest(folder / job.script, where, known) for folder in folders]
    return replace(job, script_sha256=digests[0]) if digests else job


def _digest(path: Path, where: str, known: dict[Path, str]) -> str:
    if path not in known:
        if not path.is_file():
            what = "is not a regular file" if path.exists() else "does not exist"
            raise FileInvalid(f"{where}: script {path} {what}")
        try:
            with path.open("rb") as file:
                known[path] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise FileInvalid(f"{where}: script {path}: {error.strerror}") from None
    return known[path]
