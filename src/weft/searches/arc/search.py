"""`weft arc solve` on the engine: one lane per puzzle, the parts of its search as tasks.

    solve ── lane <puzzle digest> ──► shallow, in parallel with tables over the input's objects
               ──► plain lists, choices; slices, views and the first of two tables, if it found
                   nothing
               ──► lists that scan, read more or come in layers, if neither a program nor a list
                   qualifies as an answer; the second of two tables, if nothing fits yet
               ──► assemble
               in parallel the same on a black background, if the shallow phase found nothing and
               the background has another colour; joined, if the other parts found nothing either
               ──► the same without one of the training pairs, for each, if nothing fits them all
               ──► examine the programs that compete ──► conclude

The generator only runs the parts; `planner` decides which ones are needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weft import INPUTS, search
from weft.model.codec import Table, from_json, to_json
from weft.model.plan import Plan
from weft.model.results import Result
from weft.model.tasks import SearchBody, TaskCall, Unknown, make_lanes
from weft.model.values import Object, Value
from weft.searches.arc.normal.registry import FittedView
from weft.searches.arc.records import SEARCH, AnswerRecord, AssembledRecord, ShallowRecord
from weft.searches.arc.synthesis.learnlists import Beginning, ListPart
from weft.searches.arc.synthesis.learnsteps import StepPart, step_parts
from weft.searches.arc.synthesis.planner import ShallowFacts
from weft.searches.arc.tasks import (
    assemble,
    conclude,
    guess,
    join,
    omit,
    on_ground,
    on_omission,
    planner_of,
    run_choices,
    run_each,
    run_examine,
    run_firsts,
    run_lists,
    run_shallow,
    run_slice,
    run_steps,
    run_tables,
    run_view,
    run_view_tables,
)

Learned = list[tuple[ListPart, Result]]
"""Parts of list learning with their results."""


@search(name="arc.solve_one", version=20)
def solve_one(puzzle: Object, options: Table) -> SearchBody:
    """Search one puzzle; the answer is its verdict with the evidence."""
    assembled: AssembledRecord
    [shallow, *tables] = yield [run_shallow(puzzle, options), *_tables(puzzle, options)]
    first: ShallowRecord = shallow.value
    bodies = [_continued(puzzle, options, first, tables)]
    if first["ground"] is not None:  # first, as its shallow phase is the round's longest task
        ground_options = on_ground(options, first["is_coloured"])
        bodies.insert(0, _searched(first["ground"], ground_options, first["ground_ways"]))
    *beside, (assembled, is_complete) = yield from _in_step(bodies)
    if beside and not assembled["is_explained"]:
        [(grounded, ground_is_complete)] = beside
        is_complete = is_complete and ground_is_complete
        [joined] = yield [join(puzzle, options, assembled, grounded)]
        assembled = joined.value
    if assembled["is_empty"]:
        assembled, others_are_complete = yield from _guessed(puzzle, options, assembled)
        is_complete = is_complete and others_are_complete
    candidates, count = assembled["found"], assembled["examinations"]
    examined: Sequence[Result] = ()
    if count:
        examined = yield [
            run_examine(puzzle, options, candidates, number) for number in range(count)
        ]
    evidence = [result.value if result.ok else None for result in examined]
    [end] = yield [conclude(puzzle, options, assembled, evidence, not is_complete)]
    return end.value


def _searched(puzzle: Object, options: Table, ways: Sequence[str]) -> SearchBody:
    """Run all parts of one puzzle's search; return them assembled, and whether none failed.

    Programs for parts of a grid run in parallel with the shallow phase, as they take as long.
    """
    groups = [
        [run_shallow(puzzle, options)],
        _tables(puzzle, options),
        [run_each(puzzle, options, way) for way in ways],
    ]
    [shallow], tables, parted = _divided((yield _together(groups)), groups)
    return (yield from _continued(puzzle, options, shallow.value, tables, parted))


def _guessed(puzzle: Object, options: Table, assembled: AssembledRecord) -> SearchBody:
    """Search the puzzle without one of its training pairs, for each; return the guesses added.

    The second value states whether no part failed.
    """
    [omitted] = yield [omit(puzzle, options, assembled)]
    if not omitted.value:
        return assembled, True
    brief = on_omission(options)
    searched = yield from _in_step(
        [_searched(each["puzzle"], brief, ways=()) for each in omitted.value]
    )
    others = [other for other, _ in searched]
    [guessed] = yield [guess(puzzle, options, assembled, omitted.value, others)]
    return guessed.value, all(is_complete for _, is_complete in searched)


def _tables(puzzle: Object, options: Table) -> list[TaskCall]:
    """Return the calls that learn tables over the input's objects.

    They do not depend on the shallow phase, and take as long as it does.
    """
    return [run_tables(puzzle, part) for part in range(planner_of(options).table_parts)]


def _continued(
    puzzle: Object,
    options: Table,
    first: ShallowRecord,
    tables: Sequence[Result],
    parted: Sequence[Result] | None = None,
) -> SearchBody:
    """Run the parts that follow a shallow phase; return them assembled, and whether none failed.

    `tables` and `parted` (programs for parts of a grid) are results from the round of that phase.
    """
    planner, facts = planner_of(options), from_json(ShallowFacts, first["facts"])
    parts, sample = planner.parts(facts), first["sample"]
    views = first["views"][: parts.views]
    counts = [planner.view_table_parts(FittedView(*view)) for view in views]
    may_step = planner.has_steps(facts, is_guessed=_is_found(tables))
    groups: list[list[TaskCall]] = [
        [run_firsts(puzzle)] if may_step else [],
        [
            *(run_choices(puzzle, sample, start, end) for start, end in parts.choices),
            *(run_each(puzzle, options, way) for way in parts.ways if parted is None),
        ],
        [run_view(puzzle, options, view, number) for number, view in enumerate(views)],
        *(
            [run_view_tables(puzzle, view, part) for part in range(count)]
            for view, count in zip(views, counts, strict=True)
        ),
        [run_lists(puzzle, sample, to_json(part)) for part in parts.lists],
        [run_slice(puzzle, options, to_json(part), first["table"]) for part in parts.slices],
    ]  # the longest first
    results: Sequence[Result] = (yield _together(groups)) if any(groups) else ()
    firsts, chosen, by_view, *view_tables, plain, deep = _divided(results, groups)
    if parted and parts.ways:
        chosen = [*chosen, *parted]
    learned: Learned = list(zip(parts.lists, plain, strict=True))
    late = planner.late(facts, _beginnings(learned), _is_validated(learned))
    steps = [] if _is_found(plain) else _steps(firsts)
    groups = [
        [run_steps(puzzle, to_json(part)) for part in steps],
        [run_lists(puzzle, sample, to_json(part)) for part in late],
    ]  # the longest first
    results = (yield _together(groups)) if any(groups) else ()
    stepped, late_lists = _divided(results, groups)
    lists, tables = [*plain, *late_lists], [*tables, *stepped]
    is_complete = all(
        result.ok
        for part in (firsts, deep, by_view, *view_tables, tables, chosen, lists)
        for result in part
    )
    beside = [_values(own) for own, view in zip(view_tables, by_view, strict=True) if view.ok]
    [together] = yield [
        assemble(
            options, first, _values(deep), _values(by_view), beside, _values(tables),
            _values(chosen), _values(lists),
        )
    ]  # fmt: skip
    return together.value, is_complete


def _in_step(bodies: Sequence[SearchBody]) -> SearchBody:
    """Run searches in parallel, merging their rounds; return the value of each."""
    answers: dict[int, Any] = {}
    received: dict[int, Any] = dict.fromkeys(range(len(bodies)))
    while len(answers) < len(bodies):
        requests: dict[int, Sequence[TaskCall]] = {}
        for number, results in received.items():
            try:
                requests[number] = bodies[number].send(results)
            except StopIteration as end:
                answers[number] = end.value
        if requests:
            groups = list(requests.values())
            together = yield _together(groups)
            received = dict(zip(requests, _divided(together, groups), strict=True))
    return [answers[number] for number in range(len(bodies))]


def _is_found(results: Sequence[Result]) -> bool:
    """Whether any part of rule learning found a program."""
    return any(part["found"] is not None for part in _values(results))


def _steps(firsts: Sequence[Result]) -> list[StepPart]:
    """Return the parts that learn second tables after the first ones."""
    return [part for texts in _values(firsts) for part in step_parts(texts)]


def _is_validated(learned: Learned) -> bool:
    """Whether a list qualifies as an answer."""
    return any(part["is_validated"] for part in _values([result for _, result in learned]))


def _beginnings(learned: Learned) -> Iterator[tuple[ListPart, list[Beginning]]]:
    for part, result in learned:
        if result.ok:
            yield part, [from_json(Beginning, raw) for raw in result.value["beginnings"]]


def _together(groups: Sequence[Sequence[TaskCall]]) -> list[TaskCall]:
    return [call for group in groups for call in group]


def _divided(
    results: Sequence[Result], groups: Sequence[Sequence[TaskCall]]
) -> Iterator[Sequence[Result]]:
    """Yield a round's results, group by group."""
    at = 0
    for group in groups:
        yield results[at : at + len(group)]
        at += len(group)


def _values(results: Sequence[Result]) -> list[Any]:
    """Return the values of the results that did not fail."""
    return [result.value for result in results if result.ok]


@search(name=SEARCH, version=20)
def solve(tasks: list[str], options: Table, *, inputs: Mapping[str, Object] = INPUTS) -> SearchBody:
    """Search every puzzle in a separate lane, named by the puzzle's digest.

    The answer counts outcomes; each lane's answer has the programs and grids.
    """
    yield Plan(lanes="puzzles", tally="outcome")
    answers = yield make_lanes({d: solve_one(inputs[d], options) for d in tasks})
    outcomes = [_outcome(answer) for answer in answers]
    counts: dict[str, Value] = {name: outcomes.count(name) for name in sorted(set(outcomes))}
    if counts.get("SOLVED", 0) == 0:
        return Unknown("unsolved", counts)
    return counts


def _outcome(answer: AnswerRecord | Unknown) -> str:
    return "UNKNOWN/incomplete" if isinstance(answer, Unknown) else answer["outcome"]
