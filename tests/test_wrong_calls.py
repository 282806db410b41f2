"""A wrong declaration or run is refused in one line that says what to write instead."""

from __future__ import annotations

import functools
import math
import operator
import subprocess
import sys
import textwrap

import pytest

import weft
from tests.support.modules import ModuleFolder
from weft.errors import InputError, SearchInvalid
from weft.runs.execution import Execution


@pytest.fixture
def modules(tmp_path):
    folder = ModuleFolder(tmp_path / "code")
    yield folder
    folder.close()


@weft.task
def double(x):
    return 2 * x


def plain(x):
    return x


async def later(x):
    return x


def several(x):
    yield x


class Scale:
    def __call__(self, x):
        return x

    def method(self, x):
        return x


@weft.search(version=1)
def climb(depth=1):
    yield [double(depth)]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (climb, r"search tests\.test_wrong_calls:climb itself.*weft\.run\(climb\(…\), out=…\)"),
        (double(1), r"a call of task tests\.test_wrong_calls:double.*yield it"),
        (double, r"task tests\.test_wrong_calls:double.*yield it"),
        (weft.command(["true"], timeout_s=9), r"a call of task weft\.command.*yield it"),
        (several(1), r"a generator.*@weft\.search"),
        (plain, r"a function.*@weft\.search"),
        ("climb:climb", r"a str.*weft run climb:climb"),
        (None, r"a NoneType"),
    ],
)
def test_run_of_what_is_no_call_of_a_search_is_refused(wrong, message, tmp_path):
    with pytest.raises(SearchInvalid, match=message) as refusal:
        weft.run(wrong, out=tmp_path / "run")
    assert "\n" not in str(refusal.value)
    assert not (tmp_path / "run").exists()


def test_search_declared_without_its_version_is_told_to_give_one():
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'version'"):

        @weft.search
        def unversioned():
            yield []


def returns_results():
    results = yield [double(1)]
    return results


def passes_a_result():
    results = yield [double(1)]
    yield [double(results[0])]


def passes_a_call():
    yield [double(double(1))]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (returns_results, r"value at \$\[0\]: .*Result is not a JSON value; pass its \.value"),
        (passes_a_result, r"value at \$\.x: .*Result is not a JSON value; pass its \.value"),
        (passes_a_call, r"TaskCall is not a JSON value; yield the call, and pass the \.value"),
    ],
)
def test_result_or_call_where_a_value_belongs_is_refused_with_what_to_pass(body, message, tmp_path):
    with pytest.raises(InputError, match=message):
        weft.run(weft.search(body, version=1)(), out=tmp_path / "run", backend="serial")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (functools.partial(plain, 1), r"a partial.*def.*that calls it"),
        (lambda x: x, r"a lambda.*def"),
        (Scale, r"class tests\.test_wrong_calls:Scale.*def.*that calls it"),
        (Scale(), r"a Scale.*def.*that calls it"),
        (Scale().method, r"a method.*def.*that calls it"),
        (Scale.method, r"inside a function or class.*top level"),
        (len, r"builtins:len is built in.*def.*that calls it"),
        (math.sqrt, r"math:sqrt is built in"),
        (operator.itemgetter(1), r"an? .*itemgetter.*def.*that calls it"),
        (functools.lru_cache(plain), r"lru_cache.*def.*that calls it"),
        (staticmethod(plain), r"a staticmethod"),
        (later, r"async.*plain function"),
        (several, r"yields.*return"),
        (double, r"is already a task"),
        (3, r"an int"),
    ],
)
def test_task_of_what_a_worker_cannot_import_is_refused(wrong, message):
    with pytest.raises(SearchInvalid, match=message) as refusal:
        weft.task(wrong)
    assert "\n" not in str(refusal.value)
    with pytest.raises(SearchInvalid, match=message):
        weft.task(timeout_s=3)(wrong)


@pytest.mark.parametrize("wrong", [functools.partial(plain), Scale, 3, len, lambda: 0])
def test_search_of_what_is_no_function_is_refused(wrong):
    with pytest.raises(SearchInvalid, match=r"^search "):
        weft.search(version=1)(wrong)


@pytest.mark.parametrize("wrong", [functools.partial(plain), Scale().method, lambda run: None])
def test_hook_that_a_worker_cannot_import_is_refused(wrong):
    with pytest.raises(SearchInvalid, match=r"^prepare "):
        weft.command(["true"], timeout_s=9, prepare=wrong)


RENAMED = """
    def plain(x):
        return x * x

    square = weft.task({name}plain)

    @weft.search(version=1)
    def s():
        [result] = yield [square(3)]
        return result.value
"""


@pytest.mark.parametrize("name", ["", "name='lab.square')("])
def test_task_bound_to_another_name_than_its_function_is_refused(modules, tmp_path, name):
    source = RENAMED.format(name="").replace("task(plain)", f"task({name}plain)")
    module = modules.write(source)
    with pytest.raises(SearchInvalid, match=r":plain is a function there.*plain = weft\.task"):
        weft.run(module.s(), out=tmp_path / "run")


def test_task_bound_to_another_name_in_a_script_is_refused(tmp_path):
    text = textwrap.dedent(RENAMED.format(name=""))
    script = f"import weft\n{text}\nif __name__ == '__main__':\n    weft.run(s(), out='run')\n"
    (tmp_path / "lab_renamed.py").write_text(script)
    argv = [sys.executable, "lab_renamed.py"]
    ended = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "lab_renamed:plain is a function there" in ended.stderr.splitlines()[-1]


def test_task_under_both_names_is_run(modules, tmp_path):
    module = modules.write(RENAMED.format(name="") + "\n    plain = square\n")
    assert weft.run(module.s(), out=tmp_path / "run").answer == 9


def test_refusal_in_a_notebook_shows_lines_of_the_user_and_none_of_weft(tmp_path):
    with pytest.raises(InputError) as caught:
        weft.load(tmp_path / "none")
    *lines, message = caught.value._render_traceback_()
    assert message == f"RunFolderInvalid: {caught.value}"
    assert [__file__ in line for line in lines if "  File " in line] == [True]
    assert any('weft.load(tmp_path / "none")' in line for line in lines)


def test_option_out_of_range_in_a_notebook_shows_no_generated_code(tmp_path):
    with pytest.raises(InputError) as caught:
        Execution(tmp_path / "none", workers=5000)
    *lines, message = caught.value._render_traceback_()
    assert message == "OptionInvalid: workers must be 1 to 4096, not 5000"
    assert [__file__ in line for line in lines if "  File " in line] == [True]
