"""Predict where jobs will run, before the start. Pure; the deal is that of the engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from weft.console.nodeplan import NodePlan, place_of, spread
from weft.inspect.report.text import counted
from weft.model.slots import Deal, Node, Slot, slots_of
from weft.searches.jobs.job import Job


def table(jobs: Sequence[Job], nodes: Sequence[Node]) -> list[Slot | None]:
    """Return each job's slot under the static deal; None if there is no slot of its kind."""
    slots = slots_of(nodes)
    deals = {gpu: Deal.of(slots, gpu=bool(gpu)) for gpu in (0, 1)}
    count, totals = Counter[int](), Counter(job.gpu for job in jobs)
    dealt: list[Slot | None] = []
    for job in jobs:
        number = deals[job.gpu].slot(count[job.gpu], totals[job.gpu])
        count[job.gpu] += 1
        dealt.append(None if number is None else slots[number])
    return dealt


def static_plan(jobs: Sequence[Job], nodes: Sequence[Node]) -> list[NodePlan]:
    """Return the number of jobs per node under the static deal."""
    return spread((place_of(slot) for slot in table(jobs, nodes) if slot is not None), nodes)


def greedy_line(jobs: Sequence[Job], nodes: Sequence[Node]) -> str:
    """Return a line with the number of jobs and slots for greedy placement."""
    gpu_jobs = sum(job.gpu for job in jobs)
    kinds = [
        (gpu_jobs, sum(node.gpus for node in nodes), "GPU"),
        (len(jobs) - gpu_jobs, sum(node.cpus for node in nodes), "CPU"),
    ]
    parts = [
        f"{counted(n, 'job')} for {counted(slots, f'{kind} slot')}" for n, slots, kind in kinds if n
    ]
    return f"PARALLEL: {', '.join(parts)} | greedy: the next job to the first free slot"
