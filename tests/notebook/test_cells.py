"""Searches defined in the cells of a real kernel: run, killed, resumed from a shell, refused."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.notebook.kernels import Kernel, kernel

pytestmark = pytest.mark.xdist_group("cells")  # they share a kernel
IMPORTS = "import weft\nfrom pathlib import Path\nSTEPS = (-3, -1, 1, 3)"
TASK = """
@weft.task
def score(x: int) -> int:
    gate(x)
    return -((x - TARGET) ** 2)
"""
GATE = """
def gate(x):
    pass
TARGET = 7
"""
SEARCH = """
@weft.search(version=1)
def climb(width: int, depth: int):
    beam = [0]
    for _ in range(depth):
        results = yield [score(x + step) for x in beam for step in STEPS]
        ranked = sorted(results, key=lambda r: (-r.value, r.index))
        beam = [r.args["x"] for r in ranked[:width]]
    return beam[0]
"""
RUN = "print(weft.run(climb(3, 4), out={out!r}, workers={workers}).head)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cells")


@pytest.fixture(scope="module")
def book(folder: Path) -> Iterator[Kernel]:
    """A notebook in which the search is defined."""
    with kernel(folder) as book:
        for cell in (IMPORTS, GATE, TASK, SEARCH):
            assert book.run(cell) == ""
        yield book


def weft_command(folder: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "weft", *argv], cwd=folder, capture_output=True, text=True
    )


def test_head_is_the_same_for_any_number_of_workers(book: Kernel, folder: Path) -> None:
    heads = {book.run(RUN.format(out=f"of{n}", workers=n)) for n in (1, 2, 8)}
    (head,) = heads
    assert re.fullmatch(r"[0-9a-f]{64}", head)
    assert book.run(TASK) == book.run(SEARCH) == ""  # unchanged cells, run again
    assert book.run(RUN.format(out="again", workers=2)) == head
    assert weft_command(folder, "replay", "again", "-q").returncode == 0
    assert weft_command(folder, "verify", "again").returncode == 0


def test_kernel_killed_in_the_middle_is_resumed_from_a_shell(tmp_path: Path) -> None:
    hold, entered = tmp_path / "hold", tmp_path / "entered"
    gate = f"""
import time
TARGET = 7
def gate(x):
    while x > 3 and Path({str(hold)!r}).exists():  # not in the first round
        Path({str(entered)!r}).touch()
        time.sleep(0.01)
"""
    with kernel(tmp_path) as book:
        for cell in (IMPORTS, gate, TASK, SEARCH):
            book.run(cell)
        head = book.run(RUN.format(out="whole", workers=2))
        hold.touch()
        book.start(RUN.format(out="run", workers=2))
        while not entered.exists():
            time.sleep(0.01)
        book.kill()
    hold.unlink()
    assert "interrupted" in weft_command(tmp_path, "verify", "run").stdout
    resumed = weft_command(tmp_path, "resume", "run", "-q", "--workers", "1")
    assert resumed.returncode == 0, resumed.stderr
    assert re.findall(r"head\s+\d+ (\w{64})", resumed.stdout) == [head]


def test_refusals_name_what_is_in_the_way(book: Kernel, folder: Path) -> None:
    book.run("import threading\nmodel = threading.Lock()")
    book.run("@weft.task\ndef lost(x: int):\n    return model")
    book.run("@weft.task\ndef magic(x: int):\n    %time x\n    !ls\n    return x")
    search = "@weft.search(version=1)\ndef s():\n    yield [{}(1)]"
    for task, message in (
        (
            "lost",
            "SearchInvalid: task lost uses `model`, a lock defined in the notebook;"
            " pass it as an argument or load it inside the task",
        ),
        ("magic", "SearchInvalid: task magic uses a magic or a shell command in its line 2"),
    ):
        book.run(search.format(task))
        assert book.run("weft.run(s(), out='refused')").startswith(message)
    assert not (folder / "refused").exists()


def test_definitions_below_a_magic_and_names_of_ipython_are_found(
    book: Kernel, folder: Path
) -> None:
    (folder / "four.txt").write_text("four")
    body = f"    display(x)\n    with open({str(folder / 'four.txt')!r}) as file:\n"
    task = "@weft.task\ndef size(x: int) -> int:\n" + body + "        return len(file.read())"
    book.run(f"%%time\n{task} + 1")
    book.run(f"%%time\n{task}")
    assert "ZeroDivisionError" in book.run(f"%%time\n1 / 0\n{task} + 2")
    book.run("@weft.search(version=1)\ndef s():\n    r = yield [size(1)]\n    return r[0].value")
    assert book.run("print(weft.run(s(), out='sizes').answer)") == "4"


def test_magic_makes_a_module_of_the_whole_cell(book: Kernel, folder: Path) -> None:
    assert book.run("%load_ext weft") == ""
    cell = """%%weft
import re, weft
WORDS = re.compile("a+")
OWN = [n * TARGET for n in range(3)]

@weft.task
def count(text: str) -> int:
    return len(WORDS.findall(text)) + OWN[1]

@weft.search(version=1)
def every(n: int):
    results = yield [count("ab" * i) for i in range(n)]
    return [r.value for r in results]
"""
    assert book.run(cell) == ""
    assert book.run("print(OWN, weft.run(every(3), out='magic').answer)") == "[0, 7, 14] [7, 8, 9]"
    book.run("TARGET = 8")
    assert book.run("print(weft.run(every(3), out='fixed').answer)") == "[7, 8, 9]"
    book.run("TARGET = 7")
    plain = (
        "@weft.search(version=1)\ndef both():\n    a = yield [count('a')]\n    return a[0].value"
    )
    book.run(plain)
    assert book.run("print(weft.run(both(), out='both').answer)") == "8"
    assert len(list((folder / "both" / "code").glob("*.py"))) == 2
    assert weft_command(folder, "replay", "both", "-q").returncode == 0
    assert "takes no arguments" in book.run("%%weft now\n1")
    assert "line 2 of the cell" in book.run("%%weft\na = 1\nb = = 2")


def test_cells_that_await_and_reload_are_no_obstacle(book: Kernel, folder: Path) -> None:
    (folder / "beside.py").write_text("def scale(x):\n    return 2 * x\n")
    book.run("%load_ext autoreload\n%autoreload 2")
    cell = """
import asyncio
from beside import scale
await asyncio.sleep(0)

@weft.task
def scaled(x: int) -> int:
    return scale(x)

@weft.search(version=1)
def scales():
    results = yield [scaled(x) for x in range(3)]
    return [r.value for r in results]

print(weft.run(scales(), out="scales").answer)
"""
    assert book.run(cell) == "[0, 2, 4]"
    assert "from beside import scale" in next((folder / "scales/code").glob("*.py")).read_text()
    resumed = weft_command(folder, "replay", "scales", "-q")
    assert resumed.returncode == 0, resumed.stderr
