"""A command's result channel, with real commands: who may send, how often, how much, when."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from weft.worker.resultchannel import MAX_BYTES, ChannelReport
from weft.worker.supervision import SupervisorProcess
from weft.worker.supervisor import CommandSpec

HELLO = "printf 'weft-result 1\\n' >&3;"
RESULT = "printf '{\"score\": 3}\\n' >&3;"


@pytest.fixture(scope="module")
def supervisor() -> Iterator[SupervisorProcess]:
    process = SupervisorProcess()
    yield process
    process.end()


def sent(
    supervisor: SupervisorProcess, folder: Path, argv: list[str], *, channel: bool = True
) -> ChannelReport | None:
    env = {"PATH": "/usr/bin:/bin", **({"WEFT_RESULT_FD": "3"} if channel else {})}
    spec: CommandSpec = {
        "argv": argv, "cwd": str(folder), "folders": [], "env": env,
        "stdout": str(folder / "stdout"), "stderr": str(folder / "stderr"),
        "timeout_s": 60.0, "memory_bytes": 0,
    }  # fmt: skip
    return supervisor.run(spec).get("channel")


SHELL = {
    "in order": (HELLO + RESULT, '{"score": 3}', ""),
    "nothing": ("true", None, ""),
    "hello only": (HELLO, None, ""),
    "twice": (HELLO + RESULT + RESULT, None, "a second result was sent"),
    "no hello": (RESULT, None, "does not begin with the hello"),
    "by a child": (f"{HELLO} ({RESULT})", None, "another process than the command"),
    "a child as well": (f"{HELLO} {RESULT} ({RESULT})", None, "another process"),
    "closed for the child": (
        f"{HELLO} ({RESULT}) 3>&- 2>/dev/null; {RESULT}", '{"score": 3}', "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SHELL)
def test_only_one_line_of_the_command_itself_is_its_result(
    supervisor: SupervisorProcess, tmp_path: Path, name: str
) -> None:
    line, result, reason = SHELL[name]
    report = sent(supervisor, tmp_path, ["/bin/sh", "-c", line])
    assert report is not None
    assert report["result"] == result
    assert reason in report["refused"]
    assert bool(report["refused"]) is bool(reason)


def test_command_without_the_variable_has_no_channel(
    supervisor: SupervisorProcess, tmp_path: Path
) -> None:
    line = f"{RESULT} ls -l /proc/self/fd"
    assert sent(supervisor, tmp_path, ["/bin/sh", "-c", line], channel=False) is None
    assert "socket" not in (tmp_path / "stdout").read_text()


@pytest.mark.parametrize(
    ("size", "refused"), [(MAX_BYTES - 100, ""), (3 * MAX_BYTES, "more than 1,048,576 bytes")]
)
def test_large_result_arrives_and_a_flood_ends_with_an_error(
    supervisor: SupervisorProcess, tmp_path: Path, size: int, refused: str
) -> None:
    code = f"import os\ndata = b'weft-result 1\\n' + b'x' * {size}\n"
    code += "while data: data = data[os.write(3, data):]"
    report = sent(supervisor, tmp_path, [sys.executable, "-I", "-c", code])
    assert report is not None
    assert report["refused"] == (f"{refused} were sent" if refused else "")
    assert len(report["result"] or "") == (0 if refused else size)


ENDED = """
import os, time
os.write(3, b"weft-result 1\\n")
parent = os.getpid()
if os.fork() == 0:
    while os.getppid() == parent:
        time.sleep(0.001)
    while True:
        os.write(3, b"{}\\n")
"""


def test_process_that_outlives_the_command_never_has_a_result(
    supervisor: SupervisorProcess, tmp_path: Path
) -> None:
    report = sent(supervisor, tmp_path, [sys.executable, "-I", "-c", ENDED])
    assert report is not None
    assert report["result"] is None  # refused, or killed before it could send


def test_channel_cannot_be_opened_through_proc(
    supervisor: SupervisorProcess, tmp_path: Path
) -> None:
    line = f"{HELLO} (printf '{{}}' > /proc/$$/fd/3) 3>&-; {RESULT}"
    report = sent(supervisor, tmp_path, ["/bin/sh", "-c", line])
    assert report == {"result": '{"score": 3}', "refused": ""}
    assert "/proc" in (tmp_path / "stderr").read_text()
