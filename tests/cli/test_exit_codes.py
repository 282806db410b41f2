"""Every exit code in the table of docs/cli.md is returned by some command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Weft, interrupt
from tests.inspect.runs import put_ledger, read_lines
from tests.support.commands import Told
from weft import main
from weft.cluster.host import host_name
from weft.storage.folder import RunFolder

ROOT = Path(__file__).resolve().parents[2]
SQUARES = ("run", "small.py:squares", "--out", "run")


def answered(weft: Weft, folder: Path) -> Told:
    return weft(*SQUARES)


def unanswered(weft: Weft, folder: Path) -> Told:
    return weft("run", "small.py:unsure", "--out", "run")


def different(weft: Weft, folder: Path) -> Told:
    weft(*SQUARES)
    weft("run", "small.py:squares", "--out", "other", "--seed", "1")
    return weft("diff", "run", "other")


def misused(weft: Weft, folder: Path) -> Told:
    return weft(*SQUARES, "--no-such-option")


def misread(weft: Weft, folder: Path) -> Told:
    return weft("verify", "nowhere")


def failed(weft: Weft, folder: Path) -> Told:
    return weft("run", "small.py:broken", "--out", "run")


def damaged(weft: Weft, folder: Path) -> Told:
    weft(*SQUARES)
    put_ledger(
        folder / "run", b"".join(read_lines(folder / "run")).replace(b'"value":4', b'"value":5')
    )
    return weft("verify", "run")


def locked(weft: Weft, folder: Path) -> Told:
    interrupt(weft, folder)
    with RunFolder(folder / "r").locked(host_name()):
        return weft("resume", "r")


def interrupted(weft: Weft, folder: Path) -> Told:
    return interrupt(weft, folder)


WAYS = {
    0: [answered],
    1: [unanswered, different],
    2: [misused],
    3: [misread],
    4: [failed],
    5: [damaged],
    75: [locked],
    130: [interrupted],
}


@pytest.mark.parametrize(("code", "way"), [(c, w) for c, ways in WAYS.items() for w in ways])
def test_command_ends_with_its_code(started: Weft, tmp_path: Path, code: int, way: object) -> None:
    assert callable(way)
    result = way(started, tmp_path)
    assert result.code == code, result
    if code not in (0, 1, 4):
        assert result.err.startswith("weft: ")
        assert result.err.count("\n") == 1


def test_bug_of_ours_ends_with_its_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr(main, "commands", lambda: broken)
    assert main._exit_code(["status"]) == main.OUR_BUG == 70
    assert "planted" in capsys.readouterr().err


def test_tables_name_every_code_and_no_other() -> None:
    page = (ROOT / "docs" / "cli.md").read_text("utf-8")
    assert {int(n) for n in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)} == {*WAYS, 70}
    readme = (ROOT / "README.md").read_text("utf-8")
    table = readme[readme.index("Exit codes:") :].split("\n\n")[0]
    codes = re.findall(r"(?:^|· |: )\s*(\d+) ", table.replace("\n", " "))
    assert {int(code) for code in codes} == {*WAYS, 70}
