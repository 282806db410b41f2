"""Every command shown on a page is run, and its output compared with the page.

A page's consoles and Python files are followed in order, in a separate folder; new pages, and new
consoles on old pages, are followed without changes here. Blocks that cannot run in a test are
listed in NOT_RUN with the reason, and a block that is neither followed nor listed is a failure.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.shown import (
    NAMES,
    ROOT,
    Block,
    block_of,
    check_said,
    consoles,
    follow,
    not_followed,
    said_by,
)

RIGS = "three rigs over SSH: tests/ray/test_nodes.py does the same with real sshds"
SERVES = "goes on until Ctrl-C: tests/inspect/serve/test_command.py::test_commands_of_the_page_run"
MODEL = "asks a model: tests/searches/tree/test_agents.py does the same with a server of its own"
ASKS = "waits for a person: tests/searches/tree/test_approve.py"
CHANNEL = "a scorer in another language: tests/searches/tree/test_harness.py"
INSTALLS = "makes a virtual environment"
INSTALLED = f"{INSTALLS}: tests/test_install.py"
PLUGIN = "tests/test_plugin.py::test_page_shows_the_plugin_as_it_is"
NOT_RUN = {
    "README.md": {
        "make demo": "installs; tests/cli/test_demo.py runs `weft demo` and has its heads",
        "make test": "this test would run itself",
    },
    "CONTRIBUTING.md": {"make test": "this test would run itself"},
    "docs/install.md": {
        "make demo": "installs; tests/cli/test_demo.py runs `weft demo`",
        "pip install -e '.[all]' -c constraints.txt": INSTALLED,
        "pip install 'weft[arc,serve]'": INSTALLED,
        "pip install weft": INSTALLED,
        "weft doctor": "tests/test_doctor.py",
    },
    "docs/tutorial.md": {
        "pip install weft": INSTALLED,
        "python3 -m venv .venv && . .venv/bin/activate": INSTALLED,
    },
    "docs/benchmarks/README.md": {"make bench": "takes an hour on a quiet machine"},
    "docs/ship-your-search.md": {
        "pip install ./examples/plugin": f"{INSTALLS}: {PLUGIN}",
        "from weft import Product": PLUGIN,
        "@app.command()": PLUGIN,
        'weft hello "hello, world" --out runs/hello --workers 2': PLUGIN,
        "weft status runs/hello": PLUGIN,
        "weft report runs/hello": PLUGIN,
        "weft verify runs/hello": PLUGIN,
    },
    "docs/nodes.md": {
        "weft nodes check nodes.toml": RIGS,
        "weft nodes up nodes.toml": RIGS,
        "weft jobs run jobs.toml --backend ray --nodes nodes.toml --out runs/jobs": RIGS,
        "weft arc solve --split training --backend ray --nodes nodes.toml --out runs/arc": RIGS,
        "weft tree run tree.toml --backend ray --nodes nodes.toml --out runs/tree": RIGS,
        "weft run climb.py:climb --backend ray --nodes nodes.toml --out runs/climb": RIGS,
        "weft nodes down nodes.toml": RIGS,
    },
    "docs/tree.md": {
        "weft tree run routes/tree.toml --out runs/small --max-depth 1": MODEL,
        "weft tree run routes/tree.toml --out runs/night --max-depth 4 --events runs/night.jsonl": (
            MODEL
        ),
        "weft tree approve runs/night": ASKS,
        'weft tree approve runs/night e7 --no --note "keep it simple"': ASKS,
    },
    "docs/tree-scores.md": {
        "from pathlib import Path": CHANNEL,
    },
    "docs/prng.md": {
        "from weft.searches.prng import analyse, recover": "tests/searches/prng/test_programs.py",
    },
    "docs/serve.md": {
        "weft serve": SERVES,
        "weft serve RUNS": SERVES,
        "weft serve RUNS --port 8800": SERVES,
        "ssh -L 8800:127.0.0.1:8800 the-machine": "needs another machine",
    },
}
SYNOPSES = "docs/cli.md"
"""Generated from the commands themselves; tests/test_frame.py compares."""
FOLLOWED = [name for name in NAMES if consoles(ROOT / name)]


def copy_example(*names: str) -> Callable[[Path], Path]:
    """Start in the first of some examples, with the others beside it."""

    def prepare(folder: Path) -> Path:
        for name in names:
            shutil.copytree(ROOT / "examples" / name, folder / Path(name).name)
        return folder / Path(names[0]).name

    return prepare


def copy_examples(folder: Path) -> Path:
    """Start in a folder that looks like a clone of the project."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    return folder


def with_tides(folder: Path) -> Path:
    (folder / "tides.py").write_text(block_of("docs/guide.md", "python", "# tides.py\n"), "utf-8")
    return folder


