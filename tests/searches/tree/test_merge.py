"""Ideas that were written for the root and no longer fit: merged three-way, or refused by name."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.searches.tree.conftest import CONFIG, Wood
from weft.searches.tree.repository import read_files
from weft.searches.tree.slot.edits import THREE_WAY, apply_idea, read_entries
from weft.searches.tree.slot.git import Git
from weft.searches.tree.slot.values import Conflict

pytestmark = pytest.mark.xdist_group("tree")
LINES = [f"line {number}" for number in range(1, 13)]


def text(**changed: str) -> str:
    """Twelve lines, some replaced: `at3="x"` replaces the third; an `\\n` in it makes two lines."""
    lines = [changed.get(f"at{number}", line) for number, line in enumerate(LINES, 1)]
    return "\n".join(lines) + "\n"


def patch(folder: Path, after: str, before: str = "", name: str = "a.txt") -> bytes:
    """The output of `diff -u` for two texts, which has no blob names."""
    for side, content in (("a", before or text()), ("b", after)):
        (folder / side).mkdir(exist_ok=True)
        (folder / side / name).write_text(content)
    argv = ["diff", "-u", f"a/{name}", f"b/{name}"]
    return subprocess.run(argv, cwd=folder, capture_output=True, check=False).stdout


@pytest.fixture
def git(tmp_path: Path) -> Iterator[Git]:
    """A repository whose root has a.txt and other.txt, with the root in its index."""
    (tmp_path / "start").mkdir()
    (tmp_path / "start" / "a.txt").write_text(text())
    (tmp_path / "start" / "other.txt").write_text("other\n")
    stream = read_files([tmp_path / "start"])
    (tmp_path / "place").mkdir()
    git = Git(tmp_path / "repo.git", None, {"GIT_INDEX_FILE": str(tmp_path / "place" / "index")})
    git.run("init", "-q", "--template=")
    git.import_stream([stream.path.read_bytes()], lambda: None)
    git.run("read-tree", stream.root.root.tree)
    return git


def apply(git: Git, idea: bytes, kind: str = "patch", *, merge: bool = True) -> str:
    root = git.word("rev-parse", "refs/weft/root^{tree}")
    return apply_idea(git, kind, idea, root, merge=merge)


def content(git: Git, name: str = "a.txt") -> str:
    return read_entries(git, [name])[name].data.decode()


def test_patch_whose_context_an_earlier_idea_changed_is_merged(git: Git, tmp_path: Path) -> None:
    first = patch(tmp_path, text(at5="five"))
    second = patch(tmp_path, text(at7="seven"))
    assert apply(git, first) == ""
    assert apply(git, second) == THREE_WAY
    assert content(git) == text(at5="five", at7="seven")
    assert content(git, "other.txt") == "other\n"
    assert git.run("ls-files", "-u") == b""


def test_blocks_whose_text_an_earlier_idea_changed_are_merged(git: Git, tmp_path: Path) -> None:
    assert apply(git, patch(tmp_path, text(at5="five"))) == ""
    old = "".join(f"{line}\n" for line in LINES[4:8])
    block = f"FILE: a.txt\n<<<<<<< SEARCH\n{old}=======\n{old.replace('line 8', 'eight')}"
    assert apply(git, f"{block}>>>>>>> REPLACE\n".encode(), "blocks") == THREE_WAY
    assert content(git) == text(at5="five", at8="eight")


def test_two_changes_of_one_line_conflict_and_leave_the_index_alone(
    git: Git, tmp_path: Path
) -> None:
    apply(git, patch(tmp_path, text(at5="five")))
    before = git.word("write-tree")
    with pytest.raises(Conflict, match="both sides change the same lines"):
        apply(git, patch(tmp_path, text(at5="fifth")))
    with pytest.raises(Conflict, match="does not apply"):
        apply(git, patch(tmp_path, text(at7="seven")), merge=False)
    with pytest.raises(Conflict):
        apply(git, patch(tmp_path, "nothing\n", "of the root\n"))
    assert git.word("write-tree") == before


def test_file_that_an_earlier_idea_removed_is_a_conflict(git: Git, tmp_path: Path) -> None:
    remove = b"diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n" + patch(
        tmp_path, ""
    ).replace(b"+++ b/a.txt", b"+++ /dev/null")
    assert apply(git, remove) == ""
    with pytest.raises(Conflict, match="added or removed"):
        apply(git, patch(tmp_path, text(at7="seven")))


@pytest.mark.parametrize(
    ("block", "problem"),
    [
        ("FILE: ../x\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE", "outside the repository"),
        ("FILE: .git/x\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE", "outside the repository"),
        ("FILE: a.txt/x\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE", "a.txt/x"),
        ("FILE: a.txt\n<<<<<<< SEARCH\nline\n=======\nx\n>>>>>>> REPLACE", "there 0 times"),
    ],
)
def test_block_that_fits_nowhere_is_a_conflict(git: Git, block: str, problem: str) -> None:
    with pytest.raises(Conflict, match=problem):
        apply(git, block.encode(), "blocks")


def test_blocks_create_files_and_keep_modes_and_line_ends(git: Git, tmp_path: Path) -> None:
    blob = git.word("hash-object", "-w", "--stdin", data=b"one\r\ntwo\r\n")
    git.run("update-index", "--add", "--cacheinfo", f"100755,{blob},run.sh")
    idea = (
        "FILE: run.sh\n<<<<<<< SEARCH\none\n=======\nONE\n>>>>>>> REPLACE\n"
        "FILE: new/file\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n"
    )
    assert apply(git, idea.encode(), "blocks") == ""
    entry = read_entries(git, ["run.sh"])["run.sh"]
    assert (entry.mode, entry.data) == ("100755", b"ONE\r\ntwo\r\n")
    assert content(git, "new/file") == "new\n"


SCORE = """
import json, os
body = open("a.txt").read()
value = {"score": sum(word in body for word in ("five", "seven", "nine"))}
open(os.environ["WEFT_RESULT_FILE"], "w").write(json.dumps(value))
"""


def plant(wood: Wood) -> None:
    wood.plant(CONFIG.replace("max_depth = 1", "max_depth = 3"), SCORE)
    wood.write("start/a.txt", text())
    for name in ("up-a.md", "up-b.md", "down-b.md"):
        (wood.folder / "ideas" / name).unlink()
    for at, word in ((5, "five"), (7, "seven"), (9, "nine")):
        idea = patch(wood.folder, text(**{f"at{at}": word}))
        (wood.folder / "ideas" / f"{word}.patch").write_bytes(idea)


def test_combination_of_ideas_that_touch_the_same_lines_context_is_found(wood: Wood) -> None:
    plant(wood)
    result = wood.run("r", "--json")
    assert result.json["answer"]["best_score"] == "3"
    merged = [e for e in wood.load("r").history.evals if e.candidate and e.candidate.merged]
    assert [e.verdict for e in merged if e.depth == 3] == ["promoted n3"]
    assert "merged three-way" in wood.weft("tree", "why", "r", merged[-1].name).out
    assert wood.run("off", "--set", 'merge="off"', "--json").json["answer"]["best_score"] == "2"
    assert "apply-conflict" in set(wood.verdicts("off").values())
    assert wood.run("two", "--max-parallel-evals", "2").code == 0
    assert wood.ledger("two") == wood.ledger("r")
    assert wood.weft("tree", "export", "r", "--repo", "made").code == 0
    assert (wood.folder / "made" / "a.txt").read_text() == text(at5="five", at7="seven", at9="nine")
