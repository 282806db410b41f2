"""`python -m campaigns.mutation`: what is mutated, which tests reach it, and how it is reported."""

from __future__ import annotations

import json
import socket
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

from campaigns.mutation import figures
from campaigns.mutation.channel import (
    KILLED,
    SURVIVED,
    TIMED_OUT,
    Channel,
    NotStartedError,
    Progress,
)
from campaigns.mutation.exchange import Functions
from campaigns.mutation.mutant import Mutant
from campaigns.mutation.operators import OPERATORS, mutants_of
from campaigns.mutation.page import page_of
from campaigns.mutation.reach import Part, Reach, by_unit, outdated
from campaigns.mutation.runner import Verdict, shares_of, within
from campaigns.mutation.units import units_of

SOURCE = textwrap.dedent('''\
    """A docstring."""
    __all__ = ["f"]
    LIMIT = 3
    Kind = int | str | None
    Word = Literal["a"]
    T = TypeVar("T")
    from weft.errors import ValueInvalid
    def invalid(text) -> ValueInvalid:
        return ValueInvalid("no " + text)

    @decorated(frozen=True)
    def f(a: int | None, b=True):
        """Another."""
        assert a != 7
        if a < LIMIT and not b:
            raise ValueError(f"no {a}" + "text")
        while True:
            g(
                a
            )
            break
        d.x = -a
        n = [i for i in d if i in a]
        n += 2 if a == b else 3
        del n[0]
        if a:
            return False
        return f"key {a}"
''')
PATH = "src/weft/model/few.py"
FEW = """import functools
@functools.cache
def f(): return 1
class C:
    def g(self):
        return [x + 1 for x in (1,)]
"""


def changes(text: str) -> set[str]:
    return {str(mutant).partition(" ")[2] for mutant in mutants_of(PATH, text)}


def test_every_operator_changes_what_it_names_and_nothing_that_is_left_alone() -> None:
    assert changes(SOURCE) == {
        "number: 3 -> (4)", "boolean: True -> (False)",
        "comparison: a < LIMIT -> (a <= LIMIT)", "logic: not b -> (b)",
        "logic: a < LIMIT and not b -> (a < LIMIT or not b)",
        "condition: a < LIMIT and not b -> (not (a < LIMIT and (not b)))",
        'statement: raise ValueError(f"no {a}" + "text") -> pass',
        "statement: g( a ) -> pass", "jump: break -> continue",
        "statement: d.x = -a -> pass", "arithmetic: -a -> (a)",
        "comparison: i in a -> (i not in a)", "comparison: a == b -> (a != b)",
        "arithmetic: n += 2 if a == b else 3 -> n -= 2 if a == b else 3",
        'return: return ValueInvalid("no " + text) -> return None',
        "condition: a -> (not a)", "boolean: False -> (True)", "number: 2 -> (3)",
        "number: 0 -> (1)", "statement: del n[0] -> pass",
        'return: return f"key {a}" -> return None', "text: f\"key {a}\" -> (f'XXkey {a}')",
    }  # fmt: skip
    assert {mutant.operator for mutant in mutants_of(PATH, SOURCE)} == set(OPERATORS)


def test_mutant_keeps_every_line_where_it_was() -> None:
    for mutant in mutants_of(PATH, SOURCE):
        changed = mutant.apply(SOURCE)
        assert changed.count("\n") == SOURCE.count("\n"), mutant
        assert changed != SOURCE


def the(operator: str, text: str = SOURCE) -> Mutant:
    return next(mutant for mutant in mutants_of(PATH, text) if mutant.operator == operator)


def part(**tests: float) -> Part:
    lines = {PATH: {"15": [0, 1, 2], "18": [0], "3": [-1], "12": [-1]}}
    measured = {"tests": list(tests), "seconds": list(tests.values()), "failed": [], "lines": lines}
    return {**measured, "lines": by_unit(measured, {PATH: units_of(SOURCE)})}


def reach(text: str = SOURCE, **tests: float) -> Reach:
    measured = Reach()
    measured.add(part(**tests), {PATH: units_of(text)})
    return measured