def with_run(folder: Path) -> Path:
    """Start in a folder where the README's climb has been run, into RUN."""
    (folder / "climb.py").write_text(block_of("README.md", "python", "# climb.py\n"), "utf-8")
    line = 'weft run climb.py:climb --args \'{"width": 3, "depth": 5}\' --out RUN'
    check_said(said_by(line, folder), "answer  7\n…")
    return folder


def with_program(folder: Path) -> Path:
    (folder / "program.txt").write_text(block_of("docs/arc-language.md", "", "a = "), "utf-8")
    return folder


PREPARED: dict[str, Callable[[Path], Path]] = {
    "docs/arc-language.md": with_program,
    "docs/coming-from.md": copy_examples,
    "docs/jobs.md": copy_example("jobs"),
    "docs/operations.md": with_tides,
    "docs/pack.md": with_run,
    "docs/report.md": with_run,
    "docs/tree.md": copy_example("tree/binpack", "tree/proposer"),
}


@pytest.fixture(scope="session")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Follow a page once; return the folder in which it was followed."""
    places: dict[str, Path | AssertionError] = {}

    def go(name: str) -> Path:
        if name not in places:
            places[name] = followed_in(tmp_path_factory.mktemp("page"), name)
        place = places[name]
        if isinstance(place, AssertionError):  # a page that is wrong is not followed again
            raise place
        return place

    return go


def followed_in(folder: Path, name: str) -> Path | AssertionError:
    """Follow a page; return the folder, or the first statement that is wrong."""
    place = PREPARED.get(name, lambda folder: folder)(folder)
    try:
        follow(ROOT / name, place)
    except AssertionError as wrong:
        return wrong
    return place


@pytest.mark.xdist_group("pages")  # one process: commands of all pages fork from one server
@pytest.mark.parametrize("name", FOLLOWED)
def test_page_says_what_its_commands_print(name: str, followed: Callable[[str], Path]) -> None:
    assert followed(name).is_dir()


# -- nothing is forgotten ----------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in NAMES if name != SYNOPSES])
def test_commands_of_page_are_followed_or_listed(name: str) -> None:
    assert sorted(not_followed(ROOT / name)) == sorted(NOT_RUN.get(name, {}))


def test_list_names_pages_that_are_there() -> None:
    assert set(NOT_RUN) | set(PREPARED) <= set(NAMES)


@pytest.mark.parametrize(
    "reason", sorted({reason for lines in NOT_RUN.values() for reason in lines.values()})
)
def test_reason_names_a_test_that_is_there(reason: str) -> None:
    for path, _, test in re.findall(r"(tests/[\w/]+\.py)(::(\w+))?", reason):
        assert f"def {test}" in (ROOT / path).read_text("utf-8")


@pytest.mark.parametrize(
    "line", sorted({line for lines in NOT_RUN.values() for line in lines if line[:5] == "make "})
)
def test_make_target_that_is_not_run_exists(line: str) -> None:
    words = ["make", "--dry-run", *line.split()[1:]]
    result = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("```\nweft verify RUN   # checked\n```\n", ["weft verify RUN"]),
        ("```sh\n$ make  demo\nmaking\n```\n", ["make demo"]),
        ("    pip install x\n", ["pip install x"]),
        ("```text\nweft: refused; weft resume x\n```\n", []),
        ("```python\nimport weft\n```\n", ["import weft"]),
        ("```python\n# a.py\nimport weft\n```\n", ["# a.py"]),
        ("```python\n# a.py\nimport weft\n```\n\n```console\n$ python a.py\n```\n", []),
        ("```console\n$ weft verify RUN\n```\n", []),
    ],
)
def test_block_that_is_not_followed_is_found(text: str, left: list[str], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# A page\n\n{text}", "utf-8")
    assert not_followed(page) == left


@pytest.mark.parametrize(
    ("shown", "printed", "right"),
    [
        ("a … c", "a b c", True),
        ("a … c", "a b\nc", False),
        ("a\n…\nd", "a\nb\nc\nd", True),
        ("a\n…", "a\nb\nc", True),
        ("a\n…\nd", "a\nb\nc", False),
        ("a.c", "abc", False),
        ("", "words", False),
    ],
)
def test_console_that_says_something_else_is_found(shown: str, printed: str, right: bool) -> None:
    if right:
        check_said(printed, shown)
    else:
        with pytest.raises(AssertionError, match="expected"):
            check_said(printed, shown)


def test_page_whose_command_prints_something_else_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\n# a.py\nprint(3)\n```\n\n```console\n$ python a.py\n4\n```\n")
    with pytest.raises(AssertionError, match="4\n"):
        follow(page, tmp_path)
    assert Block("python", "# a.py\nprint(3)\n").file == "a.py"
