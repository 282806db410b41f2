"""One assignment in this process: what counts as a loss, and what as the task's own fault."""

from __future__ import annotations

import json

import pytest

from tests.support.modules import ModuleFolder
from weft.model.attempts import Assignment, Lost
from weft.model.keys import task_seed
from weft.model.results import TaskError
from weft.model.values import encode
from weft.worker import execute
from weft.worker.context import WorkerPlace
from weft.worker.execute import Executor

SOURCE = """
import sys

@weft.task
def echo(value):
    return value

@weft.task
def seeded(x, *, seed):
    return seed

@weft.task
def raises(kind):
    if kind == "exit":
        sys.exit(3)
    if kind == "exit-text":
        sys.exit("words")
    if kind == "exit-none":
        sys.exit()
    if kind == "temporary":
        raise weft.Temporary("later")
    if kind == "memory":
        raise MemoryError
    if kind == "set":
        return {1}
    if kind == "long":
        return "x" * 500
    raise ValueError("plain")

@weft.task
def objects(text):
    weft.note(a=1, b=[1.5], c=object)
    first = weft.put(text.encode())
    assert weft.put(text.encode()) == first
    return [weft.get(first).decode(), first]

@weft.task
def read(what):
    return len(weft.get(what))

def plain():
    return 1
"""


@pytest.fixture
def lab(tmp_path):
    modules = ModuleFolder(tmp_path / "code")
    yield modules.write(SOURCE).__name__
    modules.close()


@pytest.fixture
def executor(tmp_path):
    (tmp_path / "objects").mkdir()
    return Executor(7, WorkerPlace(tmp_path / "objects", tmp_path / "staging"))


def assignment(function, **args):
    return Assignment(1, function, encode(args), "/lane", 2, 3)


def run(executor, a):
    prepared = executor.prepare(a)
    assert not isinstance(prepared, Lost), prepared
    return executor.run(a, *prepared)


def test_value_comes_back_as_its_canonical_text(executor, lab):
    end = run(executor, assignment(f"{lab}:echo", value=[1, {"b": 0.5}]))
    assert (end.value, end.error) == ('[1,{"b":{"$f":"0.5"}}]', None)
    assert end.run_s >= 0
    assert end.notes is None


def test_seed_is_the_one_of_the_task(executor, lab):
    a = assignment(f"{lab}:seeded", x=1)
    expected = task_seed(7, "/lane", 2, 3, a.function, a.args)
    assert run(executor, a).value == encode(expected)


@pytest.mark.parametrize(
    ("kind", "error", "retriable"),
    [
        ("plain", TaskError("exception", "run"), False),
        ("temporary", TaskError("temporary", "run"), True),
        ("memory", TaskError("out-of-memory", "run"), False),
        ("exit", TaskError("exit", "run", 3), False),
        ("exit-text", TaskError("exit", "run", 1), False),
        ("exit-none", TaskError("exit", "run", 0), False),
        ("set", TaskError("result-invalid", "collect"), False),
    ],
)
def test_fault_of_the_body_is_the_tasks_own(executor, lab, kind, error, retriable):
    end = run(executor, assignment(f"{lab}:raises", kind=kind))
    assert (end.value, end.error, end.retriable) == (None, error, retriable)
    assert end.detail


def test_result_too_long_is_invalid_with_the_way_out(executor, lab, monkeypatch):
    monkeypatch.setattr(execute, "MAX_RESULT_CHARS", 400)
    end = run(executor, assignment(f"{lab}:raises", kind="long"))
    assert end.error == TaskError("result-invalid", "collect")
    assert "weft.put" in end.detail


def test_objects_are_staged_once_and_notes_reported(executor, lab, tmp_path):
    end = run(executor, assignment(f"{lab}:objects", text="hello"))
    [staged] = end.staged
    assert (tmp_path / "staging" / staged.name).read_bytes() == b"hello"
    assert end.value == encode(["hello"])[:-1] + f',{{"$o":"{staged.digest}"}}]'
    assert json.loads(end.notes)["a"] == 1


def test_object_in_the_store_is_not_staged_again(executor, lab, tmp_path):
    digest = run(executor, assignment(f"{lab}:objects", text="hello")).staged[0].digest
    place = tmp_path / "objects" / digest[:2]
    place.mkdir()
    (place / digest[2:]).write_bytes(b"hello")
    assert run(executor, assignment(f"{lab}:objects", text="hello")).staged == ()


@pytest.mark.parametrize(
    ("function", "reason", "words"),
    [
        ("no_such_module:f", "import-failed", "No module named"),
        ("{lab}:missing", "import-failed", "has no task missing"),
        ("{lab}:plain", "import-failed", "is not a @weft.task"),
    ],
)
def test_failure_before_the_body_is_a_loss(executor, lab, function, reason, words):
    loss = executor.prepare(assignment(function.format(lab=lab)))
    assert isinstance(loss, Lost)
    assert loss.reason == reason
    assert words in loss.detail


def test_arguments_that_cannot_be_decoded_are_a_loss(executor, lab):
    loss = executor.prepare(Assignment(1, f"{lab}:echo", "{", "", 0, 0))
    assert isinstance(loss, Lost)
    assert loss.reason == "prepare-failed"
