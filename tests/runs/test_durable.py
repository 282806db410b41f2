"""Files that outlive runs: replaced atomically, appended to by several processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from weft.runs.durable import LineLog, replace_file

WRITER = """
import sys
from pathlib import Path
from weft.runs.durable import LineLog

log = LineLog(Path(sys.argv[1]))
for number in range(50):
    log.append(lambda: [f"{sys.argv[2]} {number} after {len(log.lines())}"])
"""


def test_log_of_several_writers_has_every_line_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "log"
    argv = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*argv, name]) for name in ("a", "b", "c")]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    lines = [line.decode() for line in LineLog(path).lines()[:-1]]
    for name in ("a", "b", "c"):
        own = [line.split()[1] for line in lines if line.startswith(name)]
        assert own == [str(number) for number in range(50)]
    counts = [int(line.rsplit(" ", 1)[1]) for line in lines]
    assert counts == list(range(1, 151)), "each chosen while nobody else wrote"


def test_line_after_a_torn_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"whole\nto")
    assert LineLog(path).append(lambda: ["next"]) == 1
    assert LineLog(path).lines() == [b"whole", b"to", b"next", b""]


def test_nothing_to_append_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"to")
    assert LineLog(path).append(list) == 0
    assert path.read_bytes() == b"to"


def test_log_that_nobody_wrote_is_empty(tmp_path: Path) -> None:
    assert LineLog(tmp_path / "log").lines() == []


def test_file_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "bank.json"
    replace_file(path, b"one")
    replace_file(path, b"two")
    assert path.read_bytes() == b"two"
    with pytest.raises(FileNotFoundError):
        replace_file(tmp_path / "gone" / "bank.json", b"one")
    assert list(tmp_path.iterdir()) == [path]
