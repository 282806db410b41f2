"""Only the code in the files runs: code edited after it was loaded is refused."""

from __future__ import annotations

import importlib
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest

import weft
from weft.errors import CodeChanged
from weft.runs.sources import source_hash
from weft.storage.folder import RunFolder

SEARCH = """
    FACTOR = {factor}

    @weft.task
    def times(x):
        return FACTOR * x

    @weft.search(version=1)
    def s():
        [result] = yield [times({factor})]
        return [FACTOR, result.value]
"""


@pytest.fixture(autouse=True)
def no_bytecode(monkeypatch):
    """Python mistakes cached bytecode for that of an edit of equal size in the same second."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")


def rewrite(module, source):
    Path(module.__file__).write_text("import weft\n" + textwrap.dedent(source))


def edit(module, factor):
    rewrite(module, SEARCH.format(factor=factor))


def test_edited_between_two_runs_is_refused_and_nothing_is_written(modules, tmp_path):
    module = modules.write(SEARCH.format(factor=2))
    assert weft.run(module.s(), out=tmp_path / "a", backend="serial").answer == [2, 4]
    edit(module, 3)
    name = module.__name__
    with pytest.raises(CodeChanged, match=rf"{name}\.py was edited.*importlib\.reload\({name}\)"):
        weft.run(module.s(), out=tmp_path / "b", backend="serial")
    assert not (tmp_path / "b").exists()
    answer = weft.run(module.s(), out=tmp_path / "a", backend="serial").answer
    assert answer == [2, 4]  # a finished run is answered from its ledger


def test_reloaded_after_the_edit_runs_the_new_code_with_its_hash(modules, tmp_path):
    module = modules.write(SEARCH.format(factor=2))
    edit(module, 3)
    importlib.reload(module)
    assert weft.run(module.s(), out=tmp_path / "a", backend="serial").answer == [3, 9]
    recorded = RunFolder(tmp_path / "a").read_run_file().sources
    assert recorded == {module.__name__: source_hash(module.__name__)}


def test_name_taken_before_the_reload_is_refused(modules, tmp_path):
    module = modules.write(SEARCH.format(factor=2))
    imported = module.s
    edit(module, 3)
    importlib.reload(module)
    with pytest.raises(CodeChanged, match=f"from {module.__name__} import s"):
        weft.run(imported(), out=tmp_path / "a", backend="serial")


def test_search_of_a_module_that_was_unloaded_is_compared_with_the_file(modules, tmp_path):
    module = modules.write(SEARCH.format(factor=2))
    del sys.modules[module.__name__]
    assert weft.run(module.s(), out=tmp_path / "a", backend="serial").answer == [2, 4]
    edit(module, 3)
    with pytest.raises(CodeChanged, match=f"from {module.__name__} import s"):
        weft.run(module.s(), out=tmp_path / "b", backend="serial")


def test_autoreload_of_a_notebook_brings_names_taken_before_up_to_date(modules, tmp_path):
    from IPython.extensions import autoreload

    module = modules.write(SEARCH.format(factor=2))
    imported = module.s
    edit(module, 3)
    autoreload.superreload(module, importlib.reload)
    assert weft.run(imported(), out=tmp_path / "a", backend="serial").answer == [3, 9]


def test_edited_and_put_back_is_accepted(modules, tmp_path):
    module = modules.write(SEARCH.format(factor=2))
    edit(module, 3)
    edit(module, 2)
    assert weft.run(module.s(), out=tmp_path / "a", backend="serial").answer == [2, 4]


def test_edited_before_it_is_first_imported_is_accepted(modules, tmp_path):
    (modules.path / "lab_fresh.py").write_text("raise RuntimeError\n")
    module = modules.write(SEARCH.format(factor=2), name="lab_fresh")
    assert weft.run(module.s(), out=tmp_path / "a", backend="serial").answer == [2, 4]


TWO = """
    import {tasks}

    @weft.search(version=1)
    def s():
        [result] = yield [{tasks}.times(2)]
        return result.value
