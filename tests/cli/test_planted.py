"""A run folder with a link, FIFO or socket planted in it: every command refuses to read it.

The attack: a received run whose `ledger.jsonl` or log is a link to one of the receiver's files,
or a FIFO that never answers. Each row plants one entry at one place and runs one command.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import SMALL, Weft, interrupt
from tests.support.commands import COMMAND, Told
from weft.storage.folder import RunFolder

MARK = "FOREIGN-BYTES-OF-ANOTHER-FILE"
SEARCH = """

@weft.search(version=1)
def planted(*, inputs):
    loud = [sys.executable, "-c", "print('loud'); raise SystemExit(3)"]
    results = yield [length(inputs["table"]), weft.command(loud, timeout_s=60)]
    return results[0].value
"""
KEY = "KEY"
"""Stands for the key of the command that failed and has a log."""
TOP = (
    "run.toml", "ledger.jsonl", "checkpoint", "checkpoint.sig", "manifest.sqlite",
    "manifest.sqlite-wal", "manifest.sqlite-shm", "manifest.sqlite-journal", "objects", "logs",
    "repo.git", ".lock", ".owner", "report.html.tmp",
)  # fmt: skip
OBJECTS = ("objects/AB", "objects/AB/CD")
LOGS = ("logs/KEY", "logs/KEY/1.log")
READERS: dict[str, tuple[str, ...]] = {
    "status": ("status", "run"),
    "events": ("status", "run", "--events"),
    "watch": ("watch", "run"),
    "verify": ("verify", "run"),
    "diff": ("diff", "sound", "run"),
    "prove": ("prove", "run", KEY),
    "explain": ("explain", "run", KEY),
    "replay": ("replay", "run"),
    "resume": ("resume", "run"),
    "report": ("report", "run", "--out", "page.html"),
    "pack": ("pack", "run", "--out", "packed"),
    "serve": ("serve", "run", "--port", "0"),
    "jobs-fetch": ("jobs", "fetch", "run", "--to", "fetched"),
    "tree-why": ("tree", "why", "run", "n1"),
    "tree-evals": ("tree", "evals", "run"),
    "tree-transcript": ("tree", "transcript", "run", "e1"),
    "tree-export": ("tree", "export", "run", "--patches", "patches"),
    "arc-show": ("arc", "show", "run"),
    "arc-check": ("arc", "check", "run"),
}
OF_OBJECTS = ("verify", "replay", "pack")
OF_LOGS = ("explain", "report", "pack")


def link(path: Path, foreign: Path) -> None:
    path.symlink_to(foreign)


def dangling(path: Path, foreign: Path) -> None:
    path.symlink_to(foreign / "nothing" / "here")


def fifo(path: Path, foreign: Path) -> None:
    os.mkfifo(path)


def unix_socket(path: Path, foreign: Path) -> None:
    folder = os.open(path.parent, os.O_PATH)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"/proc/self/fd/{folder}/{path.name}")  # socket paths end at 107 bytes
    os.close(folder)


def device(path: Path, foreign: Path) -> None:
    try:
        os.mknod(path, 0o666 | 0o020000, os.makedev(1, 5))  # /dev/zero: reading never ends
    except PermissionError:
        pytest.skip("making a device file needs root")


Plant = Callable[[Path, Path], None]
KINDS: dict[str, Plant] = {
    "link": link, "dangling": dangling, "fifo": fifo, "socket": unix_socket, "device": device,
}  # fmt: skip


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished run that has an object and a log."""
    folder = tmp_path_factory.mktemp("sound")
    (folder / "small.py").write_text(SMALL.replace("import weft\n", "import sys\nimport weft\n", 1))
    with (folder / "small.py").open("a") as file:
        file.write(SEARCH)
    words = [*COMMAND, "run", "small.py:planted", "--input", "table=small.py", "--out", "run"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=280)
    return folder


@pytest.fixture
def folder(sound: Path, tmp_path: Path, weft: Weft) -> Path:
    """A copy of the sound run to tamper with, beside an untouched copy and a foreign file."""
    shutil.copytree(sound / "run", tmp_path / "run")
    shutil.copytree(sound / "run", tmp_path / "sound")
    shutil.copy(sound / "small.py", tmp_path / "small.py")
    (tmp_path / "foreign").mkdir()
    return tmp_path


def key_of(run: Path) -> str:
    return next(path.name for path in sorted((run / "logs").iterdir()))


def place_in(run: Path, name: str) -> Path:
    stored = next(p for p in sorted(run.glob("objects/??/*")))
    words = {"KEY": key_of(run), "AB": stored.parent.name, "CD": stored.name}
    return run.joinpath(*(words.get(part, part) for part in name.split("/")))


