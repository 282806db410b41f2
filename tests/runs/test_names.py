"""Declared names identify tasks, hooks and searches; the location of their files is irrelevant."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import weft
from tests.support.waiting import HANG_S
from weft.errors import InputError, Interrupted, Paused, RunMismatch, SearchInvalid
from weft.model.tasks import FORMER_COMMAND
from weft.product import Product
from weft.runs import decision, resume
from weft.storage.folder import RunFolder

SOURCE = """
import sys

@weft.task(name="lab.double")
def double(x, *, seed):
    return [2 * x, seed]

@weft.hook(name="lab.prepare")
def prepare(run):
    return {"word": "hello"}

@weft.hook(name="lab.collect")
def collect(run):
    return run.stdout.read_text().strip()

@weft.search(version=1, name="lab.s")
def s():
    yield [double(1), double(2)]
    echo = weft.command(
        ["{python}", "-c", "print('{word}')"], timeout_s=60, prepare=prepare, collect=collect
    )
    results = yield [echo]
    return results[0].value
"""
OTHER_FILE = """
import weft
{source}
if __name__ == "__main__":
    weft.run(s(), out=sys.argv[1])
"""


def run_in(folder: Path, name: str, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Write the search to its own file and run it as a program."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(OTHER_FILE.format(source=SOURCE))
    argv = [sys.executable, str(file), str(out), *more]
    return subprocess.run(argv, capture_output=True, text=True, timeout=HANG_S)


def test_declared_names_are_in_the_ledger_and_import_paths_are_not(modules, tmp_path):
    module = modules.write(SOURCE)
    run = weft.run(module.s(), out=tmp_path / "run")
    ledger = (tmp_path / "run" / "ledger.jsonl").read_text()
    assert run.answer == "hello"
    assert run.search == "lab.s"
    assert module.__name__ not in ledger
    for name in ("lab.double", "lab.prepare", "lab.collect", "weft.command"):
        assert f'"{name}"' in ledger
    imports = RunFolder(tmp_path / "run").read_run_file().imports
    assert imports == {
        name: f"{module.__name__}:{function}"
        for name, function in (
            ("lab.collect", "collect"), ("lab.double", "double"), ("lab.prepare", "prepare"),
            ("lab.s", "s"),
        )
    }  # fmt: skip


def test_moving_a_file_changes_no_head(tmp_path):
    ends = [
        run_in(tmp_path / "one", "first_name.py", tmp_path / "a"),
        run_in(tmp_path / "two", "second_name.py", tmp_path / "b"),
    ]
    assert [end.returncode for end in ends] == [0, 0], ends
    assert (tmp_path / "a/ledger.jsonl").read_bytes() == (tmp_path / "b/ledger.jsonl").read_bytes()


def test_resume_by_name_imports_from_where_the_run_began(modules, tmp_path):
    module = modules.write(SOURCE)
    with pytest.raises(Interrupted):
        weft.run(module.s(), out=tmp_path / "run", wall_limit_s=0)
    assert resume.resume(tmp_path / "run").answer == "hello"


def test_resume_of_a_moved_search_is_found_through_its_product(modules, monkeypatch, tmp_path):
    module = modules.write(SOURCE)
    with pytest.raises(Interrupted):
        weft.run(module.s(), out=tmp_path / "run", wall_limit_s=0)
    toml = tmp_path / "run" / "run.toml"
    toml.write_text(toml.read_text().replace(f"{module.__name__}:s", "gone_away:s"))
    with pytest.raises(InputError, match="gone_away"):
        resume.resume(tmp_path / "run")
    product = Product("lab", "A lab.", searches={"lab.s": f"{module.__name__}:s"})
    monkeypatch.setattr("weft.product.products", lambda: (product,))
    assert resume.resume(tmp_path / "run").answer == "hello"


def test_resume_of_a_name_that_nobody_has_is_refused(modules, tmp_path):
    with pytest.raises(InputError, match=r"no installed package has a search named 'lab\.none'"):
        resume.find_search("lab.none", {}, None)
    module = modules.write(SOURCE)
    with pytest.raises(InputError, match="no installed package"):
        resume.find_search("lab.none", {"lab.none": f"{module.__name__}:s"}, None)


def test_declared_name_of_an_installed_search_is_enough_to_load_it(modules, monkeypatch):
    module = modules.write(SOURCE)
    with pytest.raises(InputError, match=r"'lab\.s' does not name a search; .*installed search"):
        resume.load_search("lab.s")
    product = Product("lab", "A lab.", searches={"lab.s": f"{module.__name__}:s"})
    monkeypatch.setattr("weft.product.products", lambda: (product,))
    assert resume.load_search("lab.s") is module.s


def test_former_name_of_a_search_is_refused_with_what_to_do(monkeypatch):
    product = Product("lab", "A lab.", former_names={"old.module:s": "lab.s"})
    monkeypatch.setattr("weft.product.products", lambda: (product,))
    with pytest.raises(RunMismatch, match=r"started by an older Weft.*new --out"):
        resume.find_search("old.module:s", {}, None)
    recorded, renamed = json.dumps({"search": "old.module:s"}), json.dumps({"search": "lab.s"})
    with pytest.raises(RunMismatch, match="started by an older Weft"):
        decision.check_same(recorded, renamed, Path("run"))


def test_former_name_of_commands_is_refused_with_what_to_do(modules, monkeypatch, tmp_path):
    module = modules.write("""
        @weft.search(version=1)
        def s():
            yield [weft.command(["true"], timeout_s=60)]
            yield weft.Milestone("half")
        """)
    with monkeypatch.context() as patch:
        patch.setattr("weft.define.commands.COMMAND", FORMER_COMMAND)
        with pytest.raises(Paused):
            weft.run(module.s(), out=tmp_path / "run", pause_at="half")
    with pytest.raises(RunMismatch, match=r"started by Weft 0\.1.*new --out"):
        weft.run(module.s(), out=tmp_path / "run")


@pytest.mark.parametrize("name", ["", "a:b", "a b", ".a", "a.", "a..b", "ä", "x" * 101, "1a"])
def test_name_of_another_form_is_refused(name, modules):
    with pytest.raises(SearchInvalid, match="is not valid"):
        modules.write(f"@weft.task(name={name!r})\ndef f():\n    pass\n")


def test_two_functions_of_one_name_are_refused(modules):
    first = modules.write("@weft.task(name='lab.same')\ndef f():\n    pass\n")
    with pytest.raises(SearchInvalid, match=f"{re.escape(first.__name__)}:f and .* 'lab.same'"):
        modules.write("@weft.task(name='lab.same')\ndef g():\n    pass\n")


# -- references ---------------------------------------------------------------------------------

REFERRING = """
double = weft.reference("lab.double", "{slot}:double")
prepare = weft.reference("lab.prepare", "{slot}:prepare")
collect = weft.reference("lab.collect", "{slot}:collect")

