"""Notebook code stored in a run: executed only where it is known, and only unchanged."""

from __future__ import annotations

import io
import shutil
import tarfile
from pathlib import Path

import pytest

import weft
from tests.support.cells import Notebook, marked
from tests.support.commands import ForkedCommands
from weft.cells import stored
from weft.errors import CodeChanged, ObjectDamaged, RunCopied, RunMismatch, SearchInvalid
from weft.inspect.replay import replay
from weft.model.tasks import SearchCall
from weft.runs.codepacks import CodePacks
from weft.runs.execution import ExecutionChanges
from weft.runs.resume import resume
from weft.runs.run import real_place
from weft.storage.folder import RunFolder
from weft.storage.manifest import Manifest

CELL = """
import weft
OFFSET = 7

@weft.task
def score(x: int) -> int:
    return -(x - OFFSET) ** 2

@weft.search(version=1)
def climb(width: int):
    first = yield [score(x) for x in range(width)]
    yield weft.Milestone("half")
    second = yield [score(r.value) for r in first]
    return max(r.value for r in (*first, *second))
"""
DECLARED = CELL.replace("@weft.task", '@weft.task(name="stored.score")').replace(
    "version=1", 'version=1, name="stored.climb"'
)


def call(text: str = CELL) -> SearchCall:
    search: SearchCall = Notebook(text)["climb"](4)
    return search


@pytest.fixture
def paused(tmp_path: Path) -> Path:
    """A run of a notebook search, stopped in the middle."""
    return pause(tmp_path / "run")


def pause(out: Path, text: str = CELL) -> Path:
    with pytest.raises(weft.Interrupted):
        weft.run(call(text), out=out, pause_at="half")
    return out


def whole(tmp_path: Path, text: str = CELL) -> weft.Run:
    return weft.run(call(text), out=tmp_path / "whole", workers=2)


def accepting(*words: str) -> ExecutionChanges:
    return ExecutionChanges(accept=words)


def code_file(run: Path) -> Path:
    (file,) = (run / "code").glob("*.py")
    return file


def events(run: Path) -> list[tuple[str, str]]:
    manifest = Manifest.open(RunFolder(run).manifest, real_place().disk, read_only=True)
    rows = manifest.query("SELECT kind, detail FROM events")
    manifest.close()
    return [(kind, detail) for kind, detail in rows if kind.endswith(("-accepted", "-changed"))]


def test_run_keeps_its_code_and_resumes_without_the_notebook(
    paused: Path, tmp_path: Path, weft_command: ForkedCommands
) -> None:
    file = code_file(paused)
    assert stored.module_name(file.read_text("utf-8")) == file.stem
    assert "OFFSET = 7" in file.read_text("utf-8")
    result = weft_command(tmp_path, "resume", paused, "-q")
    assert result.code == 0, result
    reference = whole(tmp_path)
    assert reference.head in result.out
    assert sorted(p.name for p in (paused / "code").iterdir()) == [file.name]
    assert events(paused) == []
    assert replay(paused).equal


def test_moved_run_resumes_as_it_is(paused: Path, tmp_path: Path) -> None:
    moved = paused.rename(tmp_path / "moved")
    assert resume(moved).head == whole(tmp_path).head
    assert replay(moved).equal


def test_copied_run_needs_code_to_be_accepted(paused: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(paused, tmp_path / "copy"))
    with pytest.raises(CodeChanged, match=r"this is a copy, the original is in .*--accept code"):
        resume(copy)
    with pytest.raises(CodeChanged):
        resume(copy, accepting("copy"))
    with pytest.raises(RunCopied):
        resume(copy, accepting("code"))
    resumed = resume(copy, accepting("copy", "code"))
    assert resumed.head == whole(tmp_path).head
    assert {kind for kind, _ in events(copy)} == {"copy-accepted", "code-accepted"}
    assert replay(copy).equal  # it is now a separate run, whose code was accepted


