"""Scorers beside the config: they belong to the run, and every attempt has its own copy."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.searches.tree.conftest import Wood
from weft.inspect.report.view import RunView
from weft.searches.tree.runfiles import names_in, with_copies
from weft.searches.tree.search import NAME

pytestmark = pytest.mark.xdist_group("tree-runfiles")
CONFIG = """
files = "start"
ideas = "ideas"
direction = "max"
max_depth = 1
harness = ["data"]
eval_timeout_seconds = 60
deterministic = true
[score]
argv = ["{python}", "-I", "{harness}", "{work_dir}/score.py"]
"""
SCORE = """
from pathlib import Path

FACTOR = int((Path(__file__).parent / "data" / "deep" / "factor").read_text())


def score(candidate):
    return {"score": FACTOR * candidate.call("work:points")}
"""
WORK = "def points():\n    return 1\n"


def idea(code: str, points: int) -> str:
    head = f"FILE: work.py\n<<<<<<< SEARCH\n{WORK}=======\n"
    return f"{head}{code}\n\n\ndef points():\n    return {points}\n>>>>>>> REPLACE\n"


def plant(wood: Wood, config: str = CONFIG) -> None:
    wood.write("tree.toml", config)
    wood.write("score.py", SCORE)
    wood.write("data/deep/factor", "10")
    wood.write("data/__pycache__/left.pyc", "not part of it")
    wood.write("start/work.py", WORK)
    wood.write("ideas/better.md", idea("", 2))


def test_files_beside_the_config_are_bound_by_the_first_record(wood: Wood) -> None:
    plant(wood)
    assert wood.run("r").code == 0
    inputs = RunView(wood.folder / "r", NAME).genesis()["inputs"]
    names = [name for name in inputs if name.startswith("harness/")]
    assert sorted(names) == [
        "harness/data/deep/factor", "harness/score.py", "harness/weft_harness.py",
    ]  # fmt: skip
    assert inputs["harness/score.py"] == hashlib.sha256(SCORE.encode()).hexdigest()
    assert wood.load("r").history.nodes[1].score_text == "20"


def test_file_that_changed_since_the_start_is_refused_by_name(wood: Wood) -> None:
    plant(wood)
    assert wood.run("r").code == 0
    before = wood.ledger("r")
    for name in ("score.py", "data/deep/factor"):
        path = wood.folder / name
        text = path.read_text("utf-8")
        path.write_text(text.replace("10", "11") + "\n")
        result = wood.run("r")
        assert result.code == 3
        assert f"inputs.harness/{name}" in result.err
        imported = wood.run("s", "--import-from", "r")
        assert imported.code == 3
        assert f"{name} next to the config is different" in imported.err
        path.write_text(text)
    assert not (wood.folder / "s").exists()
    assert wood.ledger("r") == before


REWRITING = """
import pathlib
for name in ("score.py", "data/deep/factor"):
    path = pathlib.Path("{folder}") / name
    path.write_text("99999")
"""
AT_WORK = """
import os, pathlib
path = pathlib.Path(os.environ["TMPDIR"]).parent / "harness" / {name!r}
path.parent.mkdir(parents=True, exist_ok=True)
if path.exists():
    path.chmod(0o755)
