"""`python -m campaigns`: every case is tried once, counted, and shown with its row."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, replace
from pathlib import Path

import pytest

import weft
from campaigns import __main__ as campaign
from campaigns.__main__ import (
    chosen,
    commit_of,
    folder_name,
    main,
    matching,
    parsed,
    untried,
)
from campaigns.bugs import BUGS, CONTROL, PREFIX, Bug
from campaigns.case import passed_tests, run_test
from campaigns.collect import (
    NUMBERED,
    ROOT,
    Case,
    files_of,
    list_tests,
    order_of,
    planted_cases,
)
from campaigns.machines import kinds_of
from campaigns.measured import measured_rows
from campaigns.output import TAIL, tail_of
from campaigns.page import (
    EndedCase,
    Tally,
    last_of,
    listed_cases,
    page_of,
    tally,
    tally_of,
    write_page,
)
from campaigns.planting import copy_checkout, has_failed, make_environment, plant
from campaigns.rows import EVERY_CALL, ROWS, case_name, is_planted, parts_of, row_of
from campaigns.search import OPTIONAL, VARIABLES, faults, run_case
from tests.support.figures import Part

CONFTEST = """
def pytest_addoption(parser): parser.addoption("--chaos", action="store_true")
"""
TESTS = """
import json, os, pytest
def note(**figures):
    with open(os.environ["WEFT_FIGURES"], "a") as file: file.write(json.dumps(figures) + "\\n")
    with open("tried", "a") as file: file.write("x")
@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2])
def test_divided(number): note(campaign="F1 x", points=3, seconds=1.5, seed=7, violations=0)
def test_fails(): note(campaign="F9", violations=2, kills=4); assert False, "a result was lost"
def test_skips(): pytest.skip("no such tool")
"""
INI = "[pytest]\nmarkers = slow\naddopts = -p no:cacheprovider\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with a few tests."""
    folder = tmp_path_factory.mktemp("project")
    for name, text in (("conftest.py", CONFTEST), ("test_few.py", TESTS), ("pytest.ini", INI)):
        (folder / name).write_text(text)
    return folder


def case(test: str, row: str = "F1", part: int = 1, parts: int = 1) -> Case:
    return Case(row, f"test_few.py::{test}", part, parts)


PASSED = {"outcome": "passed", "figures": [], "said": ""}
CASES = [
    case("test_divided", part=1, parts=2), case("test_divided", part=2, parts=2),
    case("test_fails", "F9"), case("test_skips", "F13"),
]  # fmt: skip


@pytest.fixture(scope="module")
def run(project: Path) -> weft.Run:
    call = faults(
        root=str(project), commit="c", cases=[known_case.to_dict() for known_case in CASES]
    )
    return weft.run(call, out=project / "run", workers=2, progress=False, quiet=True)


def test_cases_are_tried_once_and_counted(project: Path, run: weft.Run) -> None:
    assert run.answer == {"commit": "c", "failed": 1, "passed": 2, "skipped": 1}
    assert (project / "tried").read_text() == "x" * 5
    call = faults(
        root=str(project), commit="c", cases=[known_case.to_dict() for known_case in CASES]
    )
    second = weft.run(call, out=project / "run", progress=False)
    assert second.head == run.head
    assert (project / "tried").read_text() == "x" * 5


def test_variables_that_are_named_reach_the_cases() -> None:
    case = CASES[0].to_dict()
    assert run_case("root", case).args["env_from"] == list(VARIABLES)
    assert run_case("root", case, ["PATH", *OPTIONAL]).args["env_from"] == ["PATH", *OPTIONAL]


def test_page_has_a_line_for_every_row_and_names_what_did_not_pass(
    run: weft.Run, tmp_path: Path
) -> None:
    tallies = tally([run])
    assert (tallies["F1"].tried["points"], tallies["F1"].violations) == (12, 0)
    assert (tallies["F9"].tried["kills"], tallies["F9"].violations) == (4, 2)
    assert tallies["F13"].ended == {"skipped": 1}
    text = write_page(tmp_path, [(run, "2 cores")]).read_text()
    assert "- c: 2 cores" in text
    assert "| F1 | SIGKILL of the coordinator" in text
    assert "| 2 passed | 12 points | 0 |" in text
    row = next(line for line in text.splitlines() if line.startswith("| F1 |"))
    assert row.split(" | ")[-2] == "c"
    assert "| F2 | a second SIGKILL at every system call of the recovery | not run |" in text
    assert "- `test_few.py::test_fails (1/1): failed`" in text
    assert "- `test_few.py::test_skips (1/1): skipped`" in text
    cases = json.loads((tmp_path / "faults.json").read_text())["cases"]
    assert sorted(entry["case"]["row"] for entry in cases) == ["F1", "F1", "F13", "F9"]
    assert write_page(tmp_path, []).read_text() == text, "what was published stays"


