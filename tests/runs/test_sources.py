"""A resumed run must execute the code it started with."""

from __future__ import annotations

import contextlib
import importlib
import json
import sqlite3
import sys
from pathlib import Path

import pytest

import weft
from weft.errors import CodeChanged, Interrupted, SearchInvalid
from weft.inspect.verify import verify
from weft.runs.run import unnoted_place
from weft.runs.sources import SourceBook, search_folder, source_hash
from weft.storage.folder import RunFolder

SOURCE = """
@weft.task
def one():
    return 1

@weft.search(version=1)
def s():
    yield []
    yield [one()]
"""


def begin(search, out, **options):
    """Begin a run and stop it before any worker starts."""
    with pytest.raises(Interrupted):
        weft.run(search, out=out, wall_limit_s=0, **options)


def events(out):
    from weft.storage.disk import Disk
    from weft.storage.manifest import Manifest

    manifest = Manifest.open(out / "manifest.sqlite", Disk(), read_only=True)
    try:
        return manifest.query("SELECT kind, detail FROM events ORDER BY id")
    finally:
        manifest.close()


def edit(module):
    """Edit a module's file and reload it, as a new process would."""
    with Path(module.__file__).open("a") as file:
        file.write("# edited\n")
    importlib.reload(module)


def test_source_unchanged_goes_on(modules, tmp_path):
    module = modules.write(SOURCE)
    begin(module.s(), tmp_path / "out")
    recorded = RunFolder(tmp_path / "out").read_run_file().sources
    assert recorded == {module.__name__: source_hash(module.__name__)}
    begin(module.s(), tmp_path / "out")


def test_source_changed_is_refused_by_name(modules, tmp_path):
    module = modules.write(SOURCE)
    out = tmp_path / "out"
    begin(module.s(), out)
    ledger, run_toml = (out / "ledger.jsonl").read_bytes(), (out / "run.toml").read_bytes()
    edit(module)
    with pytest.raises(CodeChanged, match=f"{module.__name__}.*--accept code"):
        weft.run(module.s(), out=out)
    assert (out / "ledger.jsonl").read_bytes() == ledger
    assert (out / "run.toml").read_bytes() == run_toml


def test_source_changed_accepted_leaves_an_event_and_the_new_hash(modules, tmp_path):
    module = modules.write(SOURCE)
    out = tmp_path / "out"
    begin(module.s(), out)
    edit(module)
    begin(module.s(), out, accept=["code"])
    assert ("code-accepted", module.__name__) in events(out)
    begin(module.s(), out)  # the new code is now the recorded one
    assert len([kind for kind, _ in events(out) if kind == "code-accepted"]) == 1


def test_source_changed_is_refused_where_only_the_ledger_has_results(modules, tmp_path):
    """A manifest may be older than its ledger: results of the old code are protected."""
    module = modules.write(SOURCE)
    out = tmp_path / "out"
    begin(module.s(), out)
    assert len((out / "ledger.jsonl").read_bytes().splitlines()) > 1
    with contextlib.closing(sqlite3.connect(out / "manifest.sqlite")) as db:
        db.executescript("DELETE FROM tasks; DELETE FROM rounds;")
    edit(module)
    with pytest.raises(CodeChanged, match=module.__name__):
        weft.run(module.s(), out=out)


BROKEN = """
@weft.task
def double(x):
    return 2 * x

def broken(result):
    raise RuntimeError("not yet written")

@weft.search(version=1)
def s():
    results = yield weft.round([double(x) for x in (2, 3, 4)], until=broken)
    return [r.value for r in results]
"""
PLACE = "    results = yield weft.round([double(x) for x in (2, 3, 4)], until=broken)\n"


def rewrite(module, source):
    """Replace a module's file and reload it, as a new process would."""
    Path(module.__file__).write_text("import weft\n" + source)
    importlib.reload(module)