def plant(folder: Path, name: str, kind: str) -> Path:
    """Put an entry of some kind at a place; a link leads to the marked bytes that were there."""
    place, foreign = place_in(folder / "run", name), folder / "foreign" / "file"
    if place.is_dir():
        shutil.move(place, foreign)
        for path in (p for p in foreign.rglob("*.log")):
            path.write_text(MARK)
    else:
        data = place.read_bytes() if place.exists() and "log" not in place.suffix else b""
        foreign.write_bytes(data + MARK.encode() + b"\n")
        place.unlink(missing_ok=True)
    KINDS[kind](place, foreign)
    return place


def names_in(folder: Path) -> list[str]:
    """The names in a folder, without the bytecode of modules that a command imports."""
    return sorted(path.name for path in folder.iterdir() if path.name != "__pycache__")


def refuse(weft: Weft, folder: Path, command: str, place: Path, key: str) -> None:
    """Check that the command names the path in one line, exits with 5 and leaks no foreign byte."""
    words = [key if word == KEY else word for word in READERS[command]]
    before = names_in(folder)
    result: Told = weft(*words)
    relative = str(place.relative_to(folder))
    result.check_one_line(5, relative)
    assert MARK not in result.err
    assert names_in(folder) == before


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize("name", ["ledger.jsonl", "manifest.sqlite", "run.toml"])
def test_every_command_refuses_a_planted_link(
    weft: Weft, folder: Path, command: str, name: str
) -> None:
    key = key_of(folder / "run")
    refuse(weft, folder, command, plant(folder, name, "link"), key)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TOP)
def test_every_kind_at_the_top_is_refused(weft: Weft, folder: Path, name: str, kind: str) -> None:
    key = key_of(folder / "run")
    place = plant(folder, name, kind)
    for command in ("status", "verify", "resume", "explain"):
        refuse(weft, folder, command, place, key)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "command"),
    [(name, command) for name in OBJECTS for command in OF_OBJECTS]
    + [(name, command) for name in LOGS for command in OF_LOGS],
)
def test_every_kind_further_down_is_refused_by_what_reads_it(
    weft: Weft, folder: Path, name: str, command: str, kind: str
) -> None:
    key = key_of(folder / "run")
    refuse(weft, folder, command, plant(folder, name, kind), key)


@pytest.mark.parametrize("name", ["objects/ab", "repo.git/HEAD", "logs/x", "objects/staging"])
def test_unfinished_run_with_a_link_anywhere_is_not_gone_on_with(
    weft: Weft, tmp_path: Path, name: str
) -> None:
    interrupt(weft, tmp_path)
    place = tmp_path / "r" / name
    place.parent.mkdir(exist_ok=True)
    if place.is_dir():
        shutil.rmtree(place)
    place.symlink_to(tmp_path)
    before = (tmp_path / "r" / "ledger.jsonl").read_bytes()
    for words in (("resume", "r"), ("run", "slow:slow", "--out", "r")):
        weft(*words).check_one_line(5, f"r/{name}", "symbolic link")
    assert (tmp_path / "r" / "ledger.jsonl").read_bytes() == before


@pytest.mark.parametrize("name", [".lock", ".owner", "objects", "run.toml.tmp"])
def test_new_run_into_a_folder_with_a_link_writes_through_none(
    weft: Weft, tmp_path: Path, name: str
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "mine").write_text(MARK)
    (tmp_path / "out" / name).symlink_to(tmp_path / "mine")
    weft("run", "small.py:squares", "--out", "out").check_one_line(5, f"out/{name}")
    assert (tmp_path / "mine").read_text() == MARK


def test_run_reached_through_a_link_is_read(weft: Weft, folder: Path) -> None:
    (folder / "here").symlink_to(folder / "run")
    assert weft("verify", "here").code == 0
    assert weft("explain", "here", key_of(folder / "run")).code == 0


def test_key_that_leads_out_of_the_logs_has_none(weft: Weft, folder: Path) -> None:
    from weft.inspect.logs import log_tails

    run = RunFolder(folder / "run")
    (folder / "foreign" / "1.log").write_text(MARK)
    key = key_of(run.path)
    assert log_tails(run.logs, key, 100) != []
    for wrong in ("../../foreign", str(folder / "foreign"), f"{key}/../../../foreign", "", ".."):
        assert log_tails(run.logs, wrong, 100) == []


@pytest.mark.skipif(sys.platform != "linux", reason="FIFO semantics")
def test_fifo_for_a_log_of_another_attempt_is_refused_not_waited_for(
    weft: Weft, folder: Path
) -> None:
    key = key_of(folder / "run")
    os.mkfifo(folder / "run" / "logs" / key / "9.log")
    weft("explain", "run", key).check_one_line(5, "9.log", "FIFO")