def test_row_whose_cases_were_not_kept_stays_until_it_is_tried_again(
    run: weft.Run, tmp_path: Path
) -> None:
    old = Tally("F2", cases=3, ended={"passed": 3}, tried={"points": 7}, commits=["b"],
                noticed=[("campaigns/bugs.py::x", 1.0, "a")])  # fmt: skip
    rows = {"F1": asdict(replace(old, row="F1")), "F2": asdict(old)}
    where = "- a: 1 core\n- b: 4 cores\n- e: forgotten"
    (tmp_path / "faults.json").write_text(json.dumps({"rows": rows, "where": where}))
    for runs in ([(run, "2 cores")], []):
        lines = write_page(tmp_path, runs).read_text().splitlines()
        assert [line for line in lines if line.startswith("- ")][:3] == [
            "- a: 1 core", "- b: 4 cores", "- c: 2 cores",
        ]  # fmt: skip
        assert any(line.startswith("| F2 |") and "3 passed | 7 points" in line for line in lines)
        assert any(line.startswith("| F1 |") and "2 passed | 12 points" in line for line in lines)
        assert sum(line.endswith("| 1 | a |") for line in lines) == 2, "planted bugs stay"


def test_campaign_on_a_search_has_a_row_of_its_own() -> None:
    rows = [replace(ended(f"t.py::test_x[{name}]"), seconds=60.0) for name in ("jobs", "shuttle")]
    rows = [replace(e, case={**e.case, "row": "F3"}) for e in rows]
    page = page_of(tally_of(rows), "", {})
    assert "| F3 jobs | the same on `weft jobs` | 1 passed |  | 0 | 1.0 | c |" in page
    assert page.index("| F3 jobs |") < page.index("| F4 |")


def test_case_that_was_tried_again_counts_as_it_ended_last(run: weft.Run, project: Path) -> None:
    call = faults(root=str(project), commit="d", cases=[CASES[0].to_dict()])
    later = weft.run(call, out=project / "later", workers=1, progress=False, quiet=True)
    tallies = tally([later, run])
    assert tallies["F1"].tried["points"] == 12
    assert tallies["F1"].commits == ["c", "d"]
    page = main(["--from", str(project), "--pages", str(project)])
    assert page == 1, "test_fails did not pass"


def test_case_that_passed_is_not_tried_again_if_only_untried_ones_are_asked_for(
    run: weft.Run, tmp_path: Path
) -> None:
    assert untried(CASES, tmp_path) == CASES
    write_page(tmp_path, [(run, "")])
    assert untried(CASES, tmp_path) == CASES[2:]


def test_test_that_is_divided_in_another_way_counts_as_it_is_divided_now(run: weft.Run) -> None:
    now, later = (
        EndedCase(CASES[0].to_dict(), PASSED, 1, "c", 1),
        case("test_divided", part=3, parts=5),
    )
    retried = EndedCase(later.to_dict(), PASSED, 1, "c", 2)
    assert last_of([retried, now]) == [retried]


