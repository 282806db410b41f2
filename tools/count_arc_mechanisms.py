"""Count what each mechanism of `weft arc` earns, on recorded evidence without any search.

    python tools/count_arc_mechanisms.py EVIDENCE.jsonl.gz [MORE.jsonl.gz …] [--every N]

Takes the unmodified tasks from evidence recorded with all operators (`record_arc_evidence.py`),
leaves out the programs of one mechanism at a time (such as a rule that ends programs, or a view),
judges the rest and counts by halves. The search is not repeated, so whatever it would find in place
of a program left out does not count. For operators, it counts the tasks whose right programs all
use one, and lists those that no right program uses; for operators and rules over both sets, it
counts how many earn something, also on the other puzzles of all files. Writes
docs/benchmarks/arc-mechanisms.json.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fit_arc_confidence import candidates_of, verdict_of
from make_pseudo_puzzles import bases, first_names, puzzles_of

from weft.model.codec import from_json
from weft.searches.arc.assessment import Found, Standard
from weft.searches.arc.evidence import Evidence
from weft.searches.arc.fitted.registry import BY_NAME as RULES
from weft.searches.arc.normal.registry import BY_NAME as VIEWS
from weft.searches.arc.ops.registry import BY_NAME as OPERATORS
from weft.searches.arc.program import Program, parse
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.task import ArcTask
from weft.searches.arc.values import encode_grids
from weft.searches.arc.verdict import Outcome

REPORT = Path(__file__).parents[1] / "docs" / "benchmarks" / "arc-mechanisms.json"
EARNINGS = "earnings"
WORD = re.compile(r"[a-z][a-z0-9_]*")
Uses = Callable[[Program], bool]
Row = Mapping[str, Any]


def _ends_with(rule: str) -> Uses:
    return lambda program: program.fitted == rule


def _seen_through(view: str) -> Uses:
    return lambda program: program.view is not None and program.view.name == view


MECHANISMS: dict[str, Uses] = {
    "operators alone": lambda program: not program.fitted,
    **{f"rule `{name}`": _ends_with(name) for name in RULES},
    **{f"view `{name}`": _seen_through(name) for name in VIEWS},
    "all views": lambda program: program.view is not None,
    "black areas as objects": lambda program: (
        program.fitted == "objects" and bool(re.search("rooms|rectangles", program.parameters))
    ),
    "lists that read actions on objects": lambda program: (
        program.fitted in ("cells", "layered", "scanned")
        and bool(re.search(r"(objects|blobs|layers)\w*\.", program.parameters))
    ),
    "all learned rules (lists, choices, tables, parts)": lambda program: (
        program.fitted
        in (
            "cells",
            "canvas",
            "scanned",
            "layered",
            "choose",
            "objects",
            "each",
            "chart",
            "arrange",
            "extend_lines",
            "inlay",
            "overview",
            "cycle_colours",
            "key_block",
        )
    ),
}
"""By mechanism: whether a program belongs to it."""


def operators_of(program: Program) -> frozenset[str]:
    """Return the operators that a program uses, including those in a learned rule's words."""
    words = WORD.findall(program.parameters) if program.fitted else ()
    return frozenset((*program.names, *(word for word in words if word in OPERATORS)))


CONSTRUCTS: dict[str, tuple[int, Callable[[Program], frozenset[str]]]] = {
    "operators": (len(OPERATORS), operators_of),
    "rules that end programs": (
        len(RULES),
        lambda program: frozenset([program.fitted] if program.fitted else []),
    ),
}
"""By kind of construct: how many there are, and which of them a program uses."""


class Earnings:
    """Counts which operators and rules the right programs of puzzles use."""

    def __init__(self) -> None:
        self.needed: dict[str, list[Counter[str]]] = {
            kind: [Counter(), Counter()] for kind in CONSTRUCTS
        }
        self.used: dict[str, set[str]] = {kind: set() for kind in CONSTRUCTS}
        self.recorded: dict[str, set[str]] = {kind: set() for kind in CONSTRUCTS}

    def add(self, right: Sequence[Program], half: int, is_solved_task: bool) -> None:
        """Count the right programs of a puzzle; only a solved task can need something."""
        for kind, (_, uses) in CONSTRUCTS.items():
            own = [uses(program) for program in right]
            names = frozenset().union(*own)
            self.recorded[kind] |= names
            if is_solved_task:
                self.used[kind] |= names
                self.needed[kind][half].update(frozenset.intersection(*own))

    def report(self) -> dict[str, Any]:
        """Return by kind how many earn what, each name counted once, and the needed names."""
        return {kind: self._row(kind, number) for kind, (number, _) in CONSTRUCTS.items()}

    def _row(self, kind: str, number: int) -> dict[str, Any]:
        halves = self.needed[kind]
        needed = {name for half in halves for name in half}
        used = self.used[kind] - needed
        recorded = self.recorded[kind] - self.used[kind]
        by_name = {name: [half[name] for half in halves] for name in sorted(needed)}
        return {
            "number": number,
            "needed": len(needed),
            "needed_in_both_halves": sum(all(counts) for counts in by_name.values()),
            "used": len(used),
            "recorded": len(recorded),
            "nothing": number - len(needed) - len(used) - len(recorded),
            "tasks": by_name,
        }


