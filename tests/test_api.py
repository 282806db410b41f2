"""Every public name in a small real run, and what the declarations refuse."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
from importlib import import_module
from pathlib import Path

import pytest

import weft
from tests.support.modules import ModuleFolder
from tests.support.waiting import HANG_S
from weft.errors import SearchInvalid
from weft.model.keys import task_seed
from weft.storage.disk import Disk
from weft.storage.manifest import Manifest

SOURCE = '''
import os
from pathlib import Path

@weft.task
def add(x, y=10, *, scale=1):
    """Add."""
    return (x + y) * scale

@weft.task
def draw(x, *, seed):
    return seed

@weft.task(retries=2)
def third_time(counter):
    with open(counter, "a") as file:
        file.write(".")
    if Path(counter).stat().st_size < 3:
        raise weft.Temporary("not yet")
    return Path(counter).stat().st_size

@weft.task
def never(x):
    raise ValueError(x)

@weft.task
def store(text):
    weft.note(chars=len(text), pid=os.getpid())
    return weft.put(text.encode())

@weft.task
def load(reference):
    return weft.get(reference).decode()

@weft.search(version=1)
def inner(x, *, budget):
    results = yield [add(x)]
    return [results[0].value, budget["programs"]]

def generator(x):
    [result] = yield add(x)
    return result.value

@weft.search(version=3)
def everything(counter, width=3, *, seed, inputs, budget):
    """Use all of it."""
    told = {}
    results = yield [add(1), add(1, 2), add(1, scale=5), add(y=1, x=2), draw(4)]
    told["add"] = [r.value for r in results[:4]]
    told["draw"] = [results[4].value, results[4].args, results[4].index]
    told["isinstance"] = isinstance(results[0], weft.Result)

    [result] = yield [third_time(counter)]
    told["temporary"] = result.value

    [result] = yield [never("no")]
    told["failed"] = [result.ok, result.error == weft.TaskError("exception", "run")]
    try:
        result.value
    except weft.TaskFailed as failed:
        told["task_failed"] = failed.result.index

    stored = yield [store("hello"), store("hello")]
    told["object"] = [stored[0].value == stored[1].value, isinstance(stored[0].value, weft.Object)]
    loaded = yield [load(stored[0].value), load(inputs["data"])]
    told["loaded"] = [r.value for r in loaded]

    results = yield weft.round([add(i) for i in range(20)], until=lambda r: r.value >= 12)
    told["until"] = len(results)
    results = yield weft.lazy(width * 4, lambda i: add(i, 0))
    told["lazy"] = [results[-1].value, len(results), [r.value for r in results[2:5]]]

    shares = budget.split(2)
    assert isinstance(budget, weft.Budget)
    answers = yield weft.lanes({"a": inner(1), "b": generator(2)})
    told["lanes"] = answers
    told["budget"] = [shares[0]["programs"], budget.spend(programs=4)["programs"]]
    told["seed"] = seed
    return told

@weft.search(version=1)
def shy():
    yield []
    return weft.Unknown("ambiguous", {"candidates": 2})
'''


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("api")


@pytest.fixture(scope="module")
def lab(place):
    modules = ModuleFolder(place / "code")
    yield modules.write(SOURCE)
    modules.close()


@pytest.fixture(scope="module")
def finished(lab, place):
    (place / "data.txt").write_text("from a file")
    return weft.run(
        lab.everything(str(place / "counter")),
        out=place / "out",
        seed=5,
        inputs={"data": place / "data.txt"},
        budget={"programs": 7},
        workers=2,
    )


def test_all_names_exist_and_no_others_are_promised():
    for name in weft.__all__:
        assert getattr(weft, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        weft.nothing  # noqa: B018


def test_names_that_type_checkers_see_are_those_that_are_loaded():
    [declared] = [
        node for node in ast.parse(Path(weft.__file__).read_text()).body if isinstance(node, ast.If)
    ]
    imports = [node for node in declared.body if isinstance(node, ast.ImportFrom)]
    expected = {
        alias.asname or alias.name: getattr(import_module(node.module), alias.name)
        for node in imports
        for alias in node.names
    }
    assert expected == {name: getattr(weft, name) for name in weft.__all__}
    assert dir(weft) == sorted(weft.__all__)


def test_run_real_workers_every_part_answers(finished, lab, place):
    answer = finished.answer
    assert isinstance(finished, weft.Run)
    assert answer["add"] == [11, 3, 55, 3]
    seed = task_seed(5, "", 0, 4, f"{lab.__name__}:draw", '{"x":4}')
    assert answer["draw"] == [seed, {"x": 4}, 4]
    assert answer["isinstance"] is True
    assert answer["temporary"] == 3
    assert answer["failed"] == [False, True]
    assert answer["task_failed"] == 0
    assert answer["object"] == [True, True]
    assert answer["loaded"] == ["hello", "from a file"]
    assert answer["until"] == 3
    assert answer["lazy"] == [11, 12, [2, 3, 4]]
    assert answer["lanes"] == [[11, 7], 12]
    assert answer["budget"] == [4, 3]
    assert answer["seed"] == 5
    assert (place / "counter").read_text() == "..."
    assert (finished.failed, finished.timing_dependent, finished.exit_code) == (1, False, 0)


def test_run_notes_and_attempts_are_in_the_manifest_only(finished, place):
    manifest = Manifest.open(place / "out" / "manifest.sqlite", Disk(), read_only=True)
    try:
        notes = manifest.query("SELECT notes FROM tasks WHERE function LIKE '%:store'")
        attempts = manifest.query("SELECT attempt, outcome, reason FROM attempts ORDER BY rowid")
    finally:
        manifest.close()
    assert [note.startswith('{"chars": 5') for (note,) in notes] == [True, True]
    assert attempts == [
        (1, "requeued", "temporary"), (2, "requeued", "temporary"), (1, "failed", "exception"),
    ]  # fmt: skip
    ledger = (place / "out" / "ledger.jsonl").read_text()
    assert "chars" not in ledger
    assert '"pid"' not in ledger


def test_run_unknown_answer_is_an_unknown(lab, tmp_path):
    run = weft.run(lab.shy(), out=tmp_path / "out")
    assert run.answer == weft.Unknown("ambiguous", {"candidates": 2})


def test_run_refusal_is_a_weft_error(lab, tmp_path):
    with pytest.raises(weft.WeftError, match=r"^workers must be 1 to 4096, not 0"):
        weft.run(lab.shy(), out=tmp_path / "out", workers=0)
    assert not (tmp_path / "out").exists()


# -- declarations -------------------------------------------------------------------------


def test_task_call_describes_and_function_runs(lab):
    call = lab.add(1, scale=3)
    assert call.function == f"{lab.__name__}:add"
    assert call.args == {"x": 1, "y": 10, "scale": 3}
    assert lab.add.function(1, 2) == 3
    assert lab.add.__doc__ == "Add."
    assert repr(lab.add) == f"<weft task {lab.__name__}:add>"


@pytest.mark.parametrize(
    "arguments", [((), {}), ((1, 2, 3), {}), ((1,), {"z": 1}), ((1,), {"x": 1})]
)
def test_task_call_wrong_arguments_are_refused(lab, arguments):
    args, kwargs = arguments
    with pytest.raises(SearchInvalid, match=r"call of task \w+:add: "):
        lab.add(*args, **kwargs)


def test_task_call_seed_cannot_be_given(lab):
    with pytest.raises(SearchInvalid, match="call of task"):
        lab.draw(1, seed=3)


def test_task_call_positional_seed_is_an_ordinary_argument(tmp_path):
    modules = ModuleFolder(tmp_path)
    module = modules.write("@weft.task\ndef f(seed):\n    return seed\n")
    modules.close()
    assert module.f(4).args == {"seed": 4}


def test_search_call_wrong_arguments_are_refused(lab):
    with pytest.raises(SearchInvalid, match=r"call of search \w+:everything: "):
        lab.everything()
    assert lab.everything.__doc__ == "Use all of it."


def test_search_call_defaults_are_recorded(lab):
    call = lab.everything("c")
    assert call.args == {"counter": "c", "width": 3}
    assert (call.version, call.needs) == (3, ("seed", "inputs", "budget"))


def nested_task():
    @weft.task
    def inside():
        return 1


def method_task():
    class Holder:
        @weft.task
        def method(self):
            return 1


def star_args():
    weft.task(starred)


def starred(*args):
    return args


def keywords():
    weft.task(keyworded)


def keyworded(**kwargs):
    return kwargs


def positional():
    weft.task(positional_only)


def positional_only(x, /):
    return x


def plain_search():
    weft.search(version=1)(starred_not)


def starred_not():
    return 1


def nested_search():
    @weft.search(version=1)
    def inside():
        yield []


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (nested_task, "inside a function or class; move it to the top level"),
        (method_task, "inside a function or class"),
        (nested_search, "search .* is defined inside a function"),
        (star_args, r"takes \*args"),
        (keywords, r"takes \*kwargs"),
        (positional, "x must not be positional-only"),
        (plain_search, "never yields"),
        (lambda: weft.task(timeout_s=0), "timeout_s must be above 0"),
        (lambda: weft.task(timeout_s=float("nan")), "timeout_s must be above 0"),
        (lambda: weft.task(retries=-1), "retries must be 0 to 100"),
        (lambda: weft.task(retries=101), "retries must be 0 to 100"),
        (lambda: weft.search(version=0), "version must be an integer of 1 or more, not 0"),
        (lambda: weft.search(version=True), "must be an integer"),
        (lambda: weft.search(version="1"), "must be an integer"),
    ],
)
def test_declaration_that_cannot_work_is_refused(declare, message):
    with pytest.raises(SearchInvalid, match=message):
        declare()


# -- __main__ -----------------------------------------------------------------------------

SCRIPT = textwrap.dedent(
    """
    import sys
    import weft

    @weft.task
    def triple(x):
        return 3 * x

    @weft.search(version=1)
    def script():
        results = yield [triple(i) for i in range(3)]
        return [r.value for r in results] + [results[0].function]

    if __name__ == "__main__":
        print(weft.run(script(), out=sys.argv[1]).answer)
    """
)


def python(*argv, cwd):
    return subprocess.run(
        [sys.executable, *map(str, argv)], cwd=cwd, capture_output=True, text=True, timeout=HANG_S
    )


@pytest.mark.parametrize(
    ("file", "argv", "name"),
    [
        ("my_script.py", ["my_script.py"], "my_script"),
        ("pack/mod.py", ["-m", "pack.mod"], "pack.mod"),
        ("pack/__main__.py", ["-m", "pack"], "pack.__main__"),
    ],
)
def test_main_script_tasks_are_known_by_their_file(tmp_path, file, argv, name):
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / "pack").mkdir(exist_ok=True)
    (tmp_path / "pack" / "__init__.py").touch()
    (tmp_path / file).write_text(SCRIPT)
    for _ in range(2):  # the second call finds the run finished
        result = python(*argv, "out", cwd=tmp_path)
        assert result.stdout == f"[0, 3, 6, '{name}:triple']\n", result.stderr


@pytest.mark.parametrize(
    ("file", "argv", "message"),
    [
        ("x.py", ["-c", SCRIPT], "task triple is defined in an interactive session"),
        ("my-script.py", ["my-script.py"], "task triple is defined in my-script.py"),
        ("folder/__main__.py", ["folder"], "task triple is defined in __main__.py"),
    ],
)
def test_main_that_no_worker_can_import_is_refused_with_the_line_to_write(
    tmp_path, file, argv, message
):
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(SCRIPT)
    result = python(*argv, "out", cwd=tmp_path)
    assert result.returncode != 0
    assert message in result.stderr
    assert "put it in a file such as my_search.py and `from my_search import` it" in result.stderr
    assert not (tmp_path / "out").exists()


def test_packages_of_optimizers_are_imported_when_they_are_named():
    code = "import weft; print(weft.optuna.study.__name__, weft.asktell.optimize.__name__)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "study optimize\n"
    with pytest.raises(AttributeError, match="module 'weft' has no attribute 'nosuch'"):
        weft.nosuch  # noqa: B018