def test_mutant_meets_tests_that_reach_its_statement_fastest_and_best_first() -> None:
    measured = reach(slow=5.0, quick=0.1, good=1.0)
    condition = the("condition")
    assert measured.tests_of(condition) == ["quick", "good", "slow"]
    assert within(measured.tests_of(condition), measured, 2.0) == ["quick", "good"]
    assert within(["slow"], measured, 2.0) == ["slow"], "one at least"
    measured.note_killer(PATH, "good")
    assert measured.tests_of(condition) == ["good", "quick", "slow"]
    assert measured.tests_of(the("statement", SOURCE.replace("raise ", "x.y = "))) == []
    measured.failed.add("quick")
    assert measured.tests_of(condition) == ["good", "slow"]


def test_lines_of_a_moved_function_are_known_and_of_a_changed_one_all_of_it() -> None:
    moved = SOURCE.replace("LIMIT = 3", "MORE = 4\nLIMIT = 3")
    assert reach(moved, slow=5.0, quick=0.1, good=1.0).tests_of(the("jump", moved)) == []
    changed = SOURCE.replace("d.x = -a", "d.x = -b")
    measured = reach(changed, slow=5.0, quick=0.1, good=1.0)
    assert measured.tests_of(the("jump", changed)) == ["quick", "good", "slow"]
    assert the("jump", moved).name == the("jump").name != the("jump", changed).name


def test_function_that_was_never_measured_meets_the_tests_of_its_file() -> None:
    more = SOURCE + "def g(a):\n    del a\n"
    [added] = [m for m in mutants_of(PATH, more) if m.function == "g"]
    assert reach(more, slow=5.0, quick=0.1, good=1.0).tests_of(added) == ["quick", "good", "slow"]


def test_tests_of_changed_functions_are_measured_again_where_a_source_file_is_new() -> None:
    parts = {"tests/model/test_few.py": part(slow=5.0, quick=0.1, good=1.0)}
    changed = units_of(SOURCE.replace("d.x = -a", "d.x = g(a)"))
    new = {"src/weft/model/new.py": units_of("def g(a):\n    return -a\n")}
    assert outdated(parts, {PATH: changed}) == set()
    assert outdated(parts, {PATH: units_of(SOURCE), **new}) == set()
    assert outdated(parts, {PATH: changed, **new}) == {"tests/model/test_few.py"}


def test_mutant_at_import_meets_its_own_tests_and_the_best_files_first() -> None:
    own, best, other = "tests/model/test_few.py::a", "tests/runs/test_b.py::b", "tests/x.py::c"
    chosen = [best, *[f"tests/runs/test_b.py::{n}" for n in range(9)], other, own]
    first, rest = shares_of(the("number"), chosen)
    assert rest == [other]
    assert first == [name for name in chosen if name != other]


def test_mutant_of_what_is_imported_meets_all_tests_of_its_file_in_a_new_process() -> None:
    measured = reach(slow=5.0, quick=0.1, good=1.0)
    number = the("number")
    assert not measured.in_process(number)
    assert measured.in_process(the("condition"))
    assert measured.tests_of(number) == ["quick", "good", "slow"]


def test_mutant_of_a_file_of_constants_meets_the_tests_of_its_package() -> None:
    measured = reach(slow=5.0, quick=0.1, good=1.0)
    [constant] = mutants_of("src/weft/model/limits.py", "LIMIT = 3\n")
    assert measured.tests_of(constant) == ["quick", "good", "slow"]
    [other] = mutants_of("src/weft/ledger/limits.py", "LIMIT = 3\n")
    assert measured.tests_of(other) == []


@pytest.fixture
def module(tmp_path: Path) -> ModuleType:
    path = tmp_path / "few.py"
    path.write_text(FEW)
    made = ModuleType("tests.few")
    exec(compile(path.read_text(), str(path), "exec"), made.__dict__)
    made.__file__ = str(path)
    return made


def test_code_is_exchanged_in_functions_that_exist(module: ModuleType) -> None:
    path, bound, functions = Path(str(module.__file__)), module.C().g, Functions()
    assert (module.f(), bound()) == (1, [2])
    path.write_text(path.read_text().replace("return 1", "return 7").replace("x + 1", "x - 1"))
    functions.exchange(path)
    assert (module.f(), bound()) == (7, [0])


