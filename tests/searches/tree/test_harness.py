"""The harness as a standalone program: what the candidate's process has, and what it returns."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from weft.searches.tree import harness
from weft.worker import resultchannel

SCORER = """
def score(candidate):
    return {"score": 1, "notes": candidate.call("work:told")}
"""


@dataclass
class Ended:
    code: int
    sent: bytes
    err: str


def run_harness(folder: Path, scorer: str, work: str) -> Ended:
    """Run a copy of the harness with a channel at descriptor 3, as the supervisor gives it."""
    copy = folder / "copied.py"
    shutil.copy(harness.__file__, copy)
    (folder / "tree").mkdir()
    (folder / "score.py").write_text(scorer)
    (folder / "tree" / "work.py").write_text(work)
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            script = f'exec 3>&{theirs.fileno()} "$@"'
            argv = ["/bin/bash", "-c", script, "sh", sys.executable, "-I", str(copy)]
            result = subprocess.run(
                [*argv, str(folder / "score.py")], cwd=folder / "tree", capture_output=True,
                text=True, pass_fds=[theirs.fileno()], check=False,
                env={"PATH": os.defpath, "WEFT_RESULT_FD": "3", "WEFT_OUT_DIR": "/x"},
            )  # fmt: skip
        data = b""
        while piece := ours.recv(1 << 16):
            data += piece
    return Ended(result.returncode, data, result.stderr)


def test_protocol_of_the_harness_is_that_of_the_supervisor() -> None:
    assert harness.HELLO == resultchannel.HELLO
    assert harness.VARIABLE == resultchannel.VARIABLE


TOLD = """
import os, stat, sys

def is_socket(number):
    try:
        return stat.S_ISSOCK(os.fstat(number).st_mode)
    except OSError:
        return False

def told():
    names = [name for name in os.environ if name.startswith("WEFT")]
    sockets = [n for n in range(64) if is_socket(n)]
    print("printed by the candidate")
    return [names, sockets, sys.flags.isolated, os.getcwd() == sys.path[0]]
"""


def test_candidate_has_neither_channel_nor_variables_and_its_output_is_the_log(
    tmp_path: Path,
) -> None:
    ended = run_harness(tmp_path, SCORER, TOLD)
    assert ended.code == 0, ended.err
    hello, result = ended.sent.splitlines()
    assert hello + b"\n" == harness.HELLO
    assert result == b'{"score": 1, "notes": [[], [], 1, true]}'
    assert "printed by the candidate" in ended.err


DATA = """
VALUES = [None, True, -3, 2.5, "t\\u00fcr", b"\\x00\\xff", [1, [b""]], {"a": {"b": [b"x"]}}, [], {}]


def score(candidate):
    same = candidate.call("work:same", VALUES) == VALUES
    each = candidate.call_each("work:same", [[1], [b"2"]]) == [1, b"2"]
    output = candidate.run(["/bin/cat"], b"through a program")
    program = (output.exit_code, output.stdout) == (0, b"through a program")
    return {"score": same + each + program, "rows": {"ok": 1, "expected": 1}}
"""


def test_json_values_and_bytes_come_back_as_they_went(tmp_path: Path) -> None:
    ended = run_harness(tmp_path, DATA, "def same(value):\n    return value\n")
    assert b'"score": 3' in ended.sent, ended.err


FAILING = {
    "raises": ("def told():\n    raise ValueError('no')", "ValueError: no"),
    "object": ("def told():\n    return object()", "neither a JSON value nor bytes"),
    "nothing": ("import os\nos._exit(0)", "handed back no data"),
    "killed": ("import os\nos.kill(os.getpid(), 9)", "ended with -9"),
    "no module": ("", "has no attribute 'told'"),
    "nan": ("def told():\n    return float('nan')", "Out of range float values"),
    "forged": (
        "import os\nfor n in range(3, 9):\n    try:\n        os.write(n, b'{}')\n"
        "    except OSError:\n        pass\ndef told():\n    return 1",
        "handed back no data",
    ),
}


@pytest.mark.parametrize("name", FAILING)
def test_candidate_that_fails_gets_no_result(tmp_path: Path, name: str) -> None:
    work, reason = FAILING[name]
    ended = run_harness(tmp_path, SCORER, work)
    assert ended.code == 1
    assert ended.sent == harness.HELLO
    assert reason in ended.err


HELD_OPEN = """
import os, time

def told():
    open("held", "w").close()
    if os.fork() == 0:
        os.setsid()
        while os.path.exists("held"):
            time.sleep(0.02)
        os._exit(0)
    return "done"
"""
LIMITED = """
def score(candidate):
    try:
        candidate.call("work:told", timeout_s=0.2)
    except Exception as error:
        return {"score": 1, "notes": f"{type(error).__name__}: {error}"}
"""


def test_call_ends_though_a_process_keeps_its_pipes_open(tmp_path: Path) -> None:
    ended = run_harness(tmp_path, SCORER, HELD_OPEN)
    (tmp_path / "tree" / "held").unlink()
    assert b'"notes": "done"' in ended.sent, ended.err


def test_call_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    ended = run_harness(tmp_path, LIMITED, "import time\ntime.sleep(1000.5)")
    assert b"CandidateFailed: it took longer than 0.2 s" in ended.sent, ended.err


def test_scorer_is_never_loaded_from_a_cache(tmp_path: Path) -> None:
    spoiled = 'def score(candidate):\n    return {"score": 1000}\n'
    (tmp_path / "spoiled.py").write_text(spoiled)
    code = (
        "import py_compile; py_compile.compile('spoiled.py', cfile='__pycache__/score.cpython-"
        f"{sys.version_info.major}{sys.version_info.minor}.pyc',"
        " invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    ended = run_harness(tmp_path, SCORER, "def told():\n    return 1\n")
    assert b'"score": 1,' in ended.sent, ended.err
