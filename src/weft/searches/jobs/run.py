"""Execute a jobs request: check the nodes of a cluster first, then run the search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from weft.errors import WorldError
from weft.lazy_imports import lazy_imports
from weft.runs.begun import is_finished
from weft.runs.execution import Execution
from weft.runs.outcome import Run
from weft.runs.run import Watcher, run_search
from weft.searches.jobs.request import JobsRequest, refusal

with lazy_imports():
    from weft.runs import rayrun


def execute_jobs(request: JobsRequest, execution: Execution, watcher: Watcher | None = None) -> Run:
    """Run all jobs, or continue an existing run; raises FileInvalid if a node lacks a need."""
    with _checked_cluster(request, execution):
        return run_search(
            request.call(), execution, seed=request.seed, policy=request.policy, watcher=watcher
        )


@contextmanager
def _checked_cluster(request: JobsRequest, execution: Execution) -> Iterator[None]:
    """For an unfinished run on Ray, join the cluster and check that its nodes meet the needs."""
    if not execution.on_ray or is_finished(execution.out):
        yield
        return
    with rayrun.joined(execution.ray_address, request.nodes, execution.workers):
        _check_joined(request)
        yield


def unchecked_nodes(request: JobsRequest, address: Callable[[], str] | None) -> list[str]:
    """Check the nodes of the cluster at `address`, if it is running; report unchecked ones.

    Without an address, all other machines are unchecked.
    """
    names = [node.name for node in request.elsewhere()]
    if not names or address is None:
        return [f"not checked: {name} is not this machine" for name in names]
    try:
        with rayrun.joined(address(), request.nodes, None):
            _check_joined(request)
    except WorldError as error:
        return [f"not checked: {', '.join(names)[:200]}: {error.message}"]
    return []


def _check_joined(request: JobsRequest) -> None:
    for name, why in rayrun.find_problems(request.elsewhere(), request.needs).items():
        raise refusal(name, why)
