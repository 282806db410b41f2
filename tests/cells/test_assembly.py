"""The cells of a notebook become a module with everything a search uses, or a refusal."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.support.cells import Notebook
from weft.cells.assembly import cell_source, search_source
from weft.cells.stored import as_stored, module_name
from weft.errors import SearchInvalid

SEARCH = """
import weft

@weft.search(version=1)
def s():
    results = yield [t(3)]
    return results[0].value
"""


def notebook(*cells: str) -> Notebook:
    return Notebook(SEARCH, *cells)


def source(book: Notebook) -> str:
    return search_source(book["s"]().body)


def value(book: Notebook) -> object:
    """The value that task `t` of the stored module returns for 3."""
    stored = as_stored(book["s"]())
    (call,) = next(stored.start({}))
    assert call.function.startswith("weft_cell_")
    task = stored.body.__globals__["t"]
    return task.function(**call.args)


def refusal(*cells: str) -> str:
    with pytest.raises(SearchInvalid) as caught:
        source(notebook(*cells))
    assert "\n" not in str(caught.value)
    return str(caught.value)


TASK = "@weft.task\ndef t(x):\n    return "


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        pytest.param([f"K = 2\n{TASK}x * K"], 6, id="constant"),
        pytest.param(["def double(x):\n    return 2 * x", f"{TASK}double(x)"], 6, id="function"),
        pytest.param([f"import math\n{TASK}math.isqrt(x)"], 1, id="import"),
        pytest.param([f"from math import isqrt as root\n{TASK}root(x)"], 1, id="import-from"),
        pytest.param([f"from math import *\n{TASK}isqrt(x)"], 1, id="star"),
        pytest.param([f"from math import pi\n{TASK}int(pi)"], 3, id="imported-constant"),
        pytest.param(
            [f"import xml.etree.ElementTree\n{TASK}xml.etree.ElementTree.Element('a').tag"],
            "a",
            id="submodule",
        ),
        pytest.param([f"import os.path as p\n{TASK}p.join('a', 'b')"], "a/b", id="as"),
        pytest.param([f"square = lambda n: n * n\n{TASK}square(x)"], 9, id="lambda"),
        pytest.param(
            ["def fact(n):\n    return n * fact(n - 1) if n else 1", f"{TASK}fact(x)"],
            6,
            id="recursion",
        ),
        pytest.param(
            [
                "def even(n):\n    return n == 0 or odd(n - 1)",
                "def odd(n):\n    return n != 0 and even(n - 1)",
                f"{TASK}odd(x)",
            ],
            True,
            id="mutual-recursion",
        ),
        pytest.param(
            ["import functools\n@functools.cache\ndef f(x):\n    return x", f"{TASK}f(x)"],
            3,
            id="decorated",
        ),
        pytest.param(
            [
                "from functools import wraps\nSTEP = 1\n"
                "def twice(f):\n    @wraps(f)\n    def g(x):\n        return f(bump(x))\n"
                "    return g",
                "def bump(x):\n    return x + STEP",
                "@twice\ndef a(x):\n    return x * 10",
                f"{TASK}a(x)",
            ],
            40,
            id="own-decorator",
        ),
        pytest.param(
            ["BASE = 5\ndef f(x, y=BASE):\n    return x + y", f"{TASK}f(x)"], 8, id="default"
        ),
        pytest.param(["def f(x):\n    return x", "g = f", f"{TASK}g(x)"], 3, id="alias"),
        pytest.param(
            ["if True:\n    def f(x):\n        return x + 1", f"{TASK}f(x)"], 4, id="inside-if"
        ),
        pytest.param(
            [
                "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int = 4",
                f"{TASK}P().x + x",
            ],
            7,
            id="dataclass",
        ),
        pytest.param(
            ["class P:\n    def get(self):\n        return LIMIT", "LIMIT = 9", f"{TASK}P().get()"],
            9,
            id="class-with-method",
        ),
        pytest.param(
            ["class A:\n    n = 1", "class B(A):\n    m = A.n + 1", f"{TASK}B.m + B.n + x"],
            6,
            id="base-class",
        ),
        pytest.param(
            [
                "from enum import Enum\nclass C(Enum):\n    RED = 1\n    BLUE = 2",
                f"{TASK}C(x - 1).name",
            ],
            "BLUE",
            id="enum",
        ),
        pytest.param(
            ["class P:\n    pass", "@weft.task\ndef t(x) -> 'P':\n    return x"],
            3,
            id="text-annotation",
        ),
        pytest.param(
            ["T = object()", "@weft.task\ndef t(x: T) -> T:\n    return x"],
            3,
            id="annotation-that-cannot-travel",
        ),
        pytest.param(
            [
                "from __future__ import annotations\n"
                "@weft.task\ndef t(x: Nowhere) -> int:\n    return x"
            ],
            3,
            id="future",
        ),
        pytest.param(
            ["async def wait(x):\n    return x", f"{TASK}[*wait(x).__await__()] or x"],
            3,
            id="async-function",
        ),
        pytest.param(
            ["D = {'a': [1, (2.5, None)], 'b': {1, 2}}\nINF = float('inf')"
             f"\n{TASK}[D['a'][1][0], len(D['b']), INF > x]"],
            [2.5, 2, True],
            id="nested-constants",
        ),
        pytest.param([f"{TASK}sum(K for _ in range(x))", "K = 1"], 3, id="comprehension"),
        pytest.param([f"N = 10 ** 5000\n{TASK}N % 7"], 10**5000 % 7, id="long-integer"),
        pytest.param([f"V = (-0.0, b'x', range(3), ...)\n{TASK}repr(V)"],
                     "(-0.0, b'x', range(0, 3), Ellipsis)", id="other-constants"),
        pytest.param(
            ["from typing import NamedTuple\nclass P(NamedTuple):\n    x: int = 4",
             f"{TASK}P().x"], 4, id="named-tuple",
        ),
        pytest.param(
            ["from typing import TypedDict\nclass P(TypedDict):\n    x: int",
             f"{TASK}P(x=x)['x']"], 3, id="typed-dict",
        ),
        pytest.param(
            ["import enum\nclass C(enum.IntFlag):\n    A = enum.auto()\n    B = enum.auto()",
             f"{TASK}int(C.A | C.B)"], 3, id="flags",
        ),
        pytest.param(
            ["from numba import njit\n@njit\ndef f(x):\n    return x + 1", f"{TASK}f.py_func(x)"],
            4, id="compiled",
        ),
        pytest.param(
            ["def f():\n    return 'a\\x0cb\x0c'\n", f"{TASK}f()"], "a\x0cb\x0c", id="form-feed"
        ),
        pytest.param([f"{TASK}__name__[:10]"], "weft_cell_", id="module-name"),
        pytest.param(
            ["def f(x):\n    global N\n    N = N + x\n    return N", "N = 1", f"{TASK}f(x)"],
            4,
            id="global-statement",
        ),
    ],
)  # fmt: skip
def test_names_of_other_cells_are_part_of_the_module(cells: list[str], expected: object) -> None:
    assert value(notebook(*cells)) == expected


def test_value_at_the_time_of_the_run_counts() -> None:
    book = notebook(f"K = 2\n{TASK}x * K")
    before = source(book)
    book.run("K = 3")
    assert value(book) == 9
    book.run("K = 2")
    assert source(book) == before


def test_latest_definition_counts_also_when_an_earlier_cell_is_run_again() -> None:
    first = "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int = 1"
    book = notebook(first, f"{TASK}P().x")
    book.run(first.replace("= 1", "= 2"))
    assert value(book) == 2
    book.run(first)
    assert value(book) == 1
    book.run(f"{TASK}P().x + 5")
    assert value(book) == 6


def test_class_of_a_cell_that_failed_before_it_is_not_mistaken() -> None:
    book = notebook("class P:\n    x = 1", f"{TASK}P.x")
    with pytest.raises(ZeroDivisionError):
        book.run("1 / 0\nclass P:\n    x = 2")
    assert value(book) == 1


def test_same_cells_give_the_same_name_whatever_else_the_notebook_did() -> None:
    cells = ["import math\nB = 1\nA = [2]", f"{TASK}x + B + A[0] + math.isqrt(4)"]
    book = notebook(*cells)
    other = notebook("unrelated = object()", *reversed(cells))
    assert module_name(source(book)) == module_name(source(other))
    other.run(f"# comments outside do not matter\n{TASK}x + B + A[0] + math.isqrt(4)")
    assert source(other) == source(book)


def test_module_is_executed_anew_for_every_run() -> None:
    book = notebook("SEEN = []", f"{TASK}[SEEN.append(x), len(SEEN)][1]")
    assert value(book) == 1
    assert value(book) == 1
    assert book["SEEN"] == []


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (
            ["class DataFrame:\n    pass\nmodel = DataFrame()", f"{TASK}model"],
            "task t uses `model`, a DataFrame defined in the notebook; "
            "pass it as an argument or load it inside the task",
        ),
        (
            [f"import numpy as np\ndata = np.zeros(3)\n{TASK}data"],
            "task t uses `data`, an ndarray defined in the notebook; "
            "pass it as an argument or load it inside the task",
        ),
        ([f"{TASK}nowhere + x"], "task t uses `nowhere`, which no cell defines"),
        (
            ["def f(x):\n    return lock", "import threading\nlock = threading.Lock()",
             f"{TASK}f(x)"],
            "function f uses `lock`, a lock defined in the notebook; "
            "pass it as an argument or load it inside the task",
        ),
        ([f"big = 'x' * 2_000_000\n{TASK}big"], "task t uses `big`, 2,000,002 characters long"),
        ([f"loop = []\nloop.append(loop)\n{TASK}loop"], "task t uses `loop`, nested too deeply"),
        (
            ["def hide(f):\n    def inner(x):\n        return f(x)\n    return inner",
             "@hide\ndef f(x):\n    return x", f"{TASK}f(x)"],
            "task t uses `f`, a function named inner that no cell defines by that name; define it "
            "by the name that is used, and use functools.wraps in decorators",
        ),
        (
            [f"{TASK}get_ipython().run_line_magic('time', 'x')"],
            "task t uses a magic or a shell command in its line 2, which a worker does not have",
        ),
    ],
)  # fmt: skip
def test_what_cannot_travel_is_refused_by_name(cells: list[str], message: str) -> None:
    assert refusal(*cells).startswith(message)


def test_task_inside_a_function_is_refused_as_in_a_file() -> None:
    with pytest.raises(SearchInvalid, match="defined inside a function"):
        notebook("def make():\n    @weft.task\n    def t(x):\n        return x\nmake()")
    with pytest.raises(SearchInvalid, match=r"defined inside a function|is a lambda"):
        notebook("t = weft.task(lambda x: x)")


def test_dataclass_among_the_arguments_is_one_of_the_module() -> None:
    book = Notebook(
        "import weft\nfrom dataclasses import dataclass\n"
        "@dataclass(frozen=True, slots=True)\nclass P:\n    x: int\n    twin: object = None",
        "@weft.search(version=1)\ndef s(p: P, many: list):\n    yield []\n    return p.x",
    )
    point = book["P"](1, book["P"](2))
    stored = as_stored(book["s"](point, [(point, {"a": point}), 5]))
    kind = stored.body.__globals__["P"]
    assert kind is not book["P"]
    expected = kind(1, kind(2))
    assert stored.args == {"p": expected, "many": [(expected, {"a": expected}), 5]}


def test_session_whose_source_is_not_kept_is_refused_with_the_reason() -> None:
    typed = "import weft\n@weft.task\ndef t(x):\n    return x\n"
    session = subprocess.run([sys.executable, "-"], input=typed, capture_output=True, text=True)
    assert "task t is defined in an interactive session whose source is not kept" in session.stderr
    assert "put it in a file such as my_search.py" in session.stderr
    assert "IPython, Jupyter or the prompt of Python 3.13" in session.stderr


def test_renamed_task_takes_its_declared_name_with_it() -> None:
    book = notebook("@weft.task(name='cells.rename')\ndef old(x):\n    return x")
    book.run("@weft.task(name='cells.rename')\ndef t(x):\n    return x + 1")
    stored = as_stored(book["s"]())
    (call,) = next(stored.start({}))
    assert call.function == "cells.rename"
    assert re.fullmatch(r"weft_cell_\w{16}:t", dict(call.code)["cells.rename"])
    book.run(SEARCH.replace("t(3)", "t(3), old(3)"))
    with pytest.raises(SearchInvalid, match=r"are both named 'cells\.rename'"):
        as_stored(book["s"]())


def test_whole_cell_keeps_all_of_its_statements() -> None:
    book = Notebook("K = 2\ndef twice(x):\n    return K * x")
    text = cell_source(
        "from __future__ import annotations\nimport re\nRX = re.compile('a+')\nN = twice(len('x'))",
        book.names,
    )
    assert text.index("from __future__") < text.index("K = 2") < text.index("def twice")
    assert text.index("def twice") < text.index("RX = re.compile('a+')")
    assert text.count("from __future__") == 1
    with pytest.raises(SearchInvalid, match="on its own line"):
        cell_source("from __future__ import annotations; a = 1", book.names)
    split = "from __future__ import (\n    annotations,\n)\na = 1"
    assert "annotations,\n" not in cell_source(split, book.names)
    with pytest.raises(SearchInvalid, match="line 2 of the cell uses `nothing`, which no cell"):
        cell_source("a = 1\nb = nothing", book.names)