"""


def test_edited_module_of_the_tasks_is_refused(modules, tmp_path):
    tasks = modules.write(SEARCH.format(factor=2))
    module = modules.write(TWO.format(tasks=tasks.__name__))
    edit(tasks, 3)
    with pytest.raises(CodeChanged, match=f"{tasks.__name__}.py was edited"):
        weft.run(module.s(), out=tmp_path / "a", backend="serial")
    assert not (tmp_path / "a").exists()
    importlib.reload(tasks)
    assert weft.run(module.s(), out=tmp_path / "a", backend="serial").answer == 6


def test_task_taken_before_its_module_was_reloaded_is_refused(modules, tmp_path):
    tasks = modules.write(SEARCH.format(factor=2))
    module = modules.write(f"""
        from {tasks.__name__} import times

        @weft.search(version=1)
        def s():
            [result] = yield [times(2)]
            return result.value
    """)
    edit(tasks, 3)
    importlib.reload(tasks)
    with pytest.raises(CodeChanged, match=rf"task {tasks.__name__}:times.*{module.__name__}"):
        weft.run(module.s(), out=tmp_path / "a", backend="serial")


def test_edited_module_that_the_search_reaches_at_last_is_refused_then(modules, tmp_path):
    tasks = modules.write(SEARCH.format(factor=2))
    module = modules.write(f"""
        @weft.search(version=1)
        def s():
            import {tasks.__name__} as tasks
            [result] = yield [tasks.times(2)]
            return result.value
    """)
    edit(tasks, 3)
    out = tmp_path / "a"
    with pytest.raises(CodeChanged, match=f"{tasks.__name__}.py was edited"):
        weft.run(module.s(), out=out, backend="serial")
    assert tasks.__name__ not in RunFolder(out).read_run_file().sources
    importlib.reload(tasks)
    assert weft.run(module.s(), out=out, backend="serial").answer == 6


def test_edited_helper_module_of_the_package_is_refused(modules, tmp_path):
    package = modules.path / "lab_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "helper.py").write_text("FACTOR = 2\n")
    (package / "search.py").write_text(
        "import weft\nfrom lab_package import helper\n"
        + textwrap.dedent(SEARCH.format(factor="helper.FACTOR"))
    )
    importlib.invalidate_caches()
    module = importlib.import_module("lab_package.search")
    (package / "helper.py").write_text("FACTOR = 3\n")
    with pytest.raises(CodeChanged, match=r"helper\.py was edited.*reload\(lab_package\.helper\)"):
        weft.run(module.s(), out=tmp_path / "a", backend="serial")
    importlib.reload(sys.modules["lab_package.helper"])
    importlib.reload(module)
    assert weft.run(module.s(), out=tmp_path / "a", backend="serial").answer == [3, 9]


def test_edited_module_of_another_search_is_nothing_to_this_run(modules, tmp_path):
    other = modules.write(SEARCH.format(factor=2))
    module = modules.write(SEARCH.format(factor=5))
    edit(other, 3)
    assert weft.run(module.s(), out=tmp_path / "a", backend="serial").answer == [5, 25]


def test_module_of_a_zip_file_has_no_file_to_compare(modules, tmp_path):
    archive = modules.path / "lab.zip"
    with zipfile.ZipFile(archive, "w") as file:
        source = "import weft\n" + textwrap.dedent(SEARCH.format(factor=2))
        file.writestr("lab_zipped.py", source)
    sys.path.insert(0, str(archive))
    try:
        module = importlib.import_module("lab_zipped")
        assert weft.run(module.s(), out=tmp_path / "a", backend="serial").answer == [2, 4]
    finally:
        sys.path.remove(str(archive))
        del sys.modules["lab_zipped"]


SCRIPT = """
    import pathlib
    import sys
    import weft
    {search}
    if __name__ == "__main__":
        print(weft.run(s(), out="first", backend="serial").answer)
        text = pathlib.Path(__file__).read_text()
        pathlib.Path(__file__).write_text(text.replace("FACTOR = 2", "FACTOR = 3"))
        weft.run(s(), out="second", backend="serial")
"""


def test_script_edited_while_it_runs_is_refused_at_its_next_run(tmp_path):
    text = SCRIPT.format(search=textwrap.indent(textwrap.dedent(SEARCH.format(factor=2)), "    "))
    (tmp_path / "lab_script.py").write_text(textwrap.dedent(text))
    argv = [sys.executable, "lab_script.py"]
    ended = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.stdout == "[2, 4]\n"
    assert "lab_script.py was edited" in ended.stderr
    assert "start the script again" in ended.stderr
    assert not (tmp_path / "second").exists()
