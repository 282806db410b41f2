"""Summary of a pipeline run: artifacts, count and duration of each step, and the outcome.

Results come from the recorded tasks; only durations come from the manifest's timestamps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from weft.inspect.report.text import counted, duration
from weft.inspect.report.view import RunView, ViewedTask
from weft.model.codec import Table
from weft.model.values import Object
from weft.searches.prng.pipeline.steps import STEPS, TITLES

FINISH = "prng.pipeline.finish_step"
COUNTED = {
    "1": ("survivor", ""),
    "2.5": ("trial", ""),
    "3": ("survivor", " scored"),
    "4": ("parameter", ""),
    "5": ("trial", " of models"),
    "6": ("stream", " predicted"),
}
"""What the count of each step refers to: a noun, and the text that follows it."""


@dataclass(frozen=True, slots=True)
class StepSummary:
    """One step of a run; `count` is None unless this run has done it."""

    step: str
    count: int | None
    seconds: float
    tasks: int
    artifacts: Mapping[str, Object]
    earlier: bool = False
    """Whether it was done by the run from which this one started."""

    @property
    def done(self) -> bool:
        """Whether this run has finished the step."""
        return self.count is not None

    def line(self, sign: str, cross: str) -> str:
        """Format the step as one line."""
        mark = sign if self.done or self.earlier else cross
        noun, rest = COUNTED[self.step]
        words = counted(self.count, noun) + rest if self.count is not None else "not done"
        if self.earlier:
            words = "from the earlier run"
        took = duration(self.seconds) if self.tasks else ""
        return f"{self.step:4}{TITLES[self.step]:26}{mark}  {words:28}{took}".rstrip()

    def to_dict(self) -> Table:
        """Return the form that `--json` prints."""
        return {
            "step": self.step,
            "title": TITLES[self.step],
            "done": self.done or self.earlier,
            "count": self.count,
            "seconds": round(self.seconds, 3),
            "tasks": self.tasks,
            "artifacts": {name: item.digest for name, item in sorted(self.artifacts.items())},
        }


def steps_of(run: RunView) -> list[StepSummary]:
    """Return the summaries of all six steps, in order, including those not yet done."""
    start = run.genesis()["config"]["args"]["start"]["step"]
    first = STEPS.index(start)
    groups: list[list[ViewedTask]] = [[]]
    for task in sorted(run.tasks(), key=lambda task: task.round):
        groups[-1].append(task)
        if task.function == FINISH and task.state == "completed":
            groups.append([])
    before = [StepSummary(step, None, 0.0, 0, {}, earlier=True) for step in STEPS[:first]]
    groups += [[] for _ in STEPS]
    return before + [_step(step, group) for step, group in zip(STEPS[first:], groups, strict=False)]


def _step(step: str, tasks: list[ViewedTask]) -> StepSummary:
    ends = [task.finished_at for task in tasks if task.finished_at is not None]
    starts = [task.started_at for task in tasks if task.started_at is not None]
    seconds = max(ends) - min(starts) if ends and starts else 0.0
    last = tasks[-1] if tasks else None
    if last is None or last.function != FINISH or last.value is None:
        return StepSummary(step, None, max(0.0, seconds), len(tasks), {})
    value = last.value
    return StepSummary(step, value["count"], max(0.0, seconds), len(tasks), value["artifacts"])


def artifacts_of(run: RunView) -> dict[str, Object]:
    """Return all artifacts of a run by name, including its inputs."""
    artifacts = {name: Object(digest) for name, digest in run.genesis()["inputs"].items()}
    for step in steps_of(run):
        artifacts |= step.artifacts
    return artifacts


def end_line(run: RunView) -> str:
    """Describe in one line how the run ended."""
    answer = run.answer()
    if answer is None:
        return "PAUSED  not all steps are done"
    if answer["status"] == "unknown":
        reason, detail = answer["reason"], answer["detail"]
        why = detail.get("why", "") if isinstance(detail, Mapping) else str(detail)
        return f"FAILED  {reason}: {why}"
    value = answer["value"]
    names = ", ".join(stream["stream"] or "all draws" for stream in value["streams"])
    return f"PASSED  signal: {value['why']}; predicted: {names or 'no stream continues'}"


def lines(run: RunView, sign: str = "ok", cross: str = "--") -> list[str]:
    """Return the summary: a line for each step, and the end."""
    return [*(step.line(sign, cross) for step in steps_of(run)), end_line(run)]
