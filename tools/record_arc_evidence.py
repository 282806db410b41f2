"""Record what the search finds on puzzles with known outputs, to fit and try rules without it.

    python tools/record_arc_evidence.py EVIDENCE.jsonl.gz [--workers 16] [--seconds 170] [--every N]
    python tools/record_arc_evidence.py EVIDENCE.jsonl.gz --draw 1 [--dropped 50]

Writes one JSON line per puzzle (from `tools/make_pseudo_puzzles.py`): the programs found, the
evidence on those that compete, the CPU seconds of each part. Puzzles run in `--workers` processes,
the most important kinds first, until the time is up; unfinished ones are dropped. If no program,
choice or list may answer, layered lists are left out; with two training pairs, so are all lists
and two tables in sequence: they could only be guesses there.

The operators were designed on these tasks, so the right program is in the language more often than
elsewhere. With `--draw N` each puzzle is searched without some of the operators (`--dropped`
percent, chosen by hashes of N and the base's name): then the right program is missing as often as
on tasks that nobody designed for, and accidental fits are found where the search would find them.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from make_pseudo_puzzles import bases, puzzles_of

from weft.model.codec import to_json
from weft.searches.arc.assessment import examined, explanations, needed
from weft.searches.arc.data import load
from weft.searches.arc.normal.registry import is_coloured
from weft.searches.arc.ops.operator import Operator
from weft.searches.arc.ops.registry import REGISTRY
from weft.searches.arc.synthesis.budget import SearchBudget
from weft.searches.arc.synthesis.cache import ApplyCache
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.language import Language
from weft.searches.arc.synthesis.learnchoices import learn_choices
from weft.searches.arc.synthesis.learnlists import FEW_PAIRS, ListPart, learn_part
from weft.searches.arc.synthesis.learnsteps import learn_firsts, learn_seconds, step_parts
from weft.searches.arc.synthesis.learntables import joined, learn_input_tables
from weft.searches.arc.synthesis.phases import (
    Options,
    deep,
    parted,
    shallow,
    viewed,
    viewed_tables,
    with_tables,
)
from weft.searches.arc.synthesis.planner import AssembledSearch, ParallelPlanner, ShallowFacts
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.task import ArcTask
from weft.searches.arc.values import encode_grids

ORDER = ("1whole-0", "1pairs-0", "2whole-0", "left-0", "few-0", "pairs-1", "pairs-2", "left-1")
"""Kinds of puzzles, prefixed with the number of their bases' ARC-AGI set where that matters."""
Row = dict[str, Any]


class Recorder:
    """Searches puzzles part by part."""

    def __init__(self, operators: Sequence[Operator] = REGISTRY) -> None:
        language = Language(operators=operators)
        self.planner = ParallelPlanner(Options(language, SearchBudget()))
        self.cpu_s: dict[str, float] = {}

    def timed(self, part: str, call: Any, *words: Any) -> Any:
        """Call a function and add its CPU seconds to those of a part."""
        start_s = time.process_time()
        value = call(*words)
        self.cpu_s[part] = self.cpu_s.get(part, 0.0) + time.process_time() - start_s
        return value

    def record(self, puzzle: ArcTask) -> Row:
        """Search one puzzle; return its line."""
        self.cpu_s = {}
        planner, task = self.planner, puzzle.without_truth()
        is_whole = puzzle.name.endswith("whole-0")
        assembled, shallow_programs = self.searched(planner, task, is_whole)
        view = planner.ground(task, None, assembled.found)
        if view is not None:
            on_ground = planner.on_ground(is_coloured(task))
            grounded, _ = self.searched(on_ground, view.of(task), is_whole)
            assembled = assembled.beside(grounded, task, view)
        examinations = needed(assembled.found, planner.standard)
        evidence = [
            self.timed("examine", examined, task, planner.standard, each) for each in examinations
        ]
        candidates = [c.outputs for c in (*assembled.found.candidates, *assembled.found.guesses)]
        outputs = {output: n for n, output in enumerate(dict.fromkeys(candidates))}
        return {
            "name": puzzle.name,
            "cpu_s": {part: round(spent_s, 3) for part, spent_s in self.cpu_s.items()},
            "programs": [shallow_programs, assembled.programs],
            "outputs": [output.hex() for output in outputs],
            "found": [wire(c, outputs) for c in assembled.found.candidates],
            "guesses": [wire(c, outputs) for c in assembled.found.guesses],
            "evidence": [
                [each.program.text(), outputs[encode_grids(each.outputs)], to_json(own)]
                for each, own in zip(examinations, evidence, strict=True)
            ],
        }

    def searched(
        self, planner: ParallelPlanner, task: ArcTask, is_whole: bool
    ) -> tuple[AssembledSearch, int]:
        """Search a task as it is; also return how many programs the shallow phase tried."""
        options, cache, problem = planner.options, ApplyCache(), EncodedTask(task)
        first = self.timed("shallow", shallow, problem, options, cache, planner.owners())
        facts, sample = ShallowFacts.of(first), first.sample
        parts = planner.parts(facts)
        rest = [
            self.timed("slices", deep, problem, options, part, first.table, cache)
            for part in parts.slices
        ]
        views = [
            self.timed("views", viewed, task, options, view, number, cache)
            for number, view in enumerate(first.views[: parts.views])
        ]
        views = [
            with_tables(
                phase,
                [
                    self.timed("views", viewed_tables, task, view, part)
                    for part in range(planner.view_table_parts(view))
                ],
            )
            for phase, view in zip(views, first.views, strict=False)
        ]
        choices = [
            self.timed("choices", learn_choices, problem, sample, start, end)
            for start, end in parts.choices
        ]
        tables = [
            self.timed("tables", learn_input_tables, problem, part)
            for part in range(planner.table_parts)
        ]
        each = [self.timed("each", parted, task, options, way, cache) for way in parts.ways]
        lists: list[Any] = []

        def assembled() -> AssembledSearch:
            chosen = [*choices, joined(tables, sample.time), *each]
            learned = [result.candidates for result in lists]
            return planner.assemble(first, rest, views, chosen, learned)

        def explained() -> bool:
            return bool(explanations(assembled().found, planner.standard))

        def learn(part: ListPart) -> None:
            lists.append(self.timed(kind_of(part), learn_part, problem, sample, part))

        if is_whole or len(task.train) > FEW_PAIRS or explained():
            for part in parts.lists:
                learn(part)
            is_guessed = any(tables) or any(result.candidates for result in lists)
            if planner.has_steps(facts, is_guessed=is_guessed):
                tables += self.stepped(problem)
            beginnings = list(zip(parts.lists, [f.beginnings for f in lists], strict=True))
            for part in planner.late(facts, beginnings, any(f.is_validated for f in lists)):
                if not part.first or is_whole or explained():
                    learn(part)
        return self.timed("assemble", assembled), facts.programs

    def stepped(self, problem: EncodedTask) -> list[tuple[ProgramCandidate, ...]]:
        """Learn two tables in sequence, part by part."""
        firsts = self.timed("steps", learn_firsts, problem)
        return [self.timed("steps", learn_seconds, problem, part) for part in step_parts(firsts)]


