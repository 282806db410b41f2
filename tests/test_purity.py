"""The pure packages read no clock, entropy or environment; src has no pickle, shell or eval.

Which packages are searches, and which of their modules decide, is derived from the layout.
The checker is tests/support/purity.py; half of this file proves that it catches planted code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.support.purity import (
    Finding,
    check_pure,
    check_safe,
    check_search,
    declares_search,
    imported_modules,
)

pytestmark = pytest.mark.xdist_group("purity")  # sources are parsed once
SRC = Path(__file__).resolve().parent.parent / "src" / "weft"
PURE_PACKAGES = ("coordinator", "ledger", "model")
SEARCHES = tuple(sorted(p.parent.name for p in (SRC / "searches").glob("*/__init__.py")))
BELOW_SEARCHES = (
    "weft", "weft.compiled", "weft.define", "weft.errors", "weft.lazy_imports", "weft.searches",
    "weft.version", "weft.worker", "weft.worker.context", "weft.worker.ending",
    "weft.worker.environment", "weft.worker.redaction",
)  # fmt: skip
"""Modules that decisions may use, beside `weft.model` and modules of their own search."""
ON_THE_SLOT = SRC / "searches" / "tree" / "slot"  # git: the only place there that starts processes
HARNESS = SRC / "searches" / "tree" / "harness.py"  # a separate program, in a scorer's process
MEASURED = (
    SRC / "searches" / "arc" / "spent.py"
)  # CPU seconds in a task's notes, which decide nothing


def sources(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def complaints(paths: Iterable[Path], check: Callable[[str], list[Finding]]) -> list[str]:
    return [
        f"{path.relative_to(SRC.parent)}:{f.line}: {f.rule}: {f.what}"
        for path in paths
        for f in check(path.read_text(encoding="utf-8"))
    ]


def declaring(name: str) -> list[Path]:
    """The modules of a search's folder that declare a search, including its `search.py`."""
    modules = sources(SRC / "searches" / name)
    return [path for path in modules if declares_search(path.read_text(encoding="utf-8"))]


def reachable(pending: list[Path]) -> list[Path]:
    """The modules of Weft that are loaded with the given modules, including these."""
    reached = set[Path]()
    while pending:
        path = pending.pop()
        if path not in reached:
            reached.add(path)
            for module in imported_modules(path.read_text(encoding="utf-8")):
                place = SRC.parent / module.replace(".", "/")
                files = (place.with_suffix(".py"), place / "__init__.py")
                pending += [file for file in files if SRC in file.parents and file.is_file()]
    return sorted(reached)


def deciding(name: str) -> list[Path]:
    """The modules behind a search's decisions: those that declare it, and their imports."""
    folder = SRC / "searches" / name
    return [path for path in reachable(declaring(name)) if folder in path.parents]


def beyond(name: str) -> list[str]:
    """The modules of Weft that a search's decisions import but may not: DESIGN's narrow rule."""
    own, names = f"weft.searches.{name}", []
    for path in reachable(declaring(name)):
        parts = path.relative_to(SRC.parent).with_suffix("").parts
        module = ".".join(parts).removesuffix(".__init__")
        if module not in BELOW_SEARCHES and not module.startswith(("weft.model", own)):
            names.append(module)
    return names


@pytest.mark.parametrize("name", PURE_PACKAGES)
def test_pure_package_depends_on_its_arguments_only(name: str) -> None:
    modules = sources(SRC / name)
    assert modules, f"src/weft/{name} has no modules, the check would be empty"
    assert complaints(modules, check_pure) == []


def test_all_sources_are_free_of_pickle_shell_and_eval() -> None:
    assert complaints(sources(SRC), check_safe) == []


def test_searches_are_found_by_their_folders() -> None:
    assert {"arc", "jobs", "prng", "tree"} <= set(SEARCHES)
    assert complaints(sources(ON_THE_SLOT), check_search), "needs no exception any more"
    assert complaints([MEASURED], check_pure) == ["weft/searches/arc/spent.py:8: world: time"]


