"""The idea index: appended once, safe for two writers, and an input when a run asks for it."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest

from tests.searches.tree.conftest import CONFIG, Wood
from weft.inspect.report.view import RunView
from weft.model.codec import from_json
from weft.runs import world
from weft.searches.tree.ideaindex import IdeaEntry, IdeaIndex
from weft.searches.tree.search import NAME

pytestmark = pytest.mark.xdist_group("tree-index")
FEEDING = """
[propose]
argv = ["{python}", "-I", "{work_dir}/propose.py"]
"""
PROPOSE = """
import json, os, pathlib
context = json.loads(pathlib.Path(os.environ["WEFT_CONTEXT_FILE"]).read_text())
good = [e for e in context["index"] if e["verdict"].startswith("promoted")]
for number, entry in enumerate(good):
    (pathlib.Path(os.environ["WEFT_IDEAS_DIR"]) / f"{number}.md").write_text(entry["text"])
"""


def entry(number: int) -> IdeaEntry:
    return IdeaEntry(
        f"run-e{number}", "i", "text", "0" * 64, "t" * 900, (), "c", "max", "1", "2", "x"
    )


def append(folder: str, start: int) -> None:
    index = IdeaIndex(Path(folder), "area")
    for number in range(start, start + 40):
        index.add([entry(number), entry(number + 1)])


def test_two_writers_at_once_lose_and_repeat_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=append, args=(str(tmp_path), n)) for n in (0, 20)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    lines = (tmp_path / "area.jsonl").read_text("utf-8").splitlines()
    names = [json.loads(line)["entry_id"] for line in lines]
    assert sorted(names, key=lambda n: int(n[5:])) == [f"run-e{n}" for n in range(61)]


def test_line_torn_or_foreign_is_left_alone_and_its_eval_noted_again(
    tmp_path: Path,
) -> None:
    index = IdeaIndex(tmp_path, "area")
    index.add([entry(1), entry(2)])
    file = tmp_path / "area.jsonl"
    file.write_bytes(b'[]\n{}\n\xff\n"x"\n' + file.read_bytes()[:-9])
    assert index.add([entry(1), entry(2)]) == 1
    fed = json.loads(index.snapshot())
    assert [from_json(IdeaEntry, raw) for raw in fed] == [entry(1), entry(2)]


def test_run_notes_its_evals_once_and_a_later_run_is_fed_with_them(
    wood: Wood, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(world, "state_folder", lambda: tmp_path / "state")
    wood.plant()
    for _ in range(2):
        assert wood.run("r", "--set", 'area="packing"').code == 0
    file = tmp_path / "state" / "ideas" / "packing.jsonl"
    entries = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [(e["idea"], e["verdict"]) for e in entries] == [
        ("down-b.md", "regressed"), ("up-a.md", "promoted n1"), ("up-b.md", "promoted n2"),
    ]  # fmt: skip
    assert (entries[1]["parent_score"], entries[1]["score"]) == ("12", "52")
    wood.write("tree.toml", CONFIG.replace('ideas = "ideas"\n', "") + FEEDING)
    wood.write("propose.py", PROPOSE)
    words = ("--set", 'area="packing"', "--set", "feed_index=true")
    assert wood.run("fed", *words, "--wall-limit", "0.01").code == 130
    file.write_text("")  # another run may have changed it meanwhile
    assert wood.run("fed", *words).code == 0
    assert wood.load("fed").history.nodes[1].result.score == "52"
    assert "index" in RunView(wood.folder / "fed", NAME).genesis()["inputs"]
    assert len(file.read_text("utf-8").splitlines()) == 2


def test_area_names_a_file_and_cannot_leave_its_folder(wood: Wood) -> None:
    wood.plant()
    for area in ("../x", "A b", ""):
        result = wood.run("r", "--set", f"area='{area}'")
        assert result.code == 2, result
        assert "area" in result.err
    assert "feed_index needs area" in wood.run("r", "--set", "feed_index=true").err