def test_finished_copy_is_replayed_only_when_accepted(tmp_path: Path) -> None:
    copy = Path(shutil.copytree(whole(tmp_path).out, tmp_path / "copy"))
    with pytest.raises(CodeChanged, match="--accept code"):
        replay(copy)
    assert replay(copy, accept=("code",)).equal
    with pytest.raises(CodeChanged, match="--accept code"):
        replay(copy)


def test_run_from_elsewhere_needs_code_to_be_accepted_once(
    paused: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weft_command: ForkedCommands
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another user"))
    with pytest.raises(CodeChanged, match="this run was not begun here"):
        resume(paused)
    weft_command(tmp_path, "resume", paused, "-q").check_one_line(3)
    with pytest.raises(weft.Interrupted):
        resume(paused, ExecutionChanges(accept=("code",), wall_limit_s=0.0))
    assert [kind for kind, _ in events(paused)] == ["code-accepted"]
    assert weft_command(tmp_path, "resume", paused, "-q").code == 0


def test_altered_code_is_refused_whatever_is_accepted(paused: Path) -> None:
    file = code_file(paused)
    text = file.read_text("utf-8")
    file.chmod(0o644)
    for other in (text.replace("OFFSET = 7", "OFFSET = 8").encode(), b"\xff"):
        file.write_bytes(other)
        with pytest.raises(ObjectDamaged, match="does not match its name"):
            resume(paused, accepting("code"))
    file.unlink()
    with pytest.raises(ObjectDamaged, match="is missing"):
        resume(paused, accepting("code"))


def test_verify_notices_altered_code_and_executes_nothing(
    paused: Path, tmp_path: Path, weft_command: ForkedCommands
) -> None:
    file = code_file(paused)
    file.chmod(0o644)
    file.write_text("raise SystemExit('executed')", "utf-8")
    words = f"{file.name} was altered: its text does not match its name"
    weft_command(tmp_path, "verify", paused).check_one_line(5, words)


def test_code_exchanged_under_declared_names_is_noticed(tmp_path: Path) -> None:
    run = pause(tmp_path / "run", DECLARED)
    file = code_file(run)
    text = file.read_text("utf-8").replace("OFFSET = 7", "OFFSET = 8")
    name = stored.module_name(text)
    (file.parent / f"{name}.py").write_text(text, "utf-8")
    run_file = (run / "run.toml").read_text("utf-8")
    (run / "run.toml").write_text(run_file.replace(file.stem, name), "utf-8")
    with pytest.raises(CodeChanged, match="it has changed since this run started"):
        resume(run)


def test_search_of_another_name_in_stored_code_is_refused(tmp_path: Path) -> None:
    run = pause(tmp_path / "run", DECLARED)
    run_file = (run / "run.toml").read_text("utf-8")
    (run / "run.toml").write_text(run_file.replace(":climb", ":score"), "utf-8")
    with pytest.raises(ObjectDamaged, match="has no search score"):
        resume(run)


def test_planted_files_are_refused_and_compiled_code_is_dropped(
    paused: Path, tmp_path: Path
) -> None:
    cache = paused / "code" / "__pycache__"
    cache.mkdir(exist_ok=True)
    (cache / "planted.pyc").write_bytes(b"")
    (paused / "code" / "numpy.py").write_text("raise SystemExit")
    with pytest.raises(ObjectDamaged, match=r"numpy\.py is not code of this run"):
        resume(paused)
    (paused / "code" / "numpy.py").unlink()
    assert resume(paused).head == whole(tmp_path).head
    assert not cache.exists()


def test_edited_cell_is_another_run(paused: Path) -> None:
    with pytest.raises(
        RunMismatch, match=r"contains a run of other cells .* a value that they use"
    ):
        weft.run(call(CELL.replace("OFFSET = 7", "OFFSET = 8")), out=paused)


def test_edited_cell_of_a_declared_search_goes_on_when_accepted(tmp_path: Path) -> None:
    run = pause(tmp_path / "run", DECLARED)
    edited = DECLARED.replace("** 2", "** 2 + 0")
    with pytest.raises(CodeChanged, match="the cells, or values that they use"):
        weft.run(call(edited), out=run)
    before = code_file(run)
    resumed = weft.run(call(edited), out=run, accept=["code"])
    assert resumed.head == whole(tmp_path, DECLARED).head
    assert code_file(run) != before
    assert events(run) == [("code-accepted", before.stem)]
    assert replay(run).equal


def test_cell_that_raised_before_any_task_goes_on_once_fixed_if_its_search_is_declared(
    tmp_path: Path,
) -> None:
    for text, advice in ((DECLARED, "run it again"), (CELL, "run it with another folder as out")):
        run = tmp_path / advice
        early = text.replace("    first =", "    width + None\n    first =")
        with pytest.raises(SearchInvalid, match=f"fix the search, then {advice}"):
            weft.run(call(early), out=run)
    with pytest.raises(RunMismatch):
        weft.run(call(), out=run)
    before = code_file(tmp_path / "run it again").stem
    resumed = weft.run(call(DECLARED), out=tmp_path / "run it again")
    assert resumed.head == whole(tmp_path, DECLARED).head
    assert events(resumed.out) == [("code-changed", before)]


def test_run_killed_before_its_genesis_takes_the_cells_of_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = pause(tmp_path / "run", CELL.replace("OFFSET = 7", "OFFSET = 8"))
    for name in ("manifest.sqlite", "ledger.jsonl", "checkpoint"):
        (run / name).unlink(missing_ok=True)
    run_file = (run / "run.toml").read_text("utf-8").split("[sources]")
    (run / "run.toml").write_text(run_file[0] + "[sources]\n[execution]\n", "utf-8")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))  # no head is noted yet
    assert weft.run(call(), out=run).head == whole(tmp_path).head
    assert "OFFSET = 7" in code_file(run).read_text("utf-8")