@pytest.mark.parametrize("name", SEARCHES)
def test_search_starts_nothing_and_keeps_no_state(name: str) -> None:
    modules = [p for p in sources(SRC / "searches" / name) if ON_THE_SLOT not in p.parents]
    modules = [path for path in modules if path != HARNESS]
    assert complaints(modules, check_search) == []


@pytest.mark.parametrize("name", SEARCHES)
def test_decisions_of_search_depend_on_its_arguments_only(name: str) -> None:
    assert declaring(name), f"src/weft/searches/{name} declares no search"
    searches = set((SRC / "searches" / name).rglob("search.py"))
    assert searches <= set(declaring(name)), "a search.py that declares no search"
    modules = [path for path in deciding(name) if path != MEASURED]
    assert complaints(modules, check_pure) == []


@pytest.mark.parametrize("name", SEARCHES)
def test_decisions_of_search_know_no_more_than_the_public_api(name: str) -> None:
    assert beyond(name) == []
    assert complaints(deciding(name), check_search) == []


def test_reader_behind_a_decision_is_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source = tmp_path / "weft"
    for name, text in {
        "searches/mine/search.py": "from weft.searches.mine import tasks\n@search()\ndef f(): ...",
        "searches/mine/tasks.py": "def work():\n    from weft.inspect.report import view",
        "inspect/report/view.py": "from weft.storage import disk",
        "storage/disk.py": "import sqlite3",
        "define.py": "if TYPE_CHECKING:\n    from weft.runs import run",
    }.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    monkeypatch.setattr("tests.test_purity.SRC", source)
    assert beyond("mine") == ["weft.inspect.report.view", "weft.storage.disk"]


PLANTED_IMPURE = {
    "world": [
        "import random",
        "import random as r",
        "from random import choice",
        "import time",
        "from time import monotonic",
        "import datetime",
        "from datetime import datetime",
        "import secrets",
        "from uuid import uuid4",
        "def f():\n    import time",
        "import importlib\nimportlib.import_module('random')",
        "__import__('uuid')",
    ],
    "environment": [
        "import os\nx = os.environ['HOME']",
        "import os as system\nx = system.environ.get('HOME')",
        "from os import environ\nx = environ['HOME']",
        "from os import environ as e\nx = e['HOME']",
        "import os\nx = os.getenv('HOME')",
        "from os import getenv\nx = getenv('HOME')",
    ],
    "hash": ["x = hash('a')", "x = sorted(y, key=hash)"],
    "listing": [
        "import os\nx = os.listdir('.')",
        "from os import scandir\nx = list(scandir('.'))",
        "import glob\nfor p in glob.glob('*'): pass",
        "from glob import iglob\nx = [p for p in iglob('*')]",
        "import os\nfor x in os.walk('.'): pass",
        "x = [p for p in folder.iterdir()]",
        "for p in folder.rglob('*'): pass",
        "from pathlib import Path\nx = next(Path('.').glob('*'))",
    ],
    "set-order": [
        "for x in {1, 2}: pass",
        "for x in set(y): pass",
        "for x in frozenset(y): pass",
        "for x in {a for a in y}: pass",
        "z = [x for x in set(y)]",
        "z = {x: 1 for x in {1, 2}}",
        "z = sum(x for x in set(y))",
        "z = list({1, 2})",
        "z = tuple(set(y))",
        "z = enumerate(frozenset(y))",
        "z = next(iter({1, 2}))",
        "z = ','.join({'a', 'b'})",
        "z = [*{1, 2}]",
        "z = {1, 2}.pop()",
        "for x in set(a) | b: pass",
        "for x in a.keys() & b.keys(): pass",
        "for x in set(a).union(b): pass",
        "seen = set()\nfor x in seen: pass",
        "def f(seen: set[int]):\n    return list(seen)",
        "def f():\n    seen: frozenset[int] = make()\n    return [x for x in seen]",
        "SEEN = {1, 2}\ndef f():\n    return tuple(SEEN)",
        "def g():\n    yield from {1, 2}",
    ],
}

