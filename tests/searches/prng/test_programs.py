"""A recovered generator continues, rewinds and exports: its program generates the same draws."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.tools import require_tool
from weft import main
from weft.errors import UsageError
from weft.searches.prng import Generator, analyse, recover, run
from weft.searches.prng.families import SINGLE as FAMILIES
from weft.searches.prng.generate import generate
from weft.searches.prng.history import History
from weft.searches.prng.hypothesis import Hypothesis, Skips
from weft.searches.prng.programs import LANGUAGES, program
from weft.searches.prng.request import AnalyseRequest
from weft.searches.prng.search import found_at_once

MAPS = [(family.name, output) for family in FAMILIES for output in family.outputs]
SAMPLE = [
    ("java", "bounded"), ("php_mt", "bounded"), ("go", "scaled"), ("dotnet", "bounded"),
    ("philox4x32", "mod"), ("v8", "scaled"), ("musl", "raw"),
]  # fmt: skip
COUNT = 700
"""More than one block of a Mersenne Twister."""


def truth(family: str, output: str) -> Hypothesis:
    return Hypothesis(family, output, 1000, seed=12345, skips=Skips.constant(1), start=2)


def printed_by(text: str, language: str, folder: Path, *arguments: object) -> list[int]:
    """Run a program as its first lines describe, and return the draws it prints."""
    words = [str(argument) for argument in arguments]
    if language == "python":
        (folder / "draws.py").write_text(text)
        command = [sys.executable, "-I", "-S", str(folder / "draws.py"), *words]
    elif language == "c":
        require_tool("gcc")
        (folder / "draws.c").write_text(text)
        build = ["gcc", "-Wall", "-Wextra", "-Werror", "-o", "draws", "draws.c"]
        subprocess.run(build, cwd=folder, check=True)
        command = [str(folder / "draws"), *words]
    else:
        require_tool("java")
        (folder / "Draws.java").write_text(text)
        command = ["java", "-XX:TieredStopAtLevel=1", str(folder / "Draws.java"), *words]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return [int(line) for line in result.stdout.split()]


def rest_is_slow(sample: list[tuple[str, str]]) -> list[object]:
    return [
        case if case in sample else pytest.param(*case, marks=pytest.mark.slow) for case in MAPS
    ]


@pytest.mark.parametrize(("family", "output"), rest_is_slow(SAMPLE))
@pytest.mark.parametrize("language", ["python", "c"])
def test_program_makes_the_draws(family: str, output: str, language: str, tmp_path: Path) -> None:
    expected = generate(truth(family, output), COUNT)
    text = program(truth(family, output), language)
    assert printed_by(text, language, tmp_path, COUNT) == expected


@pytest.mark.parametrize(("family", "output"), rest_is_slow([("java", "scaled"), ("v8", "scaled")]))
def test_program_in_java_makes_the_draws(family: str, output: str, tmp_path: Path) -> None:
    expected = generate(truth(family, output), COUNT)
    assert printed_by(program(truth(family, output), "java"), "java", tmp_path, COUNT) == expected


@pytest.mark.parametrize("language", ["python", "c"])
def test_program_without_skips_makes_every_call_a_draw(language: str, tmp_path: Path) -> None:
    about = Hypothesis("v8", "scaled", 1000, seed=12345)
    text = program(about, language)
    assert "gap" not in text
    assert printed_by(text, language, tmp_path, COUNT) == generate(about, COUNT)


def test_programs_in_java_have_no_name_that_java_refuses() -> None:
    """From release 9 on `_` is a keyword."""
    for family, output in MAPS:
        assert not re.search(r"\b_\b", program(truth(family, output), "java")), family


@pytest.mark.parametrize("language", ["python", "c"])
def test_program_with_skips_that_vary_and_a_state_prints_from_a_draw_on(
    language: str, tmp_path: Path
) -> None:
    skips = Skips((0, 3), (1, 0, 3, 2, 0, 0, 1))
    about = Hypothesis("java", "bounded", 37, state="0123456789ab", skips=skips, start=4)
    text = program(about, language)
    assert printed_by(text, language, tmp_path, 5, 3) == generate(about, 8)[3:]


def test_program_in_a_language_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="--language must be one of python, c, java"):
        program(truth("java", "bounded"), "cobol")


@pytest.mark.parametrize("language", LANGUAGES)
def test_program_is_small(language: str) -> None:
    assert len(program(truth("java", "bounded"), language).splitlines()) < 60


# -- the library -----------------------------------------------------------------------------------


def test_generator_continues_rewinds_and_seeks() -> None:
    stream = generate(truth("msvc", "mod"), 60)
    generator = Generator(truth("msvc", "mod"), 10)
    assert generator.take(5) == stream[10:15]
    generator.rewind(12)
    assert (generator.position, next(generator)) == (3, stream[3])
    generator.seek(50)
    assert [value for value, _ in zip(generator, range(5), strict=False)] == stream[50:55]
    with pytest.raises(UsageError, match="no draw -1"):
        generator.seek(-1)


def test_draws_are_recovered_saved_and_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = generate(Hypothesis("msvc", "mod", 100, seed=4711, start=3), 130)
    draws = [draw + 1 for draw in stream[:100]]  # rolls from 1 to 100
    reach = {"families": ["msvc"], "outputs": ["mod"], "skips": "0:1", "starts": "0:9"}
    settings = {"modulus": 100, "low": 1, "effort": "quick", "workers": 1}
    analysis = analyse(draws, out=tmp_path / "run", **settings, **reach)  # type: ignore[arg-type]
    assert analysis.verdict == "signal"
    assert analysis.next[:20] == [str(draw + 1) for draw in stream[100:120]]
    generator = analysis.generator
    assert generator is not None
    assert generator.take(30) == stream[100:]
    assert Generator.of_run(tmp_path / "run").take(30) == stream[100:]
    assert main._exit_code(["prng", "export-program", str(tmp_path / "run")]) == 0
    text = capsys.readouterr().out
    assert printed_by(text, "python", tmp_path, 30, 100) == stream[100:]


WHOLE_OUTPUTS = [
    ("cpython", "raw", 1 << 32, 633),
    ("php_mt_legacy", "raw", 1 << 32, 640),
    ("v8", "scaled", 1 << 32, 10),
    ("xorshift64", "high", 1 << 32, 12),
]


@pytest.mark.parametrize(("family", "output", "modulus", "count"), WHOLE_OUTPUTS)
def test_states_from_whole_outputs_are_recovered_without_a_run(
    family: str, output: str, modulus: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "execute", None)
    stream = generate(Hypothesis(family, output, modulus, seed=987654321987), count + 50)
    generator = recover(stream[:count], modulus=modulus, families=[family])
    assert generator is not None
    assert generator.take(50) == stream[count:]


def test_recover_finds_in_this_process_what_a_run_finds(tmp_path: Path) -> None:
    stream = generate(Hypothesis("v8", "scaled", 1 << 32, seed=31337), 30)
    generator = recover(stream[:12], modulus=1 << 32, families=["v8"])
    analysis = analyse(stream[:12], modulus=1 << 32, families=["v8"], workers=1)
    assert generator is not None
    assert generator.hypothesis == analysis.answer.found[0].hypothesis


@pytest.mark.parametrize("spoiled", [1, 397, 630])
def test_wrong_word_is_not_recovered_at_once(spoiled: int) -> None:
    """A state that misses a draw is rejected, in the training part and in the holdout."""
    words = generate(Hypothesis("cpython", "raw", 1 << 32, seed=5), 633)
    words[spoiled] ^= 1 << 9
    request = AnalyseRequest(1 << 32, families=("cpython",), corrupt_percent=0)
    assert found_at_once(History(tuple(words)), request) is None


def test_state_recovered_at_once_loads_neither_a_run_nor_compiled_code() -> None:
    code = (
        "import sys; from weft.searches.prng import recover;"
        "draws = [int(line) for line in sys.stdin];"
        "generator = recover(draws, modulus=1 << 32, families=['v8']);"
        "unused = ('weft.coordinator.loop', 'weft.storage.folder', 'numpy', 'numba');"
        "print(generator.take(3), [name for name in unused if name in sys.modules])"
    )
    stream = generate(Hypothesis("v8", "scaled", 1 << 32, seed=31337), 15)
    text = "".join(f"{draw}\n" for draw in stream[:12])
    argv = [sys.executable, "-c", code]
    result = subprocess.run(argv, input=text, check=True, capture_output=True, text=True)
    assert result.stdout.strip() == f"{stream[12:]} []"


@pytest.mark.slow
def test_draws_of_nobody_recover_nothing() -> None:
    draws = [(at * at * 7919 + at) % 997 % 100 for at in range(60)]
    options = {"families": ["borland"], "outputs": ["mod"], "effort": "quick"}
    assert recover(draws, modulus=100, workers=1, **options) is None  # type: ignore[arg-type]


def test_export_of_what_is_no_analysis_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main._exit_code(["prng", "export-program", str(tmp_path)]) == 3
    assert capsys.readouterr().err.count("\n") == 1
