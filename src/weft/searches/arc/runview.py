"""From a run's records to the model that is drawn: outcome, answers, and every step run again.

Programs are recorded, not their steps; running them again with the slow operators gives the same
grids. A program that this version cannot run is shown without its steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from weft.errors import WeftError
from weft.searches.arc.program import VIEW_UNDONE, Program, parse
from weft.searches.arc.reasons import doubts, weighed
from weft.searches.arc.recorded import Recorded
from weft.searches.arc.records import AnswerRecord, GroupRecord, NearestRecord, Rows
from weft.searches.arc.task import ArcTask
from weft.searches.arc.values import Grid
from weft.searches.arc.views.model import AnswerView, Shown, StepView, TaskView
from weft.searches.arc.views.picture import shown

FAILS = "fails"
MAX_TESTS = 3
"""Number of tests whose steps are shown, besides the first training pair."""


def view_of(item: Recorded, truth: tuple[Grid, ...] = ()) -> TaskView:
    """Return a task of a run with its results, and its true outputs if they are known."""
    task, answer = item.task, item.answer
    base = TaskView.of(task)
    if answer is None:
        return TaskView(base.name, base.digest, base.pairs, base.tests, note="no outcome yet")
    outcome, _, reason = answer["outcome"].partition("/")
    answers = [_answer(task, group) for group in _shown(answer)]
    return TaskView(
        base.name, base.digest, base.pairs, base.tests, outcome, reason,
        _note(answer), tuple(answers), None if answers else _nearest(task, answer["nearest"]),
        truth, _confidence(answer), (answer["failure"] or {"class": ""})["class"],
    )  # fmt: skip


def _confidence(answer: AnswerRecord) -> int | None:
    """Return the confidence in the first group; None if another group was weighed."""
    place = (answer.get("weighing") or {}).get("place", 0)
    return None if place else answer.get("confidence_permille")


def _shown(answer: AnswerRecord) -> Sequence[GroupRecord]:
    """Return the groups to show: for a solved task, the answer and its examined competitors."""
    groups = answer["groups"]
    if answer["outcome"] != "SOLVED":
        return groups
    return [groups[0], *(group for group in groups[1:] if group.get("evidence"))]


def _note(answer: AnswerRecord) -> str:
    """Return why there is no answer, and what decided, as text."""
    failure = answer["failure"]
    why = "" if failure is None else f"{failure['class']}: {failure['why']}"
    return "; ".join(part for part in (why, weighed(answer.get("weighing"))) if part)


def view_of_program(task: ArcTask, program: Program) -> AnswerView:
    """Return a program with the values of its steps on a task's inputs."""
    text = program.text()
    outputs = [program.run(grid) for grid in task.test]
    whole = tuple(grid for grid in outputs if grid is not None)
    return AnswerView(
        tuple(text.splitlines()), program.millibits(), whole if len(whole) == len(outputs) else (),
        1, _steps(task, program), _input_names(task),
    )  # fmt: skip


def to_dict(view: TaskView) -> dict[str, object]:
    """Return the JSON form of a task as shown; grids are rows."""
    body: dict[str, object] = {
        "name": view.name,
        "digest": view.digest,
        "train": [{"input": p.input.rows(), "output": p.output.rows()} for p in view.pairs],
        "test": [{"input": grid.rows()} for grid in view.tests],
    }
    if view.truth:
        body["truth"] = [grid.rows() for grid in view.truth]
    if not view.outcome:
        return body
    return {
        **body,
        "outcome": f"{view.outcome}/{view.reason}" if view.reason else view.outcome,
        "note": view.note,
        "answers": [_answer_to_dict(answer) for answer in view.answers],
        "nearest": None if view.nearest is None else _answer_to_dict(view.nearest),
    }


def _answer_to_dict(answer: AnswerView) -> dict[str, object]:
    return {
        "program": list(answer.program),
        "millibits": answer.bits,
        "programs": answer.programs,
        "doubts": answer.doubts,
        "outputs": [grid.rows() for grid in answer.outputs],
        "inputs": list(answer.inputs),
        "steps": [
            {"line": step.line, "values": [_plain(value) for value in step.values]}
            for step in answer.steps
        ],
    }


def _plain(value: Shown) -> Rows | str:
    return value.rows() if isinstance(value, Grid) else value


def _answer(task: ArcTask, group: GroupRecord) -> AnswerView:
    text = group["programs"][0]
    outputs = tuple(Grid.of(rows) for rows in group["outputs"])
    program = _parsed(text)
    steps = () if program is None else _steps(task, program)
    return AnswerView(
        tuple(text.splitlines()), group["millibits"], outputs, group["size"], steps,
        _input_names(task) if steps else (), doubts(group.get("evidence")),
    )  # fmt: skip


def _nearest(task: ArcTask, nearest: NearestRecord | None) -> AnswerView | None:
    program = None if nearest is None else _parsed(nearest["program"])
    return None if program is None else view_of_program(task, program)


def _parsed(text: str) -> Program | None:
    try:
        return parse(text)
    except WeftError:  # of another version, or tampered with: `weft arc check` reports it
        return None


def _steps(task: ArcTask, program: Program) -> tuple[StepView, ...]:
    columns = [_values(program, grid) for grid in _inputs(task)]
    rows = zip_longest(*columns, fillvalue="")
    views = () if program.view is None else program.view.layers()
    lines = [view.text() for view in views] + program.step_lines().splitlines()
    lines += [VIEW_UNDONE] if views else []
    return tuple(StepView(line, tuple(values)) for line, values in zip(lines, rows, strict=False))


def _values(program: Program, given: Grid) -> list[Shown]:
    return [
        FAILS if value is None else shown(stage, value, given)
        for _, stage, value in program.steps(given)
    ]


def _inputs(task: ArcTask) -> Sequence[Grid]:
    return (task.train[0].input, *task.test[:MAX_TESTS])


def _input_names(task: ArcTask) -> tuple[str, ...]:
    return ("train 1", *(f"test {i + 1}" for i in range(len(task.test[:MAX_TESTS]))))