PLANTED_UNSAFE = {
    "pickle": [
        "import pickle",
        "from pickle import loads",
        "import marshal",
        "import shelve",
        "import cloudpickle",
        "import numpy\nnumpy.load(f, allow_pickle=True)",
    ],
    "shell": [
        "import subprocess\nsubprocess.run('ls', shell=True)",
        "import subprocess\nsubprocess.Popen('ls', shell=flag)",
        "import os\nos.system('ls')",
        "from os import system\nsystem('ls')",
        "import os\nos.popen('ls')",
        "import subprocess\nsubprocess.getoutput('ls')",
    ],
    "eval": [
        "eval('1')",
        "exec('x = 1')",
        "import builtins\nbuiltins.eval('1')",
        "from builtins import exec as run\nrun('x')",
    ],
}

CLEAN = [
    "import os\nx = os.path.join('a', 'b')",
    "import os\nfor p in sorted(os.listdir('.')): pass",
    "for p in sorted(folder.rglob('*.py'), key=str): pass",
    "x = 3 in {1, 2}",
    "for x in sorted({1, 2}): pass",
    "n = len(set(y))",
    "ok = any(x > 1 for x in set(y))",
    "z = sorted(x + 1 for x in set(y))",
    "z = {x for x in set(y)}",
    "for x in [1, 2]: pass",
    "seen = set()\nseen.add(1)\nok = 1 in seen",
    "seen = {1}\ndef f(seen: list[int]):\n    return tuple(seen)",
    "x.pop()",
    "class A:\n    def __hash__(self): return 1",
    "import subprocess\nsubprocess.run(['ls'], shell=False)",
    "model.eval()",
    "import re\nre.compile('x').exec",
]


def cases(planted: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(rule, snippet) for rule, snippets in planted.items() for snippet in snippets]


@pytest.mark.parametrize(("rule", "snippet"), cases(PLANTED_IMPURE))
def test_check_pure_planted_snippet_is_caught(rule: str, snippet: str) -> None:
    assert {finding.rule for finding in check_pure(snippet)} == {rule}


@pytest.mark.parametrize(("rule", "snippet"), cases(PLANTED_UNSAFE))
def test_check_safe_planted_snippet_is_caught(rule: str, snippet: str) -> None:
    assert {finding.rule for finding in check_safe(snippet)} == {rule}


@pytest.mark.parametrize("module", ["subprocess", "threading", "multiprocessing.pool", "sqlite3"])
def test_check_search_planted_import_is_caught(module: str) -> None:
    assert [f.rule for f in check_search(f"import {module}")] == ["control"]
    assert [f.rule for f in check_search(f"from {module} import x")] == ["control"]


@pytest.mark.parametrize("snippet", CLEAN)
def test_checks_clean_snippet_passes(snippet: str) -> None:
    assert [*check_pure(snippet), *check_safe(snippet)] == []


@pytest.mark.parametrize(
    ("snippet", "declares"),
    [
        ("@weft.search(name='a', version=1)\ndef f(): ...", True),
        ("@search(version=1)\ndef f(): ...", True),
        ("class A:\n    @weft.search\n    def f(self): ...", True),
        ("@weft.task(name='search')\ndef search(): ...", False),
    ],
)
def test_declared_search_is_recognised(snippet: str, declares: bool) -> None:
    assert declares_search(snippet) is declares


def test_imported_modules_have_those_of_every_form() -> None:
    snippet = "import a.b\nfrom c import d\ndef f():\n    from e.f import g as h"
    snippet += "\nif TYPE_CHECKING:\n    import i"
    assert imported_modules(snippet) == ("a.b", "c", "c.d", "e.f", "e.f.g")


def test_sql_has_no_numbered_placeholders() -> None:
    """Python 3.12 warns of `?1` with a sequence of values, and 3.14 refuses it."""
    wrong = [
        f"{path.relative_to(SRC)}:{number}"
        for path in sorted(SRC.rglob("*.py"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if re.search(r"[ ,(]\?[1-9]", line)
    ]
    assert wrong == []