def test_code_travels_to_nodes_with_what_lies_beside_the_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "beside_cells.py").write_text("def offset():\n    return 7\n")
    monkeypatch.syspath_prepend(tmp_path)
    text = CELL.replace("OFFSET = 7", "from beside_cells import offset").replace(
        "- OFFSET", "- offset()"
    )
    run = whole(tmp_path, text)
    packages = RunFolder(run.out).read_run_file().sources
    packs = CodePacks(lambda: packages, RunFolder(run.out).code)()
    names = []
    for pack in packs:
        with tarfile.open(fileobj=io.BytesIO(pack.data)) as files:
            names += files.getnames()
    assert names == [code_file(run.out).name, "beside_cells.py"]


def test_task_of_a_notebook_cannot_serve_a_search_of_a_file(tmp_path: Path) -> None:
    task = Notebook(CELL)["score"]
    foreign = Notebook(CELL)["climb"](4)
    search = SearchCall("tests.nowhere:climb", 1, {}, lambda: iter_tasks(task))
    assert foreign.import_path == "__main__:climb"
    with pytest.raises(SearchInvalid, match="score is defined in a notebook, the search"):
        weft.run(search, out=tmp_path / "run")


def iter_tasks(task: weft.Value) -> object:
    yield [task(1)]


def test_module_that_cannot_be_executed_changes_nothing(tmp_path: Path) -> None:
    book = Notebook("PARTS = 1\ndef share(n=6 // PARTS):\n    return n")
    book.run(CELL.replace("- OFFSET", "- share()"))
    book.run("PARTS = 0")
    with pytest.raises(SearchInvalid, match="cannot be executed: ZeroDivisionError"):
        weft.run(book["climb"](4), out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_views_never_import_stored_code(tmp_path: Path, weft_command: ForkedCommands) -> None:
    mark = tmp_path / "mark"
    run = weft.run(marked(mark), out=tmp_path / "runs" / "run").out
    before = mark.read_text()
    key = RunFolder(run).ledger.read_text("utf-8").splitlines()[1].partition('"key":"')[2][:64]
    views = (["verify"], ["status"], ["report"], ["explain", key], ["pack"], ["diff", str(run)])
    for command, *rest in views:
        result = weft_command(tmp_path, command, run, *rest)
        assert result.code == 0, result
    assert mark.read_text() == before
    assert replay(run).equal
    assert mark.read_text() != before