def followed(*answers: dict[str, object]) -> tuple[str, str]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"".join(json.dumps(answer).encode() + b"\n" for answer in answers))
        theirs.shutdown(socket.SHUT_WR)
        return Progress().follow(Channel(ours), {"t": 0.0})


def test_outcome_is_what_the_answers_say(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [{"pid": 7}, {"ready": True}, {"begins": "t"}]
    assert followed(*answers, {"survived": 1}) == (SURVIVED, "")
    assert followed(*answers, {"failed": "t"}) == (KILLED, "t")
    assert followed(*answers, {"status": 9}) == (KILLED, "t (its process ended)")
    with pytest.raises(NotStartedError):
        followed({"pid": 7}, {"status": 1})
    monkeypatch.setattr("campaigns.mutation.channel.MORE_S", 0.01)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"".join(json.dumps(answer).encode() + b"\n" for answer in answers))
        progress = Progress()
        assert progress.follow(Channel(ours), {"t": 0.0}) == (TIMED_OUT, "t")
    assert progress.is_late
    assert progress.pid == 7


def test_figures_count_outcomes_of_functions_as_they_are(tmp_path: Path) -> None:
    mutants = mutants_of(PATH, SOURCE)
    first_file, other = tmp_path / "kept.jsonl", tmp_path / "other.jsonl"
    verdicts = [Verdict(SURVIVED), Verdict(TIMED_OUT, "t"), *[Verdict(KILLED, "t")] * len(mutants)]
    records = [figures.record_of(m, v, 60.0) for m, v in zip(mutants, verdicts, strict=False)]
    first_file.write_text("".join(json.dumps(record) + "\n" for record in records[:3]))
    older = the("jump", SOURCE.replace("d.x = -a", "d.x = -b"))
    other.write_text(json.dumps(figures.record_of(older, verdicts[0], 1.0)) + "\n")
    loaded = figures.load_records([first_file, other])
    body = figures.figures_of(mutants, loaded, tests=2)
    assert (body["changes"], body["tried"], body["noticed"]) == (len(mutants), 3, 2)
    assert body["outcomes"] == {KILLED: 1, SURVIVED: 1, TIMED_OUT: 1}
    assert body["missed"] == [{"mutant": str(mutants[0]).removeprefix("src/weft/"), "why": ""}]
    body |= {"date": "d", "commit": "c", "budget_s": 9, "machine": "2 cores"}
    page = page_of(body)
    assert (
        f"d, c: 3 of {len(mutants)} mutants tried on the current code, 2 noticed: **66.7 %**"
        in page
    )
    assert "66.7 % without the 0 survivors that need no test." in page
    assert "| model | 3 | 66.7 % |" in page
    assert body["missed"][0]["mutant"] in page.partition("Without an explanation:")[2]
    assert body["packages"] == {"model": [3, 2]}
    assert body["cpu_minutes"] == 3.0
    assert figures.table(body).splitlines()[-2].split() == ["all", "3", "66.7%"]


def test_explanations_name_files_that_are_there_and_a_reason() -> None:
    root = Path(__file__).parents[1]
    for reason in figures.explanations():
        assert (root / "src/weft" / reason.file).is_file()
        assert reason.why


def test_explanation_of_a_change_that_is_no_more_is_named() -> None:
    fits = figures.Explanation("model/few.py", "f", "w", "jump")
    idle = figures.Explanation("model/few.py", "gone", "w", "jump")
    elsewhere = figures.Explanation("model/other.py", "f", "w")
    mutants = mutants_of(PATH, SOURCE)
    assert figures.idle_of(mutants, [fits, idle, elsewhere]) == ["model/few.py gone jump"]


def test_explanation_is_of_one_function_and_of_the_changes_that_it_names() -> None:
    jump, number = the("jump"), the("number")
    assert figures.Explanation("model/few.py", "f", "w").is_of(jump)
    assert not figures.Explanation("model/few.py", "", "w").is_of(jump)
    assert not figures.Explanation("model/few.py", "f", "w", "text").is_of(jump)
    assert not figures.Explanation("model/few.py", "f", "w", before="x").is_of(jump)
    assert figures.Explanation("model/few.py", "", "w", "number", "3").is_of(number)