class Counted:
    """Counts by mechanism left out and half."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Counter[str]]] = {}
        self.needed: Counter[str] = Counter()
        self.used: list[Counter[str]] = [Counter(), Counter()]
        self.steps: Counter[int] = Counter()
        self.solved: set[str] = set()

    def add(self, task: ArcTask, row: Row) -> None:
        """Judge a task with all programs, and without those of each mechanism."""
        half = int(task.digest, 16) % 2
        evidence = {parse(text): from_json(Evidence, own) for text, _, own in row["evidence"]}
        candidates = Found(*(candidates_of(row, part) for part in ("found", "guesses")))
        whole = self._judged(task, candidates, evidence)
        for name, uses in {"nothing": lambda _: False, **MECHANISMS}.items():
            rest = Found(*map(_without(uses), (candidates.candidates, candidates.guesses)))
            same = len(rest.candidates) == len(candidates.candidates)
            same = same and len(rest.guesses) == len(candidates.guesses)
            result = whole if same else self._judged(task, rest, evidence)
            self.rows.setdefault(name, [Counter(), Counter()])[half].update(result)
        if whole["pass@2"]:
            self.solved.add(task.name)
            self._operators(task, (*candidates.candidates, *candidates.guesses), half)

    def _judged(
        self, task: ArcTask, found: Found, evidence: dict[Program, Evidence]
    ) -> Counter[str]:
        verdict = verdict_of(task, found, Standard(), evidence)
        right = [group.outputs == task.truth for group in verdict.groups]
        is_answer = verdict.outcome is Outcome.SOLVED
        return Counter({
            "tasks": 1, "pass@1": any(right[:1]), "pass@2": any(right[:2]),
            "right": is_answer and right[0], "wrong": is_answer and not right[0],
        })  # fmt: skip

    def _operators(self, task: ArcTask, found: Sequence[ProgramCandidate], half: int) -> None:
        """Count the operators that the right programs of a task use."""
        truth = encode_grids(task.truth)
        own = [operators_of(each.program) for each in found if each.outputs == truth]
        self.needed.update(frozenset.intersection(*own))
        self.used[half].update(frozenset.union(*own))
        self.steps[min(map(len, own))] += 1

    def report(self) -> dict[str, Any]:
        """Return the published figures."""
        used = self.used[0] + self.used[1]
        return {
            "mechanisms": {
                name: [dict(half) for half in halves] for name, halves in self.rows.items()
            },
            "operators": len(OPERATORS),
            "operators_needed": dict(sorted(self.steps.items())),
            "needed_by_a_task": len(self.needed),
            "used_in_both_halves": sum(name in self.used[1] for name in self.used[0]),
            "used_by_no_task": sorted(name for name in OPERATORS if name not in used),
        }


def _without(uses: Uses) -> Callable[[Sequence[ProgramCandidate]], tuple[ProgramCandidate, ...]]:
    return lambda found: tuple(each for each in found if not uses(each.program))


def counted(evidence: Path, every: int, others: Sequence[Path] = ()) -> dict[str, Any]:
    """Count the tasks of ARC-AGI-1 and the new ones of ARC-AGI-2; for earnings, all puzzles."""
    puzzles = {p.name: p for base in bases()[::every] for p in puzzles_of(base)}
    sets = {"ARC-AGI-1 training": Counted(), "ARC-AGI-2 training, new": Counted()}
    with gzip.open(evidence, "rt", encoding="ascii") as lines:
        for row in map(json.loads, lines):
            task = puzzles.get(row["name"])
            if task is not None and row["name"].endswith("whole-0") and "error" not in row:
                is_first = row["name"].split("-")[0] in first_names()
                sets["ARC-AGI-1 training" if is_first else "ARC-AGI-2 training, new"].add(task, row)
    solved = sets["ARC-AGI-1 training"].solved | sets["ARC-AGI-2 training, new"].solved
    return {
        **{name: each.report() for name, each in sets.items()},
        EARNINGS: _earned((evidence, *others), puzzles, solved).report(),
    }


def _earned(evidence: Sequence[Path], puzzles: Mapping[str, ArcTask], solved: set[str]) -> Earnings:
    """Count earnings over all puzzles of all files; needs of solved tasks in the first alone."""
    earnings = Earnings()
    for file in evidence:
        with gzip.open(file, "rt", encoding="ascii") as lines:
            for row in map(json.loads, lines):
                puzzle = puzzles.get(row["name"])
                right = _right_programs(row, puzzle) if puzzle and "error" not in row else []
                if puzzle and right:
                    is_solved = file == evidence[0] and puzzle.name in solved
                    half = int(re.findall("-h([01])-", puzzle.name)[0])
                    earnings.add(right, half, is_solved)
    return earnings


def _right_programs(row: Row, puzzle: ArcTask) -> list[Program]:
    truth = encode_grids(puzzle.truth).hex()
    number = row["outputs"].index(truth) if truth in row["outputs"] else None
    return [parse(each[0]) for each in (*row["found"], *row["guesses"]) if each[2] == number]


def main() -> None:
    """Count, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("evidence", type=Path)
    parser.add_argument("others", type=Path, nargs="*", help="more puzzles, for what earns nothing")
    parser.add_argument("--every", type=int, default=1, help="take every Nth task only")
    parser.add_argument("--out", type=Path, default=REPORT)
    args = parser.parse_args()
    text = json.dumps(counted(args.evidence, args.every, args.others), indent=1) + "\n"
    args.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
