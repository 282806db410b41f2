"""Startup: help and import are quick and load nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter

import pytest

from weft import main

HEAVY = (
    "cryptography", "filelock", "jinja2", "psutil", "pydantic", "rich", "sqlite3", "starlette",
    "uvicorn", "weft.backends", "weft.coordinator", "weft.storage",  # what a run needs
)  # fmt: skip
LOADED = {
    "weft", "weft.cli", "weft.console", "weft.console.listing", "weft.console.render",
    "weft.demo", "weft.doctor",
    "weft.errors", "weft.lazy_imports", "weft.main", "weft.model",
    "weft.product", "weft.searches",
    *(f"weft.searches.{name}" for name in ("arc", "jobs", "prng", "tree")),
    *(f"weft.searches.{name}.product" for name in ("arc", "jobs", "prng", "tree")),
    "weft.version",
}  # fmt: skip
"""The modules of Weft that `weft --help` executes; all others are lazy or never imported."""
LIMIT_S = 0.25
BARE_STARTS = 20
"""The limit on a slow machine, in starts of an interpreter that does nothing."""


@pytest.mark.parametrize(
    "code",
    ["import weft", "import weft.main", "import weft.main as m; m._exit_code(['--help'])"],
)
def test_start_loads_nothing_heavy(code: str) -> None:
    report = (
        f"{code}\nimport sys\nprint([n for n in {HEAVY!r} if n in sys.modules], file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True)
    assert result.stderr.strip() == "[]", result


@pytest.mark.parametrize(
    ("code", "loaded"),
    [
        ("import weft", {"weft"}),
        ("import weft.main as m; m._exit_code(['--help'])", LOADED),
        ("import weft.main as m; m._exit_code(['--version'])", LOADED),
    ],
    ids=["import", "help", "version"],
)
def test_start_loads_of_weft_only_what_it_needs(code: str, loaded: set[str]) -> None:
    report = (
        f"{code}\nimport sys\nfrom types import ModuleType\n"
        "for name, module in sorted(sys.modules.items()):\n"
        "    if name.split('.')[0] == 'weft' and type(module) is ModuleType:\n"
        "        print(name, file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True)
    assert set(result.stderr.split()) == loaded


def test_command_is_listed_by_the_first_sentence_of_its_help() -> None:
    group = main.commands()
    for name, (_, summary) in main.OWN.items():
        assert group.commands[name].name == name
        assert summary == group.commands[name].help.split("\n\n")[0], name


@pytest.mark.parametrize("group", [[], ["nodes"], ["arc"], ["jobs"], ["prng"], ["tree"]])
def test_help_of_a_narrow_terminal_lists_whole_sentences(
    group: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert main._exit_code([*group, "--help"]) == 0
    listed = capsys.readouterr().out.partition("Commands:")[2]
    assert listed
    assert "..." not in listed
    assert max(map(len, listed.splitlines())) <= 60


@pytest.mark.parametrize(
    "words", [["-m", "weft.main", "--help"], ["-c", "import weft"]], ids=["help", "import"]
)
def test_start_is_quick(words: list[str]) -> None:
    """One try of ten must be quick: machines have slow moments, and Python may start slowly."""
    tries: list[tuple[float, float]] = []
    while not any(ours < max(LIMIT_S, BARE_STARTS * bare) for ours, bare in tries):
        assert len(tries) < 10, tries
        tries.append((took_s(*words), took_s("-c", "pass")))


def took_s(*words: str) -> float:
    start_s = perf_counter()
    subprocess.run([sys.executable, *words], capture_output=True, check=True)
    return perf_counter() - start_s


EARLY = """
import sys
class Interrupting:
    def find_spec(self, name, path, target=None):
        if name == "weft.main":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
from weft.__main__ import main
main()
"""


def test_ctrl_c_while_the_commands_are_loaded_is_one_line() -> None:
    result = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "weft: interrupted\n")


def test_commands_compute_in_one_thread() -> None:
    code = (
        "import os, sys\nfrom weft.__main__ import main\nsys.argv[1:] = ['--version']\n"
        "try:\n    main()\nexcept SystemExit:\n    import numpy\n"
        "    print(len(os.listdir('/proc/self/task')), file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stderr.split() == ["1"], "BLAS threads of the command itself"
