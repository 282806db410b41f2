"""`weft jobs` put together: read both files, refuse what cannot run before anything starts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from weft.cluster.host import names_of_here
from weft.errors import FileInvalid, InputError
from weft.model.slots import Node, local_nodes
from weft.runs.execution import placed
from weft.searches.jobs.job import Job
from weft.searches.jobs.jobfile import name_of, read_jobs
from weft.storage.folder import RunFolder
from weft.worker.preflight import Need, find_problem


@dataclass(frozen=True, slots=True)
class JobsRequest:
    """Jobs that can run on these nodes, with their scripts bound."""

    jobs: tuple[Job, ...]
    nodes: tuple[Node, ...]
    needs: tuple[Need, ...] = ()
    """What each job asks of the node that it runs on."""


def read_request(
    path: Path,
    nodes: Sequence[Node],
    workers: int | None,
    timeout_s: float,
    *,
    anywhere: bool = False,
) -> JobsRequest:
    """Read a jobs file for some nodes, or for this machine without any.

    With `anywhere` nodes may be other machines, whose scripts cannot be seen from here.
    Raises FileInvalid naming the file and the job when one could never run.
    """
    jobs = read_jobs(path, timeout_s)
    places = tuple(nodes) or local_nodes(workers or 1)
    for number, job in enumerate(jobs, 1):
        _check_kind(job, places, name_of(path, number, job.job_id), bool(nodes))
    seen = [node for node in places if not anywhere or node.name in names_of_here()]
    here = placed(seen, Path.cwd())
    folders = list(dict.fromkeys(Path(node.folder) for node in here))
    known: dict[Path, str] = {}
    bound = [
        _with_script(job, folders, name_of(path, number, job.job_id), known)
        for number, job in enumerate(jobs, 1)
    ]
    needs = [_need(job, name_of(path, number, job.job_id)) for number, job in enumerate(bound, 1)]
    _check_here(here, needs)
    return JobsRequest(tuple(bound), places, tuple(needs))


def _need(job: Job, where: str) -> Need:
    words, target = job.words(), job.target()
    script = words[1] if job.script else ""
    path = job.env.get("PATH", "")
    facts = (script, job.script_sha256, target, path, job.env_from)
    return Need(where, words[0], job.folder(), *facts)


def _check_here(nodes: Sequence[Node], needs: Sequence[Need]) -> None:
    """Refuse what a node that is this machine lacks; nodes of one folder are looked at once."""
    checked: set[tuple[str, str, tuple[str, ...]]] = set()
    for node in nodes:
        place = (node.folder, node.python, node.allow_paths)
        if place not in checked and (why := find_problem(*place, needs)):
            raise refusal(node.name, why)
        checked.add(place)


@contextmanager
def on_checked_nodes(
    request: JobsRequest, out: Path, address: str, workers: int | None, *, ray: bool
) -> Iterator[None]:
    """Be part of the cluster of a run on Ray, whose nodes were looked at; else nothing."""
    if not ray or RunFolder(out).is_finished():
        yield
        return
    from weft.runs.rayrun import joined  # noqa: PLC0415 - only where Ray is wanted

    with joined(address, request.nodes, workers):
        _check_joined(request)
        yield


def check_cluster(request: JobsRequest, address: str) -> None:
    """Look at the nodes of a cluster, for a plan."""
    from weft.runs.rayrun import joined  # noqa: PLC0415 - only where Ray is wanted

    with joined(address, request.nodes, None):
        _check_joined(request)


def _check_joined(request: JobsRequest) -> None:
    from weft.backends.raycheck import find_problems  # noqa: PLC0415 - needs Ray

    others = [node for node in request.nodes if node.name not in names_of_here()]
    for name, why in find_problems(others, request.needs).items():
        raise refusal(name, why)


def other_nodes(request: JobsRequest) -> list[str]:
    """Return the names of nodes that are not this machine."""
    return [node.name for node in request.nodes if node.name not in names_of_here()]


def refusal(node: str, why: str) -> FileInvalid:
    """Say what a node lacks."""
    return FileInvalid(f"{why} (node {node})")


def _check_kind(job: Job, nodes: Sequence[Node], where: str, named: bool) -> None:
    offered = sum(node.gpus if job.gpu else node.cpus for node in nodes)
    if offered:
        return
    if not job.gpu:
        raise FileInvalid(f"{where}: asks for a CPU slot and no node has one")
    other = "" if named else ", or name nodes with --nodes"
    raise FileInvalid(
        f"{where}: asks for a GPU and no node has one", hint=f"set gpu to 0 for it{other}"
    )


def _with_script(job: Job, folders: Sequence[Path], where: str, known: dict[Path, str]) -> Job:
    """Bind a job to its script as it is now; it must be in the folder of every node we can see."""
    if not job.script or "{" in job.script:
        return job
    if not folders and (Path.cwd() / job.script).is_file():
        folders = [Path.cwd()]  # nodes elsewhere must have what is here
    digests = [_digest(folder / job.script, where, known) for folder in folders]
    return replace(job, script_sha256=digests[0]) if digests else job


def _digest(path: Path, where: str, known: dict[Path, str]) -> str:
    if path not in known:
        if not path.is_file():
            what = "is not a plain file" if path.exists() else "does not exist"
            raise FileInvalid(f"{where}: script {path} {what}")
        try:
            with path.open("rb") as file:
                known[path] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise FileInvalid(f"{where}: script {path}: {error.strerror}") from None
    return known[path]


def check_jobs_run(run: Path, search: str) -> None:
    """Raise unless the folder is a run of jobs."""
    found = RunFolder(run).read_run_file().search
    if found != search:
        raise InputError(f"{run} is a run of {found}, not of jobs", hint=f"weft status {run}")
