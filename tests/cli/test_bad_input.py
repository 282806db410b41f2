"""Bad input: one line, the right exit code, and nothing changed on disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Weft, tree
from tests.support.commands import Told

BIDI = "\u202e"


def refused(weft: Weft, tmp_path: Path, code: int, words: list[str], *said: str) -> Told:
    """Run a command that must fail and leave the folder as it is."""
    before = tree(tmp_path)
    result = weft(*words)
    result.check_one_line(code, *said)
    assert tree(tmp_path) == before
    assert not (tmp_path / "new").exists()
    return result


def run_words(*more: str, spec: str = "small:squares") -> list[str]:
    return ["run", spec, "--out", "new", *more]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"count": 5', "--args: not valid JSON: Expecting ',' delimiter (line 1 column 12)"),
        ("count=5", """(line 1 column 1); write it like --args '{"size": 40}'"""),
        ("", "--args: is empty; it should hold JSON"),
        ("[1]", "not an object"),
        ("7", "a JSON number"),
        ('{"count": 1, "count": 2}', 'duplicate key "count"'),
        ('{"count": NaN}', "NaN is not JSON"),
        ('{"count": -Infinity}', "Infinity is not JSON"),
        ('{"count": 1e999}', "too large"),
        ('{"count": %s}' % ("9" * 5000), "more than 4000 digits"),
        ('{"count": "\\ud800"}', "lone surrogate"),
        ("\ufeff{}", "byte order mark"),
        ("[" * 60_000 + "]" * 60_000, "nested too deeply"),
        ('{"other": 1}', "call of search small:squares"),
        ('{"counts": 1}', """give its arguments as --args '{"count": 5}'"""),
        ('{"a\\u0000b": 1}', "call of search small:squares"),
        (f'{{"{BIDI}": 1}}', "call of search small:squares"),
    ],
    ids=lambda text: text[:30],
)
def test_args_bad_is_refused(weft: Weft, tmp_path: Path, text: str, said: str) -> None:
    refused(weft, tmp_path, 3, run_words("--args", text), said)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["ruun"], "No such command 'ruun'. Did you mean 'run'? weft --help"),
        (run_words("--wrokers", "2"), "Did you mean '--workers'? weft run --help"),
        (run_words("--zebra"), "No such option: --zebra; weft run --help"),
        (["arc", "solve", "007bbfb7"], "Missing option '--out'; weft arc solve --help"),
        (["run"], "Missing argument 'SPEC'; weft run --help"),
    ],
)
def test_wrong_or_missing_word_is_answered_with_the_right_one(
    weft: Weft, tmp_path: Path, words: list[str], text: str
) -> None:
    refused(weft, tmp_path, 2, words, text)


def test_args_file_nested_deeply_is_refused(weft: Weft, tmp_path: Path) -> None:
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        (tmp_path / "deep.json").write_text(opening * 100_000 + "1" + closing * 100_000)
        refused(weft, tmp_path, 3, run_words("--args", "@deep.json"), "nested too deeply")


def test_args_value_deeper_than_values_may_be_is_refused(weft: Weft, tmp_path: Path) -> None:
    text = '{"count": ' + "[" * 150 + "]" * 150 + "}"
    refused(weft, tmp_path, 3, run_words("--args", text), "nested deeper than 100")


@pytest.mark.parametrize("name", ["@", "@.", "@missing.json"])
def test_args_file_unreadable_is_refused(weft: Weft, tmp_path: Path, name: str) -> None:
    refused(weft, tmp_path, 3, run_words("--args", name), "--args")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("small", "write module:search"),
        ("small:", "write module:search"),
        (":squares", "write module:search"),
        ("small:missing", "its searches are: broken, informed, squares, stores, unsure"),
        ("small:not_a_search", "a int, but no search"),
        ("small:square", "its searches are"),
        ("json:loads", "no function marked @weft.search"),
        ("nowhere:squares", "there is no module nowhere"),
        ("small.inner:squares", "no module small.inner"),
        ("sm all:squares", "not a module name"),
        ("small\n:squares", "not a module name"),
        (f"small{BIDI}:squares", "not a module name"),
        ("missing.py:squares", "does not exist"),
        ("no/such/folder.py:squares", "does not exist"),
        (".:squares", "not a module name"),
        ("./:squares", "is not a file"),
    ],
)
def test_spec_bad_is_refused(weft: Weft, tmp_path: Path, spec: str, said: str) -> None:
    refused(weft, tmp_path, 3, run_words(spec=spec), said)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import nothing_like_this\n", "No module named 'nothing_like_this' (mine.py:1)"),
        ("def (:\n", "SyntaxError: invalid syntax (mine.py:1)"),
        ("1 / 0\n", "ZeroDivisionError: division by zero (mine.py:1)"),
        ("raise SystemExit(7)\n", "SystemExit: 7"),
        ("import weft\n@weft.search(version=0)\ndef s():\n    yield []\n", "version"),
        ("import weft\n@weft.task\ndef t(*xs): pass\n", "arguments are recorded by name"),
    ],
)
def test_spec_file_that_cannot_be_imported_is_refused(
    weft: Weft, tmp_path: Path, source: str, said: str
) -> None:
    (tmp_path / "mine.py").write_text(source)
    refused(weft, tmp_path, 3, run_words(spec="mine.py:s"), said)


@pytest.mark.parametrize(
    ("name", "said"), [("json.py", "is taken by"), ("my-search.py", "cannot be imported")]
)
def test_spec_file_with_an_impossible_name_is_refused(
    weft: Weft, tmp_path: Path, name: str, said: str
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / name).write_text("import weft\n")
    refused(weft, tmp_path, 3, run_words(spec=f"sub/{name}:s"), said)


def test_input_missing_folder_fifo_and_loop_are_refused(weft: Weft, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to("loop")
    for name, reason in (
        ("missing", "does not exist"),
        (".", "not a regular file"),
        ("fifo", "not a regular file"),
        ("loop", "input table"),
        ("x" * 300, "input table"),
    ):
        words = run_words("--input", f"table={name}", spec="small:informed")
        refused(weft, tmp_path, 3, words, reason)


@pytest.mark.parametrize(
    "more",
    [
        ["--input", "table"],
        ["--input", "=small.py"],
        ["--input", "table="],
        ["--input", f"ta{BIDI}ble=small.py"],
        ["--input", "ta\nble=small.py"],
        ["--input", "a=small.py", "--input", "a=small.py"],
        ["--budget", "tries"],
        ["--budget", "tries=-1"],
        ["--budget", "tries=1.5"],
        ["--budget", "tries=" + "9" * 5000],
        ["--budget", "tries=²"],
        ["--seed", "x"],
        ["--seed", "9" * 5000],
        ["--retries", "-1"],
        ["--retries", "101"],
        ["--timeout", "0"],
        ["--timeout", "nan"],
        ["--timeout", "inf"],
        ["--wall-limit", "-1"],
        ["--workers", "0"],
        ["--workers", "5000"],
        ["--backend", "cloud"],
        ["--accept", "everything"],
        ["--no-such-option"],
        ["one-more-word"],
    ],
)
def test_option_bad_is_a_usage_error(weft: Weft, tmp_path: Path, more: list[str]) -> None:
    refused(weft, tmp_path, 2, run_words(*more))


@pytest.mark.parametrize("words", [["no-such-command"], ["run"], ["run", "small:squares"]])
def test_command_line_incomplete_is_a_usage_error(
    weft: Weft, tmp_path: Path, words: list[str]
) -> None:
    refused(weft, tmp_path, 2, words, "--help")


def test_out_that_cannot_be_a_run_folder_is_refused(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "loop").symlink_to("loop")
    for out, reason in (
        ("file", "is not a folder"),
        ("file/below", "cannot be a run folder"),
        ("full", "not of a run (mine.txt)"),
        ("loop", "cannot be a run folder"),
        ("loop/below", "cannot be a run folder"),
        ("x" * 300, "cannot be a run folder"),
    ):
        refused(weft, tmp_path, 3, ["run", "small:squares", "--out", out], reason, "--out")


def test_sign_key_that_is_none_is_refused(weft: Weft, tmp_path: Path) -> None:
    refused(weft, tmp_path, 3, run_words("--sign-key", "missing.pem"), "missing.pem")
    refused(weft, tmp_path, 3, run_words("--sign-key", "small.py"), "small.py")
    os.mkfifo(tmp_path / "fifo")
    refused(weft, tmp_path, 3, run_words("--sign-key", "fifo"), "not a regular file")


@pytest.mark.parametrize("command", ["resume", "replay"])
@pytest.mark.parametrize("folder", ["missing", ".", "small.py"])
def test_folder_that_is_no_run_is_refused(
    weft: Weft, tmp_path: Path, command: str, folder: str
) -> None:
    refused(weft, tmp_path, 3, [command, folder], "not a run folder")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "schema_version"),
        ("x = [", "run.toml"),
        ('schema_version = 1\nrun_id = "../../x"\nsearch = "a:b"\nsearch_path = ""\n'
         "[sources]\n[execution]\n", "letters and digits"),
        ("a = " + "[" * 5000, "run.toml"),
    ],
)  # fmt: skip
def test_resume_run_toml_bad_is_refused(weft: Weft, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "run.toml").write_text(text)
    refused(weft, tmp_path, 3, ["resume", "r"], said)


def test_search_that_raises_says_where_and_double_verbose_shows_the_traceback(
    weft: Weft, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(
        "import weft\n@weft.search(version=1)\ndef s():\n    yield []\n    {}['gone']\n"
    )
    result = weft("run", "mine:s", "--out", "r")
    result.check_one_line(3, "KeyError", "mine.py")
    loud = weft("run", "mine:s", "--out", "r", "-vv")
    assert loud.code == 3
    assert "Traceback" in loud.err
    assert loud.err.splitlines()[-1].startswith("weft: ")


def test_internal_error_is_one_line_without_double_verbose(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from weft import main
    from weft.cli import runs

    def bug(*_: object, **__: object) -> None:
        raise RuntimeError("planted\nbug")

    monkeypatch.setattr(runs.options, "read_args", bug)
    with pytest.raises(SystemExit) as ended:
        main.main(["run", "a:b", "--out", "r"])
    assert ended.value.code == 70
    stderr = capsys.readouterr().err
    assert stderr == (
        "weft: internal error, RuntimeError: planted\\nbug; run again with -vv and report it\n"
    )


LAZY = """
class Lazy:
    def __getattr__(self, name):
        globals()["loaded"] = True  # as lazy imports do
        raise AttributeError(name)


first, second = Lazy(), Lazy()
"""


def test_module_that_loads_its_names_when_asked_is_a_line_too(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "lazy.py").write_text(LAZY)
    refused(weft, tmp_path, 3, run_words(spec="lazy:nosuch"), "no function marked @weft.search")