path.write_text("99999")
"""


def test_candidate_that_rewrites_the_files_while_it_is_scored_changes_nothing(wood: Wood) -> None:
    plant(wood)
    wood.write("ideas/a-rewrites.md", idea(REWRITING.format(folder=wood.folder), 3))
    wood.write("ideas/z-last.md", idea("", 4))
    assert wood.run("r", "--set", 'score.sandbox="off"').code == 0
    scores = {e.idea.name: e.score for e in wood.load("r").history.evals}
    assert scores == {"a-rewrites.md": "30", "better.md": "20", "z-last.md": "40"}
    assert (wood.folder / "score.py").read_text() == "99999"


def test_copy_that_changed_while_it_was_used_is_evidence(wood: Wood) -> None:
    plant(wood)
    names = ("score.py", "data/deep/factor", "json.py")
    for number, name in enumerate(names):
        wood.write(f"ideas/a{number}.md", idea(AT_WORK.format(name=name), 2))
    wood.run("r", "--set", 'score.sandbox="off"')
    verdicts = wood.verdicts("r")
    assert verdicts.pop("better.md") == "promoted n1"
    assert verdicts == dict.fromkeys(verdicts, "tampered")
    for number, name in enumerate(names, 1):
        why = wood.weft("tree", "why", "r", f"e{number}").out
        assert f"{name}, a copy of a file beside the config" in why


SHELL_SCORE = """
[ "$0" != "$WEFT_WORK_DIR/score.sh" ] || exit 9
printf 'weft-result 1\\n' >&3
unset WEFT_RESULT_FD
points=$("$WEFT_PYTHON" -I -c 'exec(open("work.py").read()); print(points())' 3>&-)
printf '{"score": %d}\\n' "$points" >&3
"""


def test_scorer_in_another_language_speaks_the_protocol(wood: Wood) -> None:
    stage = "[score]\nshell = 'exec sh \"$WEFT_WORK_DIR/score.sh\"'\nchannel = true\n"
    plant(wood, CONFIG.partition("[score]")[0].replace('harness = ["data"]\n', "") + stage)
    wood.write("score.sh", SHELL_SCORE)
    result = wood.run("r")
    assert result.code == 0, result
    assert wood.load("r").history.nodes[1].score_text == "2"


BAD = {
    'harness = ["nowhere"]': "harness: 'nowhere' is not there",
    'harness = [".nowhere"]': "harness: '.nowhere' is not there",
    'harness = ["../up"]': "lies outside the config's folder",
    'harness = ["/etc"]': "lies outside the config's folder",
}
BAD_STAGES = {
    'env = { WEFT_RESULT_FD = "3" }': "WEFT_RESULT_FD is set by channel = true",
    "regex = 'score (.*)'": "cannot have a regex",
    'format = "shinka"': "or result files",
}


@pytest.mark.parametrize("line", [*BAD, *BAD_STAGES])
def test_bad_config_is_refused_by_name_and_leaves_nothing(wood: Wood, line: str) -> None:
    config = CONFIG.replace('harness = ["data"]', line) if line in BAD else CONFIG + line
    plant(wood, config)
    result = wood.run("r")
    assert result.code == 3, result
    assert {**BAD, **BAD_STAGES}[line] in result.err
    assert not (wood.folder / "r").exists()


def test_words_name_files_wherever_they_stand() -> None:
    known = ("a b.py", "data/x.json", "s.sh")
    assert list(names_in("{work_dir}/a b.py")) == ["a b.py", "a"]
    assert with_copies("{work_dir}/a b.py", known) == "{harness_dir}/a b.py"
    assert with_copies("--with={work_dir}/data/x.json", known) == "--with={harness_dir}/data/x.json"
    assert with_copies("{work_dir}/out.log", known) == "{work_dir}/out.log"
    line = 'sh "$WEFT_WORK_DIR/s.sh" && cat ${WEFT_WORK_DIR}/s.sh $WEFT_WORK_DIR/other'
    copies = 'sh "$WEFT_HARNESS_DIR/s.sh" && cat ${WEFT_HARNESS_DIR}/s.sh $WEFT_WORK_DIR/other'
    assert with_copies(line, known) == copies


def test_copies_are_read_only_files_of_the_attempt(wood: Wood) -> None:
    plant(wood)
    code = (
        "import os, pathlib\n"
        'folder = pathlib.Path(os.environ["TMPDIR"]).parent / "harness"\n'
        'modes = {oct(p.stat().st_mode & 0o777) for p in folder.rglob("*") if p.is_file()}\n'
        'assert modes == {"0o555"}, modes'
    )
    wood.write("ideas/better.md", idea(code, 2))
    assert wood.run("r").code == 0
    assert not list(Path(wood.folder / "r").glob("attempts/*"))


def test_stopped_run_is_not_resumed_with_another_scorer_beside_it(wood: Wood) -> None:
    plant(wood)
    wood.write(
        "tree.toml",
        CONFIG
        + "[implement]\nshell = '[ -e {here}/go ] || exit 127'\n".replace(
            "{here}", str(wood.folder)
        ),
    )
    assert wood.run("r").code == 130
    factor = wood.folder / "data" / "deep" / "factor"
    factor.write_text("11")
    result = wood.weft("resume", "r")
    assert result.code == 3
    assert "data/deep/factor next to the config has changed since this run started" in result.err
    factor.unlink()
    assert wood.weft("resume", "r").code == 130, "the run has a copy of its own"