@pytest.mark.parametrize(
    ("repaired", "answer", "forgotten"),
    [
        ("    yield from ()\n    results = []\n", [], 1),
        ("    results = yield [double(2)]\n", [4], 1),
        ("    results = yield [double(x) for x in (5, 6, 4)]\n", [10, 12, 8], 0),
        ("    yield weft.lanes({})\n    results = []\n", [], 1),
    ],
)
def test_round_in_which_the_search_raised_may_be_another_one_once_repaired(
    modules, tmp_path, repaired, answer, forgotten
):
    """A run's first round is always recorded before any of its tasks runs."""
    module, out = modules.write(BROKEN), tmp_path / "out"
    with pytest.raises(SearchInvalid, match=r"`until` raised RuntimeError.*"):
        weft.run(module.s(), out=out, backend="serial")
    rewrite(module, BROKEN.replace(PLACE, repaired))
    run = weft.run(module.s(), out=out, backend="serial", accept=["code"])
    assert run.answer == answer
    fresh = weft.run(module.s(), out=tmp_path / "fresh", backend="serial")
    assert run.head == fresh.head
    assert verify(out, unnoted_place().heads).completed == len(answer)
    assert [kind for kind, _ in events(out)].count("round-forgotten") == forgotten


def test_source_of_a_package_used_later_is_recorded_then(modules, tmp_path):
    later = modules.write("@weft.task\ndef two():\n    return 2\n")
    module = modules.write(f"""
        import {later.__name__} as later

        @weft.search(version=1)
        def s():
            yield []
            yield [later.two()]
    """)
    out = tmp_path / "out"
    begin(module.s(), out)
    sources = RunFolder(out).read_run_file().sources
    assert set(sources) == {later.__name__, module.__name__}
    edit(later)
    with pytest.raises(CodeChanged, match=later.__name__):
        weft.run(module.s(), out=out)


def test_source_book_each_package_is_saved_once():
    saved: list[dict] = []
    sources = SourceBook({"weft": "known"}, {}, lambda sources, _: saved.append(dict(sources)))
    for function in ("json.decoder:x", "json.encoder:y", "weft:z", "json:x", "wave:x"):
        sources.use(function, function)
    assert [sorted(s) for s in saved] == [["json", "weft"], ["json", "wave", "weft"]]
    assert saved[-1]["weft"] == "known"


def test_source_book_each_declared_name_is_saved_once_with_its_import_path():
    saved: list[dict] = []
    sources = SourceBook({}, {}, lambda _, imports: saved.append(dict(imports)))
    for name, path in (("a.b", "json:x"), ("a.b", "json:x"), ("c", "json:y"), ("a.b", "wave:x")):
        sources.use(name, path)
    assert saved == [
        {"a.b": "json:x"},
        {"a.b": "json:x", "c": "json:y"},
        {"a.b": "wave:x", "c": "json:y"},
    ]


def test_source_hash_of_what_has_no_source_is_empty(modules):
    assert source_hash("sys") == ""
    assert source_hash("no_such_module_anywhere") == ""
    assert source_hash("") == ""


def test_source_hash_sees_every_file_of_a_package_and_its_names(modules):
    package = modules.path / "labpackage"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text("x = 1\n")
    hashes = [source_hash("labpackage")]
    (package / "a.py").write_text("x = 2\n")
    hashes.append(source_hash("labpackage"))
    (package / "a.py").rename(package / "b.py")
    hashes.append(source_hash("labpackage"))
    (package / "data.txt").write_text("not source")
    assert source_hash("labpackage") == hashes[-1]
    assert len(set(hashes)) == 3


def test_source_hash_running_script_is_its_file(modules, monkeypatch, tmp_path):
    module = modules.write("x = 1\n")
    monkeypatch.setattr(sys.modules["__main__"], "__file__", module.__file__, raising=False)
    monkeypatch.delitem(sys.modules, module.__name__)
    assert source_hash(module.__name__) != ""


def test_search_folder_is_relative_to_the_run_and_empty_when_installed(modules, tmp_path):
    module = modules.write(SOURCE)
    assert search_folder(f"{module.__name__}:s", tmp_path / "runs" / "a") == "../../code"
    assert search_folder("weft.demo.picture:demo", tmp_path) == ""
    assert search_folder("pytest:main", tmp_path) == ""
    assert search_folder("nowhere:s", tmp_path) == ""


def test_seeds_and_sources_never_reach_the_ledger(modules, tmp_path):
    module = modules.write(SOURCE)
    begin(module.s(), tmp_path / "out")
    [genesis] = (tmp_path / "out" / "ledger.jsonl").read_text().splitlines()[:1]
    assert source_hash(module.__name__) not in json.dumps(genesis)