@weft.search(version=1, name="lab.s")
def s():
    yield [double(x=1), double(x=2)]
    echo = weft.command(
        ["{{python}}", "-c", "print('{{word}}')"], timeout_s=60, prepare=prepare, collect=collect
    )
    results = yield [echo]
    return results[0].value
"""


def test_search_that_refers_to_its_tasks_decides_the_same_and_never_loads_them(modules, tmp_path):
    slot = modules.write(SOURCE)
    direct = weft.run(slot.s(), out=tmp_path / "direct")
    del sys.modules[slot.__name__]
    referring = modules.write(REFERRING.format(slot=slot.__name__))
    run = weft.run(referring.s(), out=tmp_path / "referring")
    assert (run.answer, run.head) == ("hello", direct.head)
    assert slot.__name__ not in sys.modules
    run_file = RunFolder(tmp_path / "referring").read_run_file()
    assert run_file.imports["lab.double"] == f"{slot.__name__}:double"
    assert slot.__name__ in run_file.sources


def test_reference_to_a_module_that_is_not_there_is_refused(modules):
    with pytest.raises(SearchInvalid, match=r"reference lab\.double: there is no module gone_away"):
        modules.write(REFERRING.format(slot="gone_away"))
    with pytest.raises(SearchInvalid, match=r"there is no module gone\.away"):
        modules.write(REFERRING.format(slot="gone.away"))


@pytest.mark.parametrize("path", ["lab", "lab:", "lab.slot:a.b", "../lab:f", "lab slot:f", ""])
def test_reference_to_what_is_no_import_path_is_refused(path):
    with pytest.raises(SearchInvalid, match="is not an import path"):
        weft.reference("lab.double", path)


def test_reference_by_what_is_no_name_is_refused():
    with pytest.raises(SearchInvalid, match="is not valid"):
        weft.reference("no name", "weft.testing.tasks:echo")


def test_reference_to_another_function_of_a_taken_name_is_refused(modules):
    modules.write('@weft.task(name="lab.taken")\ndef first(x):\n    return x\n')
    with pytest.raises(SearchInvalid, match=r"are both named 'lab\.taken'"):
        weft.reference("lab.taken", "weft.testing.tasks:second")
