"""Bad input: one line that names file and field, the right exit code, and nothing is created."""

from __future__ import annotations

import inspect
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.searches.tree.conftest import CONFIG, Wood
from tests.searches.tree.test_runs import fingerprint, git
from weft.errors import InputError
from weft.searches.tree import cli as tree
from weft.searches.tree.configfile import FLAGS, TreeFile, read_config
from weft.searches.tree.ideas import read_folder

NAMES = st.sampled_from(["argv", "timeout_s", "regex", "format", "env", "x"])
REPO = CONFIG.replace('files = "start"', 'repo = "start"')


def check_refused(wood: Wood, code: int, said: list[str], *words: str) -> None:
    before = fingerprint(wood.folder)
    result = wood.run("r", *words)
    assert result.code == code, result
    assert result.out == ""
    assert result.err.startswith("weft: ")
    assert result.err.count("\n") == 1, result.err
    for part in said:
        assert part in result.err, result.err
    assert fingerprint(wood.folder) == before


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("direction = ", ["tree.toml"]),
        ("# nothing\n", ["tree.toml is empty", "weft tree init"]),
        ("beam = 3\n" + CONFIG, ["tree.toml: beam: unknown field"]),
        (
            CONFIG + "[review]\nargv = ['x']\nmax_depth = 2\n",
            ["tree.toml: review.max_depth: unknown field", "write it above the first [table]"],
        ),
        (CONFIG.replace("max_depth = 1", "max_depth = 0"), ["tree.toml: max_depth", "1"]),
        (CONFIG.replace('"max"', '"up"'), ["tree.toml: direction", "'max' or 'min'"]),
        (CONFIG.replace('files = "start"\n', ""), ["tree.toml: give repo or files"]),
        ('repo = "start"\n' + CONFIG, ["tree.toml: give repo or files"]),
        (CONFIG.replace('ideas = "ideas"\n', ""), ["tree.toml: give ideas, parameters"]),
        (CONFIG.replace('"ideas"', '"none"'), ["none does not exist"]),
        (CONFIG.replace('"start"', '"none"'), ["none is not a folder"]),
        (REPO.replace('"start"', '"none"'), ["none does not exist"]),
        (REPO, ["start is not a git repository"]),
        (CONFIG + 'env_from = ["KEY"]\n', ["score.env_from", "no secrets"]),
        (CONFIG + "argv = []\n", ["tree.toml"]),
        (CONFIG.split("[score]", maxsplit=1)[0], ["tree.toml: score"]),
        (CONFIG + "[[parameters]]\nfile='a'\nkey='../x'\nvalues=[1]\n", ["parameters.0.key"]),
    ],
)
def test_bad_config_is_refused_and_nothing_is_created(
    wood: Wood, config: str, said: list[str]
) -> None:
    wood.plant(config)
    check_refused(wood, 3, said)


