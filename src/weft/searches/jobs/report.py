"""Report page of a jobs run: timeline per node and slot, distribution, job table."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from weft.console.nodeplan import NodePlan
from weft.inspect.report.hook import Page
from weft.inspect.report.lanes import SlotBar, SlotLane, draw_lanes
from weft.inspect.report.svg import colour_key, element, table
from weft.inspect.report.text import counted, duration, percent, some
from weft.inspect.report.view import RunView
from weft.searches.jobs.view import (
    SlotTime,
    ViewedJob,
    distribution,
    jobs_of,
    nodes_of,
    slot_times,
    times_of,
)

MAX_SLOTS = 128
MAX_ROWS = 500
MAX_NAMED = 20


def lines(run: RunView) -> list[str]:
    """Return the lines that a jobs run adds to its status and to its summary."""
    jobs = jobs_of(run)
    times = times_of(jobs, nodes_of(run), run.paused_s())
    return [_count(jobs), *([] if times is None else times.lines())]


def _count(jobs: Sequence[ViewedJob]) -> str:
    completed, failed = (sum(j.status == state for j in jobs) for state in ("completed", "failed"))
    return f"{completed} of {counted(len(jobs), 'job')} completed" + (
        f", {failed} failed" * bool(failed)
    )


def pages(run: RunView) -> list[Page]:
    """Return the page of a jobs run."""
    jobs, nodes = jobs_of(run), nodes_of(run)
    placement = str(run.execution().get("placement", "greedy"))
    plans = distribution(jobs, nodes)
    body = [_timeline(slot_times(jobs)), _distribution(plans, placement), _jobs(jobs)]
    return [Page("Jobs", Markup("").join(body), order=1)]


def _timeline(slots: Sequence[SlotTime]) -> Markup:
    """Draw one row per slot on a common time axis, with its jobs and its utilisation."""
    if not slots:
        return element("p", "No job has finished yet.", class_="quiet")
    lanes = [_lane(slot) for slot in slots[:MAX_SLOTS]]
    head = f"Timeline per node and slot ({some(len(lanes), len(slots), 'slot')})"
    note = "A bar is a job. Busy counts from a slot's first job to its last."
    key = colour_key({"completed": "completed", "failed": "failed"})
    return element("h3", head) + element("p", note, key, class_="quiet") + draw_lanes(lanes)


def _lane(slot: SlotTime) -> SlotLane:
    """Return one slot's jobs as named bars; the full name is in each bar's tooltip."""
    stat = f"{counted(len(slot.jobs), 'job')}, busy {percent(slot.busy_share)}"
    names = ", ".join(job.job_id for job in slot.jobs[:MAX_NAMED])
    return SlotLane(
        slot.slot, stat, [_bar(job) for job in slot.jobs], f"{slot.slot}: {stat}: {names}"
    )


def _bar(job: ViewedJob) -> SlotBar:
    tip = f"{job.job_id}: {job.why() or job.status}, {duration(job.seconds)}"
    kind = "broken" if job.status == "failed" else "worked"
    return SlotBar(job.started_at or 0.0, job.finished_at or 0.0, tip, kind, job.job_id)


def _distribution(plans: Sequence[NodePlan], placement: str) -> Markup:
    heads, rows = ["node", "workers", "kind", "jobs", "jobs per slot"], []
    for plan in plans:
        kind = plan.kind.lower()
        slots = plan.distribution.items()
        spread = ", ".join(f"{kind}{index} {count}" for index, count in slots)
        rows.append([plan.node, str(plan.workers), plan.kind, str(plan.jobs), spread])
    return element("h3", f"Distribution ({placement} placement)") + table(heads, rows)


def _jobs(jobs: Sequence[ViewedJob]) -> Markup:
    """List jobs in the order of the file, or failed ones first if not all fit."""
    listed = list(jobs)
    if len(jobs) > MAX_ROWS:
        listed = sorted(jobs, key=lambda job: job.status != "failed")[:MAX_ROWS]
    rows = [_row(job) for job in listed]
    heads = ["job", "status", "slot", "seconds", "result", "bytes", "SHA-256 or error"]
    return element("h3", f"Jobs ({some(len(rows), len(jobs), 'job')})") + table(heads, rows)


def _row(job: ViewedJob) -> list[str]:
    seconds = "" if job.seconds is None else f"{job.seconds:.2f}"
    size = "" if job.size_bytes is None else f"{job.size_bytes:,}"
    last: str = job.why() or (element("code", (job.digest or "")[:12]) if job.digest else "")
    status = element("span", job.status, class_=f"state {job.status}")
    return [job.job_id, status, job.slot or "", seconds, job.source or "", size, last]
