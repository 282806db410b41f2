"""The progress of a run from its manifest: the same numbers as the run's own display shows.

Reads no clock: the current time is a parameter, or that of the latest row.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.model.pace import Pace, Sample, pace_of, time_left
from weft.model.plan import Best, Number, Plan, expected_tasks
from weft.runs.progress import Progress
from weft.storage.manifest import Manifest

BINS = 200
"""Number of spans into which a session is divided to estimate its pace."""


def read_progress(
    manifest: Manifest, *, counts: dict[str, int], starts: Sequence[float | None], workers: int,
    state: str, now_s: float | None,
) -> Progress:  # fmt: skip
    """Return the progress of a run; with speed and time left only while it is running.

    `counts` has the number of tasks by state, `starts` the start times of the running ones.
    """
    plans = {lane: Plan.from_text(text) for lane, text in manifest.plans().items()}
    plan = plans.get("", Plan())
    ended, tasks = _ended(manifest), _tasks(manifest)
    finished, total = counts["completed"] + counts["failed"], expected_tasks(plans, tasks, ended)
    is_running, is_whole = state == "running", plan.total is not None or state == "finished"
    pace = _pace(manifest, now_s) if is_running else None
    now_s = now_s if now_s is not None else _latest(manifest)
    ages_s = [max(0.0, now_s - start_s) for start_s in starts if start_s is not None]
    remaining = time_left(pace, total - finished, ages_s, workers, is_whole=is_whole)
    return Progress(
        finished=finished,
        total=total,
        is_whole=is_whole,
        failed=counts["failed"],
        running=len(starts),
        rate_per_s=None if pace is None else pace.rate_per_s,
        left=remaining if is_running else None,
        best=_best(manifest, plan),
        lanes=_lanes(manifest),
        lanes_ended=len([lane for lane in ended if lane]),
        outcomes=_outcomes(manifest, plan.tally),
        plan=plan,
    )


def _tasks(manifest: Manifest) -> dict[str, int]:
    """Return the number of tasks in each lane's rounds; for closed rounds, of those recorded."""
    rows = manifest.query(
        "SELECT l.path, sum(CASE WHEN r.closed THEN r.recorded ELSE coalesce(r.size, r.recorded)"
        " END) FROM rounds r JOIN lanes l ON l.id = r.lane WHERE r.kind = 'tasks' GROUP BY l.path"
    )
    return dict(rows)


def _ended(manifest: Manifest) -> set[str]:
    return {path for (path,) in manifest.query("SELECT path FROM lanes WHERE answer IS NOT NULL")}


def _lanes(manifest: Manifest) -> int:
    count: int = manifest.query("SELECT count(*) FROM lanes WHERE parent IS NOT NULL")[0][0]
    return count


def _outcomes(manifest: Manifest, key: str | None) -> dict[str, int]:
    if key is None:
        return {}
    place = f'$.value."{key}"'
    rows = manifest.query(
        "SELECT json_extract(answer, ?), count(*) FROM lanes WHERE parent IS NOT NULL"
        " AND answer IS NOT NULL AND json_type(answer, ?) = 'text' GROUP BY 1 ORDER BY 1",
        place,
        place,
    )
    return dict(rows)


def _best(manifest: Manifest, plan: Plan) -> Number | None:
    if plan.best is None:
        return None
    best = Best(plan)
    for function, value in manifest.completed():
        best.offer(function, value)
    return best.value


def _pace(manifest: Manifest, now_s: float | None) -> Pace | None:
    start_s, end_s = _session_start(manifest), _latest(manifest)
    if start_s is None:
        return None
    step_s = max(1e-6, (end_s - start_s) / BINS)
    samples = [Sample(start_s, 0, 0.0)]
    for finished, busy_s, longest_s, at_s in manifest.query(
        "SELECT count(*), total(run_s), max(run_s), max(finished_at) FROM tasks"
        " WHERE finished_at > ? GROUP BY CAST((finished_at - ?) / ? AS INTEGER) ORDER BY 4",
        start_s,
        start_s,
        step_s,
    ):
        before = samples[-1]
        samples.append(
            Sample(at_s, before.finished + finished, before.busy_s + busy_s, longest_s or 0.0)
        )
    return pace_of(samples, end_s if now_s is None else max(now_s, end_s))


def _session_start(manifest: Manifest) -> float | None:
    """Return when the first task of the current session was started."""
    pause_s: float = manifest.query(
        "SELECT max(coalesce((SELECT max(at) FROM events WHERE kind = 'interrupted'), 0),"
        " coalesce((SELECT max(finished_at) FROM attempts WHERE reason = 'coordinator-died'), 0))"
    )[0][0]
    start: float | None = manifest.query(
        "SELECT min(started_at) FROM tasks WHERE started_at > ?", pause_s
    )[0][0]
    return start


def _latest(manifest: Manifest) -> float:
    latest: float = manifest.query(
        "SELECT max(coalesce(max(started_at), 0), coalesce(max(finished_at), 0)) FROM tasks"
    )[0][0]
    return latest
