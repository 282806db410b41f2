"""Marks that a worker's descendants inherit, and the search for the processes that carry them."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.waiting import HANG_S
from weft.backends import orphans
from weft.backends.orphans import LEAST_US, TOP_US, Marks, Orphans, end_earlier
from weft.worker import supervisor


@pytest.fixture
def marks(tmp_path: Path) -> Marks:
    return Marks.of(str(tmp_path))


@contextmanager
def marked(marks: Marks, number: int, text: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A shell that waits for its mark, prints `begun`, and waits forever."""
    script = f"read go; {text} sleep 1000 & echo begun; wait"
    with subprocess.Popen(
        ["sh", "-c", script, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        marks.put(process.pid, number)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        assert process.stdout.readline() == "begun\n"
        try:
            yield process
        finally:
            process.kill()
            end_earlier(marks)


def mark_of(pid: int) -> int:
    return resource.prlimit(pid, resource.RLIMIT_RTTIME)[1]


def exists(pid: int) -> bool:
    """Whether the process exists, possibly as a zombie."""
    return Path(f"/proc/{pid}").exists()


def in_a_process_limited_to(limit: int) -> list[int]:
    """First and last mark of a run whose coordinator itself has this limit."""
    code = (
        "import resource, sys; from weft.backends.orphans import Marks;"
        "limit = int(sys.argv[1]);"
        "resource.setrlimit(resource.RLIMIT_RTTIME, (limit, limit));"
        "marks = Marks.of('run').all; print(list(marks[:1]) + list(marks[-1:]))"
    )
    argv = [sys.executable, "-c", code, str(limit)]
    pids: list[int] = json.loads(subprocess.run(argv, capture_output=True, check=True).stdout)
    return pids


def test_marks_are_the_same_for_one_run_and_apart_for_two() -> None:
    first, other = Marks.of("one").all, Marks.of("other").all
    assert first == Marks.of("one").all
    assert len(first) == len(other) == 2**20
    assert first.stop <= other.start or other.stop <= first.start
    assert LEAST_US <= first.start < first.stop <= TOP_US


def test_marks_inside_another_run_are_below_its_own() -> None:
    """A hard limit can only be lowered without privilege."""
    outer = Marks.of("outer").of_worker(7)[0]
    first, last = in_a_process_limited_to(outer)
    assert LEAST_US <= first < last < outer


@pytest.mark.parametrize("limit", [0, 200_000, LEAST_US])
def test_marks_are_none_where_the_limit_is_in_use(limit: int) -> None:
    assert in_a_process_limited_to(limit) == []


def test_worker_beyond_the_last_mark_has_none(marks: Marks) -> None:
    with subprocess.Popen(["sleep", "1000"]) as process:
        before = mark_of(process.pid)
        marks.put(process.pid, 2**20)
        assert mark_of(process.pid) == before
        assert not marks.of_worker(2**20)
        process.kill()


def test_strays_end_with_their_own_worker_only(marks: Marks) -> None:
    with marked(marks, 1, "") as first, marked(marks, 2, "") as second:
        adopted = Orphans()
        adopted.expect(marks.of_worker(1))
        adopted.finish()
        assert not exists(first.pid)
        assert len(adopted.ended) == 2  # the shell and its sleep
        assert second.poll() is None


def test_supervisor_that_clears_up_is_waited_for_but_not_for_ever(
    marks: Marks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orphans, "CLEARED_S", 0.3)
    with marked(marks, 1, "", supervisor.__file__) as process:
        adopted = Orphans()
        start_s = time.monotonic()
        adopted.expect(marks.of_worker(1))
        adopted.clear()
        assert process.poll() is None
        adopted.finish()
        assert not exists(process.pid)
        assert 0.3 <= time.monotonic() - start_s < 60


def test_child_that_ended_is_reaped_only_with_the_mark(marks: Marks) -> None:
    """As pid 1 of a container, this process is the parent of every orphan."""
    with marked(marks, 1, "") as process, subprocess.Popen(["sh", "-c", "exit 7"]) as other:
        process.kill()
        adopted = Orphans()
        adopted.expect(marks.of_worker(1))
        adopted.finish()
        assert not exists(process.pid)
        assert other.wait(timeout=HANG_S) == 7