def kind_of(part: ListPart) -> str:
    """Return the name under which a part of list learning is counted."""
    if part.first:
        return "layered"
    return "scanned" if part.corner or part.reads else "plain"


def wire(candidate: ProgramCandidate, outputs: dict[bytes, int]) -> list[Any]:
    """Return a program as a short list."""
    c = candidate
    return [c.program.text(), c.millibits, outputs[c.outputs], c.time, c.loo_passed]


@dataclass(frozen=True, slots=True)
class Draw:
    """The operators that a puzzle is searched without; number 0 keeps them all."""

    number: int
    percent: int

    def operators(self, base: str) -> list[Operator]:
        """Return the operators kept for the puzzles of a base, in their order."""
        return [each for each in REGISTRY if self.number == 0 or not self._is_dropped(base, each)]

    def _is_dropped(self, base: str, operator: Operator) -> bool:
        text = f"{self.number} {base} {operator.name}"
        return int(hashlib.sha256(text.encode()).hexdigest(), 16) % 100 < self.percent


def _row(asked: tuple[ArcTask, Draw, float]) -> Row | None:
    puzzle, draw, end_s = asked
    if time.perf_counter() > end_s:
        return None
    try:
        operators = draw.operators(puzzle.name.split("-")[0])
        return {"draw": draw.number, **Recorder(operators).record(puzzle)}
    except Exception as error:  # one puzzle must not end the recording
        return {"name": puzzle.name, "error": repr(error)}


def puzzles(every: int, kinds: Sequence[str]) -> Iterator[ArcTask]:
    """Generate the puzzles, by kind in the given order."""
    first = {task.name for task in load("arc-agi-1", "training").tasks}
    pairs = [
        (f"{1 if base.name in first else 2}{puzzle.name.split('-', 2)[2]}", puzzle)
        for base in bases()[::every]
        for puzzle in puzzles_of(base)
    ]
    for kind in kinds:
        yield from (puzzle for name, puzzle in pairs if name.endswith(kind))


def main() -> None:
    """Record until the time is up."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=170.0)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(ORDER))
    parser.add_argument("--draw", type=int, default=0)
    parser.add_argument("--dropped", type=int, default=50, help="operators of a hundred")
    args = parser.parse_args()
    draw = Draw(args.draw, args.dropped)
    start_s = time.perf_counter()
    selection = list(puzzles(args.every, args.kinds.split(",")))
    print(f"{len(selection)} puzzles made after {time.perf_counter() - start_s:.0f} s", flush=True)
    end_s = start_s + args.seconds
    count = 0
    pool = multiprocessing.get_context("fork").Pool(args.workers)
    with gzip.open(args.out, "wt", encoding="ascii") as file:
        rows = pool.imap_unordered(_row, ((puzzle, draw, end_s) for puzzle in selection))
        try:
            while True:
                row = rows.next(max(0.1, end_s + 5 - time.perf_counter()))
                if row is not None:
                    file.write(json.dumps(row) + "\n")
                    count += 1
        except (StopIteration, multiprocessing.TimeoutError):
            pass
    pool.terminate()
    print(f"{count} puzzles recorded after {time.perf_counter() - start_s:.0f} s", flush=True)


if __name__ == "__main__":
    main()
