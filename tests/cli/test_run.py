from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Weft, hold, tree, write_slow
from tests.support.commands import COMMAND

KEYS = {
    "schema_version", "run", "search", "status", "answer", "head", "size", "tasks",
    "timing_dependent", "out",
}  # fmt: skip


def test_run_module_prints_answer_and_head_last(weft: Weft) -> None:
    result = weft("run", "small:squares", "--out", "r")
    assert result.code == 0, result
    lines = result.out.splitlines()
    assert lines[0].split() == ["answer", "30"]
    assert lines[-1].startswith("head ")
    assert lines[-1].endswith("verified by: weft verify r")
    assert result.err == ""


def test_run_file_and_module_give_the_same_head(weft: Weft, tmp_path: Path) -> None:
    first = weft("run", "small:squares", "--out", "a", "--json").json
    other = tmp_path / "elsewhere"
    other.mkdir()
    second = weft("run", "../small.py:squares", "--out", "b", "--json", cwd=other).json
    assert first["head"] == second["head"]


def test_run_file_inside_a_package_is_known_by_its_full_name(weft: Weft, tmp_path: Path) -> None:
    package = tmp_path / "deep" / "pack"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "inner.py").write_text((tmp_path / "small.py").read_text())
    result = weft("run", "deep/pack/inner.py:squares", "--out", "r", "--json")
    assert result.json["search"] == "pack.inner:squares"


def test_run_path_option_finds_the_module(weft: Weft, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    result = weft("run", "small:squares", "--path", "..", "--out", "r", "--json", cwd=empty)
    assert result.json["answer"] == 30


def test_run_json_is_one_object_with_the_promised_fields(weft: Weft) -> None:
    result = weft("run", "small:squares", "--args", '{"count": 3}', "--out", "r", "--json")
    assert set(result.json) == KEYS
    assert result.json["tasks"] == {"completed": 3, "failed": 0}
    assert result.json["status"] == "answered"
    assert result.json["answer"] == 5


@pytest.mark.parametrize(
    ("search", "code", "status"),
    [("squares", 0, "answered"), ("unsure", 1, "unknown"), ("broken", 4, "unknown")],
)
def test_run_exit_code_says_how_it_ended(weft: Weft, search: str, code: int, status: str) -> None:
    result = weft("run", f"small:{search}", "--out", "r", "--json")
    assert (result.code, result.json["status"]) == (code, status)


def test_run_unknown_answer_is_labelled(weft: Weft) -> None:
    result = weft("run", "small:unsure", "--out", "r")
    assert result.out.splitlines()[0] == 'unknown {"unknown": "ambiguous", "detail": [1, 2]}'


def test_run_answer_that_is_an_object_is_printed_by_its_digest(weft: Weft) -> None:
    result = weft("run", "small:stores", "--out", "r", "--json")
    assert list(result.json["answer"]) == ["$o"]


def test_run_seed_input_and_budget_reach_the_search(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"12345")
    words = ["--seed", "9", "--input", "table=t.csv", "--budget", "tries=4"]
    result = weft("run", "small:informed", *words, "--out", "r", "--json")
    assert result.json["answer"] == [9, 5, 4]


def test_run_args_from_a_file(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"count": 2}')
    assert (
        weft("run", "small:squares", "--args", "@a.json", "--out", "r", "--json").json["answer"]
        == 1
    )


@pytest.mark.parametrize("how", [["--backend", "serial"], ["--workers", "3"]])
def test_run_other_execution_gives_the_same_ledger(
    weft: Weft, tmp_path: Path, how: list[str]
) -> None:
    weft("run", "small:squares", "--out", "a")
    weft("run", "small:squares", "--out", "b", *how)
    assert (tmp_path / "a/ledger.jsonl").read_bytes() == (tmp_path / "b/ledger.jsonl").read_bytes()


def test_run_finished_answers_again_and_starts_nothing(weft: Weft, tmp_path: Path) -> None:
    first = weft("run", "small:squares", "--out", "r", "--json")
    before = tree(tmp_path / "r")
    repeated = weft("run", "small:squares", "--out", "r", "--json")
    resumed = weft("resume", "r", "--json")
    assert first.json == repeated.json == resumed.json
    assert tree(tmp_path / "r") == before


def test_run_interrupted_by_wall_limit_then_finished_by_the_same_command(
    weft: Weft, tmp_path: Path
) -> None:
    write_slow(tmp_path)
    hold(tmp_path, 2)
    words = ["run", "slow:slow", "--out", "r"]
    stopped = weft(*words, "--wall-limit", "0.5")
    stopped.check_one_line(130, "interrupted", "weft resume r")
    hold(tmp_path, None)
    result = weft(*words, "--json")
    whole = weft("run", "slow:slow", "--out", "whole", "--workers", "4", "--json")
    assert result.json["head"] == whole.json["head"]


def test_run_verbose_shows_progress_and_quiet_says_nothing_on_stderr(
    weft: Weft, tmp_path: Path
) -> None:
    write_slow(tmp_path)
    hold(tmp_path, 0)
    words = [*COMMAND, "run", "slow:slow", "--out", "a", "-v"]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as loud:
        assert loud.stderr is not None
        first = loud.stderr.readline()
        hold(tmp_path, None)
    assert re.match(r"\d+/\d+\+ tasks, .*\d running", first)
    assert loud.returncode == 0
    quiet = weft("run", "slow:slow", "--args", '{"rounds": 1}', "--out", "b", "-q", "-v")
    assert quiet.err == ""


def test_run_signs_the_last_checkpoint(weft: Weft, tmp_path: Path) -> None:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
    )

    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "key.pem").write_bytes(pem)
    result = weft("run", "small:squares", "--out", "r", "--sign-key", "key.pem", "--json")
    assert result.code == 0, result
    assert (tmp_path / "r/checkpoint.sig").is_file()


SCRIPT = str(Path(sys.executable).with_name("weft"))


@pytest.mark.parametrize("command", [(SCRIPT,), (sys.executable, "-m", "weft")])
def test_console_script_and_module_are_the_same_program(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    result = subprocess.run([*command, "--version"], capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0
    assert result.stdout.startswith("weft ")


def test_json_of_a_run_survives_a_pipe_that_closes(weft: Weft, tmp_path: Path) -> None:
    weft("run", "small:squares", "--out", "r")
    command = f"{sys.executable} -m weft.main run small:squares --out r --json | true"
    result = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert result.stderr == ""
    assert json.loads(weft("run", "small:squares", "--out", "r", "--json").out)
