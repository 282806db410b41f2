"""Bad input to `weft prng`: one line, the right exit code, and nothing on disk.

Commands run in this process, so that a case costs almost nothing: all of them are refused early.
"""

from __future__ import annotations

import importlib.util
import io
import json
import sys
from pathlib import Path

import pytest

from weft import main
from weft.errors import Interrupted
from weft.searches.prng.history import MAX_BYTES
from weft.searches.prng.kernels import cuda

SEED = ("java", "--seed", "1")
DRAWS = [str(i * i * 7919 % 1000) for i in range(100)]
TRAINING = {
    "pool_size": 50, "layers": [16], "epochs": 60, "trees": 100, "depth": 3, "min_leaf": 1,
    "folds": 3,
}  # fmt: skip


@pytest.fixture
def refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Refused:
    """Run commands that must fail in a folder with draws, and check that they leave nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "draws.csv").write_text("\n".join(DRAWS))
    return Refused(capsys, tmp_path)


class Refused:
    """Runs a command and checks that it was refused in one line and left no files."""

    def __init__(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        self.capsys, self.folder = capsys, folder

    def __call__(self, code: int, said: str, *words: str) -> None:
        before = sorted(self.folder.rglob("*"))
        self.capsys.readouterr()
        exit_code = main._exit_code(["prng", *words])
        out, err = self.capsys.readouterr()
        assert (exit_code, out) == (code, ""), err
        assert err.startswith("weft: "), err
        assert err.count("\n") == 1, err
        assert said in err
        assert sorted(self.folder.rglob("*")) == before


# -- draws -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty; write one draw per row"),
        (b"[1, 2", "not valid JSON: Expecting ',' delimiter (line 1 column 6); correct it there"),
        (b"\n\n", "is empty"),
        (b"draw\n", "a header but no draws"),
        (bytes(range(256)), "not UTF-8 text at byte 128; "),
        (b"1\0", "NUL character"),
        (b"1\nx\n", 'row 2: "x" is not an integer'),
        (b"1.5\n", "neither an integer nor a heading"),
        (b"1\n-2\n", "is not from 0 to 2^64 - 1"),
        (b"{}", "should be a list of draws, not an object"),
        (b"[1, 2", "line 1 column"),
        (b"[1, NaN]", "NaN is not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"1\n1000\n", "draw 2 is 1000, not below the modulus 1000; give --modulus 1001"),
        (b"1\n9999999999\n", "2^32 is the greatest"),
        (b"draw,session\n1,a\n2\n", "row 2 has no session"),
    ],
)
@pytest.mark.parametrize("command", ["analyse", "pipeline"])
def test_draws_that_cannot_be_read_are_refused(
    refused: Refused, tmp_path: Path, command: str, data: bytes, said: str
) -> None:
    (tmp_path / "bad").write_bytes(data)
    refused(3, f"bad: {said}" if data[:4] == b"1\n10" else said, command, "bad", "--out", "run")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"0.5\n0.25\nabc\n", 'draw 3 is "abc", not a fraction from 0 to 1 as others are; correct'),
        (b"x\n0.5\n1.5\n0.75\n0.3\n", 'draw 2 is "1.5", not a fraction'),
        (b"0.5\nabc\n", "neither an integer nor a heading"),
        (b"\xff\0\1", "not UTF-8 text at byte 0; weft prng guess bad says what can be read"),
    ],
)
def test_analyse_names_what_is_odd_about_draws(
    refused: Refused, tmp_path: Path, data: bytes, said: str
) -> None:
    (tmp_path / "bad").write_bytes(data)
    refused(3, said, "analyse", "bad", "--out", "run")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere.csv", "weft: nowhere.csv: there is no such file; name a file of draws"),
        ("", "weft: .: is a folder; name the file with the draws\n"),
        ("two\nlines ü.csv", r"weft: two\nlines ü.csv: there is no such file"),
        ("draws.csv/more", "draws.csv/more: Not a directory"),
        ("x" * 300, "File name too long"),
    ],
)
def test_draws_that_are_not_there_are_refused(refused: Refused, name: str, said: str) -> None:
    refused(3, said, "analyse", name, "--out", "run")


def test_draws_without_an_end_are_refused(
    refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Endless(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            assert size == MAX_BYTES + 1
            return b"1\n" * (size // 2 + 1)

    monkeypatch.setattr(sys, "stdin", type("In", (), {"buffer": Endless()}))
    refused(3, "standard input: more than 268,435,456 bytes", "analyse", "-", "--out", "run")


@pytest.mark.parametrize(("modulus", "needed"), [(1000, 6), (10, 16), (2, 52)])
def test_draws_that_are_too_few_are_refused_with_how_many_are_needed(
    refused: Refused, tmp_path: Path, modulus: int, needed: int
) -> None:
    (tmp_path / "few").write_text("1\n" * (needed - 1))
    message = (
        f"few: {needed - 1} draws below {modulus} identify no generator; at least {needed} are"
    )
    refused(3, message, "analyse", "few", "--modulus", str(modulus), "--out", "run")


# -- options ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "said", "words"),
    [
        (2, "--modulus must be 2 to 4294967296, not 1", ["--modulus", "1"]),
        (2, "--modulus must be 2 to 4294967296", ["--modulus", "5000000000"]),
        (2, "--skips must be an ascending range within 0:100000, not '5:2'", ["--skips", "5:2"]),
        (2, "--skips must be an ascending range within", ["--skips=-1:4"]),
        (2, "--skips takes LO:HI or a number", ["--skips", "1:2:3"]),
        (2, "--starts takes LO:HI or a number, not 'x'", ["--starts", "x"]),
        (2, "--starts takes LO:HI", ["--starts", "\u0661"]),
        (2, "--corrupt is a share from 0 to 0.3", ["--corrupt", "0.9"]),
        (2, "--corrupt is a share from 0 to 0.3", ["--corrupt", "nan"]),
        (2, "--effort must be one of", ["--effort", "much"]),
        (2, "--predict must be 0 to 10000", ["--predict", "-1"]),
        (2, "no generator 'dice'; weft prng families lists them", ["--families", "java,dice"]),
        (2, "no generator 'jawa'; did you mean java", ["--families", "jawa"]),
        (2, "did you mean bounded?", ["--outputs", "bound"]),
        (2, "did you mean integers", ["--form", "integer"]),
        (2, "--families ',' is empty; omit --families", ["--families", ","]),
        (2, "--outputs '' is empty", ["--outputs", ""]),
        (2, "output map 'nothing'; they have bounded", ["--outputs", "nothing"]),
        (2, "--device must be one of auto, cpu, gpu", ["--device", "abacus"]),
        (2, "--workers must be 1 to 4096", ["--workers", "0"]),
        (2, "--ray-address needs --backend ray", ["--ray-address", "x:1"]),
        (2, "--wall-limit must be above 0", ["--wall-limit", "nan"]),
        (2, "--simulate-nodes needs --nodes", ["--simulate-nodes"]),
        (3, "draws.csv is not a folder", ["--out", "draws.csv"]),
    ],
)  # fmt: skip
def test_analyse_bad_option_is_refused(
    refused: Refused, code: int, said: str, words: list[str]
) -> None:
    refused(code, said, "analyse", "draws.csv", "--out", "run", *words)


def test_analyse_on_a_gpu_that_is_not_there_is_refused(
    refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")  # also on machines with one
    message = "--device gpu: this machine has no GPU that CuPy can use; leave it out"
    refused(3, message, "analyse", "draws.csv", "--device", "gpu", "--out", "run")


def test_task_on_a_machine_without_a_gpu_takes_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "is_available", lambda: False)
    assert [cuda.chosen(device) for device in ("auto", "cpu", "gpu")] == ["cpu"] * 3
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    assert [cuda.chosen(device) for device in ("auto", "cpu", "gpu")] == ["gpu", "cpu", "gpu"]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("no generator 'lava'", ["lava", "--seed", "1"]),
        ("no output map 'low'; it has bounded", [*SEED, "--output", "low"]),
        ("--seed N or its --state HEX", ["java"]),
        ("give either the generator's --seed N or its --state HEX", [*SEED, "--state", "00"]),
        ("'one' is not an integer", ["java", "--seed", "one"]),
        ("modulo 2^64", ["java", "--seed", "-1"]),
        ("0 to 2^64-1", ["java", "--seed", str(2**64)]),
        ("not a hexadecimal number", ["java", "--state", "xyz"]),
        ("a state of java has 6 bytes, not 1", ["java", "--state", "00"]),
        ("--modulus must be 2", [*SEED, "--modulus", "1"]),
        ("the modulus of bounded must be 1 to 2147483647", [*SEED, "--modulus", str(2**31)]),
        ("--modulus must be 2", [*SEED, "--modulus", str(2**32 + 1)]),
        ("-n (--count) must be 1", [*SEED, "-n", "0"]),
        ("a valid int", [*SEED, "-n", "many"]),
        ("--skip must be an ascending range within", [*SEED, "--skip", "5:2"]),
        ("--skip takes", [*SEED, "--skip", "a"]),
        ("--start must be 0", [*SEED, "--start", "-1"]),
        ("a share from 0 to 1", [*SEED, "--corrupt", "1.5"]),
        ("a share from 0 to 1", [*SEED, "--corrupt", "nan"]),
        ("--corrupt-seed must be", [*SEED, "--corrupt-seed", "-1"]),
        ("more than", [*SEED, "-n", "10000000", "--skip", "100000"]),
    ],
)
def test_generate_bad_option_is_refused(refused: Refused, said: str, words: list[str]) -> None:
    refused(2, said, "generate", *words)


@pytest.mark.parametrize(
    ("code", "said", "words"),
    [
        (2, "--seeds takes N or LO:HI, not 'x'", ["--seeds", "x"]),
        (2, "--seeds 5:1 is empty", ["--seeds", "5:1"]),
        (2, "--seeds 0 is empty", ["--seeds", "0"]),
        (2, "java has seeds 0:281474976710656", ["--seeds", str(2**48 + 1)]),
        (2, "sieves 4,294,967,296 at most; weft prng analyse", ["--seeds", str(2**40)]),
        (2, "--skips must be an ascending range within 0:1000, not '5:1'", ["--skips", "5:1"]),
        (2, "--starts must be an ascending range within 0:100000", ["--starts", "0:9999999"]),
        (2, "--to: there is no step '7'; steps are 1, 2.5", ["--to", "7"]),
        (2, "--model must be auto or one of", ["--model", "oracle"]),
        (2, "--net must be one of sklearn, torch", ["--net", "oracle"]),
        (2, "--nulls must be 99 to 10000, not 20", ["--nulls", "20"]),
        (2, "--nulls must be 99 to 10000", ["--nulls", "100000000"]),
        (2, "--top-k must be 1 to 10000, not 0", ["--top-k", "0"]),
        (2, "--window-trials must be 1", ["--window-trials", "0"]),
        (2, "no generator 'dice'", ["--family", "dice"]),
        (2, "java has no output map 'low'", ["--output", "low"]),
        (2, "--output raw", ["--output", "raw"]),
        (2, "--modulus must be 2 to 65536, not 1", ["--modulus", "1"]),
        (2, "--modulus must be 2 to 65536, not 70000", ["--modulus", "70000"]),
        (3, "not below the modulus 500; give --modulus 9", ["--modulus", "500"]),
        (2, "--from: there is no step '9'", ["--from", "9", "nowhere"]),
        (3, "nowhere is not a run folder", ["--from", "3", "nowhere"]),
        (2, "--to 3 is before --from 5", ["--from", "5", "nowhere", "--to", "3"]),
        (2, "--params belongs to step 4, which is before --from 5; leave it out",
         ["--from", "5", "nowhere", "--params", "p.json"]),
        (2, "--window-trials belongs to step 1", ["--from", "2.5", "x", "--window-trials", "2"]),
        (3, "--params nowhere.json: No such file", ["--params", "nowhere.json"]),
        (2, "--wall-limit must be above 0", ["--wall-limit", "-1"]),
    ],
)  # fmt: skip
def test_pipeline_bad_option_is_refused(
    refused: Refused, code: int, said: str, words: list[str]
) -> None:
    refused(code, said, "pipeline", "draws.csv", "--out", "run", *words)


def test_pipeline_with_torch_not_installed_says_what_to_install(
    refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    without = lambda name, *more: None if name == "torch" else find(name, *more)  # noqa: E731
    monkeypatch.setattr(importlib.util, "find_spec", without)
    message = "needs torch, not installed; pip install 'weft[torch]'"
    refused(3, message, "pipeline", "draws.csv", "--out", "run", "--net", "torch")


def test_pipeline_without_draws_is_refused(refused: Refused) -> None:
    refused(2, "DRAWS is missing; name a file of draws", "pipeline", "--out", "run")


@pytest.mark.parametrize(
    ("rows", "said"),
    [(79, "79 draws; the pipeline needs 80 or more"), (20_001, "takes 20,000 at most")],
)
def test_pipeline_on_too_few_or_too_many_draws_is_refused(
    refused: Refused, tmp_path: Path, rows: int, said: str
) -> None:
    (tmp_path / "rows").write_text("1\n" * rows)
    refused(3, f"rows: {said}" if rows < 80 else said, "pipeline", "rows", "--out", "run")


def test_pipeline_that_could_tell_nothing_apart_is_refused(
    refused: Refused, tmp_path: Path
) -> None:
    (tmp_path / "bits").write_text("0\n1\n" * 50)
    words = ["--modulus", "2", "--seeds", str(2**32), "--starts", "0:100000", "--out", "run"]
    refused(2, "cannot tell", "pipeline", "bits", *words)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ([], "not a JSON object"),
        ({"trees": None}, "trees is missing; weft prng adapt --apply writes it"),
        ({"epochs": "x"}, "epochs must be 10 to 2000, not 'x'"),
        ({"epochs": True}, "epochs must be 10 to 2000, not True"),
        ({"layers": []}, "layers must be 1 to 4 widths"),
        ({"layers": 5}, "layers must be 1 to 4 widths"),
        ({"epoch": 50}, "unknown parameter 'epoch'"),
    ],
)
def test_pipeline_params_of_the_wrong_type_are_refused(
    refused: Refused, tmp_path: Path, changed: object, said: str
) -> None:
    body = changed
    if isinstance(changed, dict):
        body = {n: v for n, v in {**TRAINING, **changed}.items() if v is not None}
    (tmp_path / "p.json").write_text(json.dumps(body))
    refused(3, said, "pipeline", "draws.csv", "--out", "run", "--params", "p.json")


@pytest.mark.parametrize(
    ("code", "said", "words"),
    [
        (2, "--mode must be full, not 'half'", ["--mode", "half"]),
        (2, "--modulus must be 2", ["--modulus", "0"]),
        (3, "--lottery-data: draw 2 is 919, not below the modulus 500", ["--modulus", "500"]),
        (3, "neither Parquet nor JSON", []),
    ],
)
def test_adapt_bad_input_is_refused(
    refused: Refused, code: int, said: str, words: list[str]
) -> None:
    data = ["--lottery-data", "draws.csv", "--survivor-data", "draws.csv"]
    refused(code, said, "adapt", *data, "--apply", *words)


# -- Ctrl-C ----------------------------------------------------------------------------------------


def test_interrupted_command_says_so_in_one_line(
    refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("weft.searches.prng.planting.make_history", press)
    refused(130, "weft: interrupted\n", "generate", *SEED)
    monkeypatch.setattr("weft.searches.prng.run.load_history", press)
    refused(130, "weft: interrupted\n", "pipeline", "draws.csv", "--out", "run")


def test_interrupted_analysis_that_keeps_nothing_names_no_folder(
    refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise Interrupted(
            "interrupted after 1 tasks; no completed task is lost", hint="weft resume x"
        )

    monkeypatch.setattr("weft.searches.prng.run.execute", stop)
    message = "weft: interrupted after 1 tasks; nothing is saved without --out DIR\n"
    refused(130, message, "analyse", "draws.csv", "-q")
