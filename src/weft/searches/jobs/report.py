"""The report's page of a jobs run: times, timeline per node and slot, distribution, job table."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from weft.console.nodeplan import NodePlan
from weft.inspect.report.hook import Page
from weft.inspect.report.svg import element, table
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
NAMED_SHARE = 3.0
"""Percent of the timeline from which on a bar has its job's name in it."""


def lines(run: RunView) -> list[str]:
    """Return the lines that a jobs run adds to its status and to its summary."""
    jobs = jobs_of(run)
    times = times_of(jobs, nodes_of(run), run.paused_s())
    return [_count(jobs), *([] if times is None else times.lines())]


def _count(jobs: Sequence[ViewedJob]) -> str:
    done, failed = (sum(j.status == state for j in jobs) for state in ("completed", "failed"))
    return f"{done} of {counted(len(jobs), 'job')} completed" + f", {failed} failed" * bool(failed)


def pages(run: RunView) -> list[Page]:
    """Make the page of a jobs run."""
    jobs, nodes = jobs_of(run), nodes_of(run)
    placement = str(run.execution().get("placement", "greedy"))
    plans = distribution(jobs, nodes)
    body = [_timeline(slot_times(jobs)), _distribution(plans, placement), _jobs(jobs)]
    return [Page("Jobs", Markup("").join(body), order=1)]


def _timeline(slots: Sequence[SlotTime]) -> Markup:
    """One row per slot, on one clock: what it ran when, and how busy it was."""
    if not slots:
        return element("p", "No job has finished yet.", class_="quiet")
    spans = [job for slot in slots for job in slot.jobs]
    start = min(job.started_at or 0.0 for job in spans)
    length = max(job.finished_at or 0.0 for job in spans) - start or 1.0
    rows = [_lane(slot, start, length) for slot in slots[:MAX_SLOTS]]
    ticks = [element("span", duration(length * i / 4)) for i in range(5)]
    head = f"Timeline per node and slot ({some(len(rows), len(slots), 'slot')})"
    axis = element("div", *ticks, class_="axis")
    note = element(
        "p", "A bar is a job. Busy counts from a slot's first job to its last.", class_="quiet"
    )
    return element("h3", head) + note + element("div", *rows, axis, class_="timeline")


def _lane(slot: SlotTime, start: float, length: float) -> Markup:
    """One slot's jobs as bars with their names; a name that has no room is in the bar's tip."""
    stat = f"{counted(len(slot.jobs), 'job')}, busy {percent(slot.busy_share)}"
    names = ", ".join(job.job_id for job in slot.jobs[:MAX_NAMED])
    picture = element(
        "svg", *(_bar(job, start, length) for job in slot.jobs), role="img", class_="named",
        aria_label=f"{slot.slot}: {stat}: {names}",
    )  # fmt: skip
    label = element("span", slot.slot, class_="label")
    return element("div", label, picture, element("span", stat, class_="stat"), class_="lane")


def _bar(job: ViewedJob, start: float, length: float) -> Markup:
    """A bar in percent of the timeline; an inner drawing cuts off a name that is too long."""
    begin, end = job.started_at or start, job.finished_at or start
    share = max(0.15, 100 * (end - begin) / length - 0.15)
    tip = f"{job.job_id}: {job.why() or job.status}, {duration(job.seconds)}"
    kind = "broken" if job.status == "failed" else "worked"
    parts = [element("rect", element("title", tip), width="100%", height="100%", class_=kind)]
    if share >= NAMED_SHARE:
        parts.append(element("text", job.job_id, x=5, y=14))
    x = f"{100 * (begin - start) / length:.3f}%"
    return element("svg", *parts, x=x, width=f"{share:.3f}%", height="100%")


def _distribution(plans: Sequence[NodePlan], placement: str) -> Markup:
    heads, rows = ["node", "workers", "kind", "jobs", "jobs per slot"], []
    for plan in plans:
        spread = ", ".join(f"{index}: {count}" for index, count in plan.distribution.items())
        rows.append([plan.node, str(plan.workers), plan.kind, str(plan.jobs), spread])
    return element("h3", f"Distribution ({placement} placement)") + table(heads, rows)


def _jobs(jobs: Sequence[ViewedJob]) -> Markup:
    """Failed jobs first when not all fit, else in the order of the file."""
    shown = list(jobs)
    if len(jobs) > MAX_ROWS:
        shown = sorted(jobs, key=lambda job: job.status != "failed")[:MAX_ROWS]
    rows = [_row(job) for job in shown]
    heads = ["job", "status", "slot", "seconds", "result", "bytes", "SHA-256 or error"]
    return element("h3", f"Jobs ({some(len(rows), len(jobs), 'job')})") + table(heads, rows)


def _row(job: ViewedJob) -> list[str]:
    seconds = "" if job.seconds is None else f"{job.seconds:.2f}"
    size = "" if job.size_bytes is None else f"{job.size_bytes:,}"
    last: str = job.why() or (element("code", (job.digest or "")[:12]) if job.digest else "")
    status = element("span", job.status, class_=f"state {job.status}")
    return [job.job_id, status, job.slot or "", seconds, job.source or "", size, last]