def test_parameters_of_a_test_are_dealt_out_to_its_cases(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "test_few.py::test_divided"
    monkeypatch.setattr("campaigns.case.is_shared", lambda test: test == name)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(project)
    for number, passed in ((1, 1), (2, 1), (3, 0)):
        folder = tmp_path / str(number)
        folder.mkdir()
        value = run_test(name, f"{number}/3", folder)
        counted = [figures["tests"] for figures in value["figures"] if "tests" in figures]
        assert counted == [passed] * passed


def test_tests_of_a_case_without_figures_are_counted(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = shutil.copytree(project, tmp_path / "copy")
    (copy / "test_silent.py").write_text("def test_silent(): pass\n")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(copy)
    value = run_test("test_silent.py::test_silent", "1/1", tmp_path)
    assert [figures["tests"] for figures in value["figures"]] == [1]


def test_files_without_a_repository_have_a_digest(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("x = 1\n")
    first = commit_of(tmp_path)
    assert first.startswith("files-")
    (tmp_path / "src" / "a.py").write_text("x = 2\n")
    assert commit_of(tmp_path) != first


def test_campaign_that_is_cut_writes_its_page_too(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign, "collect", lambda _: [case("test_divided")])
    monkeypatch.setattr(campaign, "ROOT", project)
    monkeypatch.setattr(campaign, "RUNS", tmp_path / "runs")
    assert main(["--pages", str(tmp_path), "--minutes", "0.001"]) == 130
    assert "| F1 |" in (tmp_path / "faults.md").read_text()


def test_runs_that_a_case_left_below_its_campaign_are_not_read(run: weft.Run) -> None:
    leftover = run.out / "attempts" / "some" / "run"
    leftover.mkdir(parents=True)
    (leftover / "run.toml").write_text("damaged")
    assert run.out in [run_found.out for run_found, _ in campaign.runs_below([run.out.parent])]
    shutil.rmtree(run.out / "attempts")


def test_failed_case_keeps_what_it_said(run: weft.Run) -> None:
    message = run.results()[2].value["said"]
    assert "a result was lost" in message
    for place in (str(run.out.parent), sys.prefix, tempfile.gettempdir()):
        assert place not in message, "nothing of this machine is published"


def test_output_is_kept_without_places_of_the_machine(tmp_path: Path) -> None:
    root, home = tmp_path / "checkout", Path.home()
    text = f"{root}/tests/a.py:3: {sys.prefix}/lib/b.py {home}/c {tmp_path}/d\n/usr/bin/e /proc/1"
    assert tail_of("x" * TAIL + text, root).endswith("/d\n/usr/bin/e /proc/1")
    tail = tail_of(text, root)
    assert tail.startswith("tests/a.py:3: PYTHON/lib/b.py ~/c TMP/")
    assert len(tail_of("x" * 2 * TAIL, root)) == TAIL


def test_machines_are_one_line_for_each_kind() -> None:
    lines = [f"- c{load}: 2 cores, load {load} before, Python 3.11.7, {sync} µs a disk sync"
             for load, sync in (("13.8", 7958), ("1.5", 282))]  # fmt: skip
    lines += ["- d: 16 cores, load 0.7 before, Python 3.12.3, 161 µs a disk sync", "- e: a laptop"]
    assert kinds_of(lines).splitlines() == [
        "- 16 cores, Python 3.12.3: one run; load before 0.7, 161 µs a disk sync",
        "- 2 cores, Python 3.11.7: 2 runs; load before 1.5 to 13.8, 282 to 7,958 µs a disk sync",
        "- e: a laptop",
    ]


def test_case_sees_the_gpus_that_its_slot_hides(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clusters in tests have GPUs, which Ray refuses if none is visible."""
    copy = shutil.copytree(project, tmp_path / "copy")
    assertion = "assert 'CUDA_VISIBLE_DEVICES' not in os.environ"
    (copy / "test_gpus.py").write_text(f"import os\n\ndef test_gpus():\n    {assertion}\n")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.chdir(copy)
    assert run_test("test_gpus.py::test_gpus", "1/1", tmp_path)["outcome"] == "passed"


def ended(test: str, outcome: str = "passed") -> EndedCase:
    case = {"test": test, "part": 1, "parts": 1}
    return EndedCase(case, {"outcome": outcome, "figures": []}, 3.0, "c", 0.0)


def test_planted_bug_that_is_noticed_is_listed(run: weft.Run) -> None:
    tallies = tally([run])
    test = next(name for row in ROWS for name in row.planted if "::" in name)
    tallies["F1"].add(ended(test))
    name = test.rpartition("::")[2][5:].replace("_", " ")
    assert f"| F1 | {name} | 3 | c |" in page_of(tallies, "", {})


def test_bug_of_the_source_is_listed_and_is_no_case_of_its_row(run: weft.Run) -> None:
    tallies, bug = tally([run]), BUGS[0]
    before = tallies["F1"].cases
    tallies["F1"].add(ended(bug.case))
    tallies["F1"].add(ended(BUGS[1].case, "failed"))
    page = page_of(tallies, "", {})
    assert f"| F1 | {bug.what} | 3 | c |" in page
    assert f"- `{BUGS[1].case} (1/1): failed`" in page
    assert tallies["F1"].cases == before


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_planted_bug_changes_one_place_and_names_a_test_of_its_row(bug: Bug) -> None:
    assert (ROOT / bug.path).read_text("utf-8").count(bug.old) == 1
    assert bug.old != bug.new
    path, _, test = bug.test.partition("::")
    assert f"def {test.partition('[')[0]}(" in (ROOT / path).read_text("utf-8")
    assert row_of(bug.test) == bug.row
    assert row_of(bug.case) == bug.row
    assert is_planted(bug.case)


def test_rows_are_collected_from_their_own_files() -> None:
    assert files_of(["F24", "F28"]) == [
        "tests/faults/test_stopped_coordinator.py", "tests/faults/test_two_machines.py",
    ]  # fmt: skip
    assert files_of(["F24", "arc"]) == files_of([]) == []


def test_every_row_has_a_planted_bug() -> None:
    assert [case.test for case in planted_cases()][-1] == PREFIX + CONTROL
    assert folder_name(parsed(["--bugs"]), []) == "bugs-1-of-1"
    assert {bug.row for bug in BUGS} == {row.name for row in ROWS if row.tests}
    assert all(row.tests or row.planted for row in ROWS)
    assert len({bug.name for bug in BUGS} | {CONTROL}) == len(BUGS) + 1


PLANTED = Bug("F1", "wrong", "", "src/weft/__init__.py", "RIGHT", "WRONG", "tests/test_it.py")
SMALL = {"src/weft/__init__.py": "word = 'RIGHT'\n", "README.md": "x"}


def small_checkout(folder: Path) -> Path:
    for name in ("benchmarks", "campaigns", "docs", "examples", "tests", "tools", "build"):
        (folder / name).mkdir(parents=True)
    for name, text in SMALL.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_planted_bug_is_what_python_imports_in_the_copy(tmp_path: Path) -> None:
    copy = copy_checkout(small_checkout(tmp_path / "small"), tmp_path / "copy")
    assert (copy / "README.md").exists()
    assert not (copy / "build").exists()
    plant(PLANTED, copy)
    python = make_environment(copy, tmp_path / "environment")
    words = [python, "-c", "import weft, pytest; print(weft.word)"]
    plain = {"PYTHONPATH": "/nowhere"}
    result = subprocess.run(words, check=True, capture_output=True, text=True, env=plain)
    assert result.stdout == "WRONG\n"
    with pytest.raises(ValueError, match="must be there once"):
        plant(PLANTED, copy)


def test_rows_that_are_measured_elsewhere_have_their_figures(tmp_path: Path) -> None:
    assert measured_rows(tmp_path) == {}
    write_large_run(tmp_path, peak_mib=300, verify_s=60)
    assert measured_rows(tmp_path)["F21"].endswith("| 1.5 | |")
    names = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (("init", "-q"), ("add", "big.json"), (*names, "commit", "-qm", "figures")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    assert re.search(r"\| [0-9a-f]{12} \| \d{4}-\d\d-\d\d$", measured_rows(tmp_path)["F21"])
    write_mutation(tmp_path, noticed=91)
    planted = {"F21": Tally("F21", cases=1, ended={"passed": 1})}
    page = page_of(planted, "", measured_rows(tmp_path))
    large = "1,000,000 tasks, peak 300 MiB, verify 60 CPU s | 0 | 1.5 |"
    assert f"| [big](big.md) | {large}" in page
    assert (
        "| [mutation](mutation.md) | 100 of 900 changes, 91 noticed (91.0 %) | 0 | 2.0 | c | d |"
        in page
    )


def write_large_run(folder: Path, *, peak_mib: float, verify_s: float) -> None:
    costs = {"run": {"seconds": 60, "cpu_s": 9, "peak_mib": peak_mib},
             "verify": {"seconds": 30, "cpu_s": verify_s, "peak_mib": 20}}  # fmt: skip
    (folder / "big.json").write_text(json.dumps({"1000000": {"commands": costs}}))


def write_mutation(folder: Path, *, noticed: int) -> None:
    sample = {"changes": 900, "tried": 100, "noticed": noticed, "cpu_minutes": 2, "commit": "c",
              "date": "d", "tests": 7}  # fmt: skip
    (folder / "mutation.json").write_text(json.dumps(sample))


def test_repeated_runs_of_the_tests_are_shown_by_commit(tmp_path: Path) -> None:
    run = {"commit": "c", "what": "make tests", "date": "2026-01-02", "load": 0, "exit": 0,
           "tests": 1200, "failed": [], "minutes": 13.5, "load_average": 0.1}  # fmt: skip
    loaded = {**run, "load": 4, "exit": 2, "failed": ["tests.a::test_b"], "minutes": 29.9}
    assert "Flakiness" not in write_page(tmp_path, []).read_text()
    (tmp_path / "flakiness.json").write_text(json.dumps([run, loaded, {**run, "commit": "d"}]))
    text = write_page(tmp_path, []).read_text()
    cells = "1,200: make tests | 2 | 1 | 0 | 0.1 | 13.5 to 29.9 | `tests.a::test_b` (1) | c"
    assert f"| {cells} | 2026-01-02 |" in text
    assert "| 1,200: make tests | 1 | 0 | 1 | 0.1 | 13.5 | none | d | 2026-01-02 |" in text
    assert "3 runs, the last 1 passed in a row, 0 of those beside a load." in text
    elsewhere = {**run, "load_average": None}
    (tmp_path / "flakiness.json").write_text(json.dumps([elsewhere]))
    assert "| 1 | 0 | 1 | not recorded | 13.5 |" in write_page(tmp_path, []).read_text()
    (tmp_path / "flakiness.json").write_text(json.dumps([{**run, "what": "tests/a.py"}]))
    assert "The whole of `make test` has not been repeated" in write_page(tmp_path, []).read_text()


def test_many_failed_tests_of_one_commit_are_counted_not_named(tmp_path: Path) -> None:
    run = {"commit": "c", "what": "make tests", "date": "2026-01-02", "load": 0, "exit": 1,
           "tests": 1200, "failed": ["t::a", "t::b", "t::c"], "minutes": 13.5,
           "load_average": 0.1}  # fmt: skip
    (tmp_path / "flakiness.json").write_text(json.dumps([run]))
    assert "| `t::a` (1), `t::b` (1), `t::c` (1) |" in write_page(tmp_path, []).read_text()
    other = {**run, "failed": ["t::d"]}
    (tmp_path / "flakiness.json").write_text(json.dumps([run, other, {**run, "failed": []}]))
    text = write_page(tmp_path, []).read_text()
    assert "| 4 tests, named in `flakiness.json`, 1 ended early |" in text


def test_runs_in_a_row_are_counted_in_the_order_in_which_they_began(tmp_path: Path) -> None:
    run = {"commit": "c", "what": "make tests", "date": "2026-01-02", "load": 0, "exit": 0,
           "tests": 1200, "failed": [], "minutes": 13.5, "load_average": 0.1}  # fmt: skip
    began = [f"2026-01-02T0{hour}:00:00" for hour in range(4)]
    runs = [{**run, "began": at, "load": 4 * (at == began[3])} for at in began]
    runs[1] |= {"exit": 1, "failed": ["tests.a::test_b"]}
    (tmp_path / "flakiness.json").write_text(json.dumps([runs[n] for n in (2, 3, 0, 1)]))
    text = write_page(tmp_path, []).read_text()
    assert "4 runs, the last 2 passed in a row, 1 of those beside a load." in text


def test_row_that_was_cut_says_how_far_it_got(run: weft.Run, tmp_path: Path) -> None:
    planted = Case("F1", PREFIX + "x", 1, 1)
    listed = listed_cases([*CASES, case("test_divided", part=3, parts=3), planted])
    assert listed == {"F1": 3, "F9": 1, "F13": 1}
    text = write_page(tmp_path, [(run, "")], listed).read_text()
    assert "| 2 passed of 3 | 12 points | 0 |" in text
    assert "| 1 failed | 4 kills | 2 |" in text
    assert write_page(tmp_path, []).read_text() == text


def test_million_tasks_with_a_memory_that_grows_or_a_slow_verify_is_noticed(
    tmp_path: Path,
) -> None:
    for peak_mib, verify_s, violations in ((300, 60, 0), (301, 60, 1), (301, 61, 2)):
        write_large_run(tmp_path, peak_mib=peak_mib, verify_s=verify_s)
        assert f"CPU s | {violations} |" in measured_rows(tmp_path)["F21"]


def test_tests_that_notice_too_few_changes_are_noticed(tmp_path: Path) -> None:
    for noticed, violations in ((90, 0), (89, 1)):
        write_mutation(tmp_path, noticed=noticed)
        assert f".0 %) | {violations} |" in measured_rows(tmp_path)["F22"]


def test_tests_of_a_checkout_are_listed_without_parameters(project: Path) -> None:
    assert sorted(list_tests(project)) == [
        ("test_few.py::test_divided", True),
        ("test_few.py::test_fails", False),
        ("test_few.py::test_skips", False),
    ]


def test_rows_name_tests_that_are_there() -> None:
    for row in ROWS:
        for name in (*row.tests, *row.planted, *row.parts, *row.shared):
            path, _, test = name.partition("::")
            assert f"def {test}" in (ROOT / path).read_text("utf-8"), name
        assert set(row.parts) <= {test for test in row.tests if "::" in test} | {
            name for name in row.parts if name.partition("::")[0] in row.tests
        }


def test_test_has_one_row_or_that_of_its_area() -> None:
    assert row_of("tests/workers/test_clock.py::test_x") == "F12"
    assert row_of("tests/searches/prng/test_x.py::test_x") == "prng"
    assert row_of("tests/test_release.py::test_x") == "test_release"
    assert order_of("F2") < order_of("F10") < order_of("arc")
    assert NUMBERED[0] == "F1"
    assert parts_of("tests/workers/test_clock.py::test_x") == 1
    assert parts_of(f"{EVERY_CALL}[shuttle]") < parts_of(f"{EVERY_CALL}[tree]")
    assert is_planted("tests/faults/test_checker.py::test_x")
    assert case_name("tests/workers/test_clock.py::test_x") == "tests/workers/test_clock.py::test_x"
    assert row_of(PREFIX + CONTROL) == "bugs"


def test_file_whose_tests_share_what_takes_long_is_one_case() -> None:
    assert case_name("tests/ray/test_faults.py::test_x") == "tests/ray/test_faults.py"
    assert row_of("tests/ray/test_faults.py") == "F29"
    assert all(set(row.whole) <= set(row.tests) for row in ROWS)
    assert passed_tests("x\n3 failed, 12 passed, 1 skipped in 2.1s\n") == 12
    assert passed_tests("no tests ran in 0.1s") == 0


def test_bug_is_noticed_by_a_test_that_failed_and_not_by_a_pytest_that_is_missing() -> None:
    assert has_failed("F\n1 failed, 2 passed in 3.1s")
    assert has_failed("1 error in 0.2s\n")
    assert not has_failed("/bin/python: No module named pytest")


def test_shares_have_every_case_once() -> None:
    shares = [chosen(CASES, [], number, 3) for number in (1, 2, 3)]
    assert sorted(
        known_case.test + str(known_case.part) for share in shares for known_case in share
    ) == sorted(known_case.test + str(known_case.part) for known_case in CASES)
    assert chosen(CASES, ["F9"], 1, 1) == [CASES[2]]
    assert folder_name(parsed(["--rows", "F1,F2", "--part", "2/4"]), []) == "F1-F2-2-of-4"
    names = [
        folder_name(parsed(["--match", text]), cases_left)
        for text in "ab"
        for cases_left in ([], CASES)
    ]
    assert len(set(names)) == 4
    assert matching(CASES, []) == CASES
    assert matching(CASES, ["F9 ", "F1 2/2", "^F"]) == [CASES[2], CASES[1], CASES[0], CASES[3]]
    assert Part(2, 3).of(range(8)) == [1, 4, 7]


@pytest.mark.parametrize("text", ["0/2", "3/2", "x", "1", "/2"])
def test_part_that_is_none_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--part", text])
    assert "is not a part such as 2/4" in capsys.readouterr().err
