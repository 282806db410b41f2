"""F28: two machines on one shared folder resume the same run. One runs, the other names it.

The second machine is a UTS namespace with a different host name; both see the same files and
locks, as they would on a shared file system that supports locks.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.faults.case import GATED, Case, Ended
from tests.support.checker import Reference, check_finished
from tests.support.figures import print_figures
from tests.support.tools import require_root
from tests.support.waiting import wait_until

ELSEWHERE = "weft-elsewhere"
LOCKED = 75


@pytest.fixture
def elsewhere(require_tool: Callable[[str], str]) -> list[str]:
    """Command prefix that runs a command on the other machine."""
    require_root()
    line = f'hostname {ELSEWHERE} && exec "$@"'
    return [require_tool("unshare"), "--uts", "sh", "-c", line, "sh"]


def second_end(case: Case) -> Ended:
    """Start the run a second time; return how it ends, with the gate open if it was let in."""
    with case.start() as second:
        wait_until(lambda: second.poll() is not None or case.count_executed() > 1, "its refusal")
        if second.poll() is None:
            (case.folder / "gate").touch()
        return case.end_of(second)


@pytest.mark.slow
@pytest.mark.parametrize("dies", [False, True])
def test_run_held_by_another_machine_is_left_alone_and_taken_over_after_its_end(
    elsewhere: list[str], tmp_path: Path, dies: bool
) -> None:
    plain = Case(tmp_path / "plain", GATED)
    (plain.folder / "gate").touch()
    assert plain.run().returncode == 0
    reference, case = Reference.of(plain.out), Case(tmp_path / "case", GATED, workers=1)
    with case.start(elsewhere) as holder, ExitStack() as stack:
        stack.callback(holder.kill)  # a holder at the gate would outlast a failed assertion
        wait_until(case.count_executed, "a task at the gate")
        result = second_end(case)
        assert result.returncode == LOCKED
        assert f"on {ELSEWHERE}" in result.stderr
        if dies:
            holder.kill()
        else:
            (case.folder / "gate").touch()
        ended = case.end_of(holder)
        assert (ended.returncode == 0) is not dies, ended.stderr
    (case.folder / "gate").touch()
    assert case.leftovers() == []
    assert case.run().outcome["head"] == reference.head
    assert check_finished(case.place, reference) == []
    print_figures("F28", machines=2, dies=str(dies), violations=0)