@pytest.mark.parametrize("config", [CONFIG, REPO])
def test_a_machine_without_git_is_told_to_install_it(
    wood: Wood, config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wood.plant(config)
    monkeypatch.setenv("PATH", str(wood.folder))
    check_refused(wood, 3, ["needs git", "apt-get install git"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--beam-width", "0"], "--beam-width 0"),
        (["--max-parallel-evals", "0"], "--max-parallel-evals 0"),
        (["--dedupe-scope", "all"], "--dedupe-scope 'all'"),
        (["--set", "beam_width"], "is not NAME=VALUE"),
        (["--set", "bream_width=2"], "unknown field; did you mean beam_width?"),
        (["--report-only", "--check-parity"], "--report-only runs nothing"),
        (["--set", "direction=min"], "not valid TOML"),
        (["--set", "beam_width=2", "--beam-width", "2"], "beam_width is given twice"),
        (["--validate-only", "--check-parity"], "--validate-only runs nothing"),
        (["--parallel-backend", "serial", "--max-parallel-evals", "4"], "contradict"),
        (["--set", "review_rounds=2"], "review_rounds needs [review]"),
        (["--import-from", "r"], "--import-from is the run of --out itself"),
        (["--max-total-evals", "0"], "greater than or equal to 1"),
        (["--eval-retries", "101"], "less than or equal to 100"),
        (["--max-parallel-per-node", "5000"], "less than or equal to 4096"),
        (["--eval-timeout-seconds", "nan"], "--eval-timeout-seconds"),
        (["--set", "target_score=1.5"], "must be a whole number, or a decimal in quotes such as"),
        (["--set", 'min_gain="-1"'], "not negative"),
        (["--set", "max_usd=true"], "must be a whole number"),
        (["--set", 'min_relative_gain="2"'], 'a share from "0" to "1"'),
        (["--set", 'gate="mine"'], "must be module:function"),
        (["--set", 'revision="main"'], "revision is for repo"),
    ],
)
def test_bad_flag_is_refused_with_its_name(wood: Wood, words: list[str], said: str) -> None:
    wood.plant()
    check_refused(wood, 2, [said], *words)


def test_flags_are_those_of_the_command() -> None:
    fields = set(inspect.signature(tree.run).parameters) & set(TreeFile.model_fields)
    assert fields == set(FLAGS)


def test_bad_ideas_are_refused(wood: Wood, tmp_path: Path) -> None:
    wood.plant()
    idea = wood.folder / "ideas" / "bad.md"
    for data, reason in ((b"", "is empty"), (b"\xff", "not UTF-8"), (b"words", "no command")):
        idea.write_bytes(data)
        check_refused(wood, 3, ["bad.md", reason])
    idea.unlink()
    outside = wood.write("outside.md", "x")
    idea.symlink_to(outside)
    check_refused(wood, 3, ["bad.md", "leads out"])


def test_dirty_repository_is_refused_and_a_touched_file_is_not(wood: Wood) -> None:
    wood.plant(REPO)
    start = wood.folder / "start"
    (start / "link").symlink_to("params.json")
    git(start, "init", "-q")
    git(start, "add", "-A")
    git(start, "commit", "-qm", "one")
    (start / "score.py").touch()
    (start / "link").unlink()
    (start / "link").symlink_to("params.json")
    assert wood.weft("tree", "run", "tree.toml", "--validate-only").code == 0
    (start / "link").unlink()
    (start / "link").symlink_to("score.py")
    check_refused(wood, 3, ["not committed: link", "commit or stash"])
    git(start, "checkout", "-q", "link")
    wood.write("start/params.json", "{}")
    check_refused(wood, 3, ["not committed: params.json", "commit or stash"])
    git(start, "add", "-A")
    check_refused(wood, 3, ["not committed: params.json"])
    check_refused(wood, 3, ["has no commit 'nowhere'"], "--set", 'revision="nowhere"')


@given(st.text(max_size=300) | st.builds(lambda a, b: f"{CONFIG}{a} = {b}", NAMES, st.text()))
def test_any_config_is_read_or_refused(text: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "tree.toml"
        file.write_text(text, "utf-8", errors="replace")
        try:
            read_config(file).to_config(dry_run=False)
        except InputError as error:
            assert "tree.toml" in error.message  # noqa: PT017 - either way is right


@given(st.binary(max_size=300))
def test_any_idea_is_read_or_refused(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "idea.md").write_bytes(data)
        try:
            [(idea, _)] = read_folder(Path(place), has_command=True)
            assert idea.kind in ("text", "blocks")
        except InputError as error:
            assert "idea.md" in error.message  # noqa: PT017


def test_changed_config_or_idea_on_resume_is_refused(wood: Wood) -> None:
    wood.plant()
    assert wood.run("r", "--dry-run").code == 0
    check_refused(
        wood, 3, ["contains a different run", "beam_width"], "--dry-run", "--beam-width", "2"
    )
    wood.write("ideas/up-a.md", (wood.folder / "ideas" / "up-b.md").read_text("utf-8"))
    check_refused(wood, 3, ["contains a different run"], "--dry-run")


def test_template_into_a_file_is_refused(wood: Wood) -> None:
    wood.write("notes.txt", "mine")
    result = wood.weft("tree", "init", "notes.txt", "--template", "openai")
    result.check_one_line(3, "notes.txt is a file", "choose another folder")
    assert (wood.folder / "notes.txt").read_text() == "mine"
