"""F16: data is never executed, and a secret is never written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import weft
from tests.workers.lab import Lab, print_figures, trials
from weft.errors import SearchInvalid, WorldError
from weft.main import app
from weft.worker.command import expand

CANARY = "canary"
HOSTILE = (
    f"$(touch {CANARY})",
    f"`touch {CANARY}`",
    f"; touch {CANARY}",
    f"\ntouch {CANARY}\n",
    f"| touch {CANARY} &",
    f"' ; touch {CANARY} ; '",
    f'" ; touch {CANARY} ; "',
    "{out_dir.__class__}",
    "{0}{attempt!r}{attempt:>99}",
    "{unknown}",
    "{{out_dir}}",
    "%(out_dir)s ${HOME} $HOME ~",
    "-rf",
    "--help",
    "../../../../etc/passwd",
    "* ? [a-z]",
)


def canaries(*folders: Path) -> list[Path]:
    return [path for folder in folders for path in folder.rglob(f"*{CANARY}*")]


@pytest.fixture
def here(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A lab whose folder is also the current folder, so that no canary is missed."""
    monkeypatch.chdir(lab.folder)
    return lab


def echo(*words: str, **more: Any) -> dict[str, Any]:
    return {"argv": ["{python}", "-S", "-c", SHOW, *words], **more}


SHOW = "import sys, os, json; print(json.dumps([sys.argv[1:], os.environ.get('V')]))"


def test_hostile_words_arrive_as_they_are(here: Lab) -> None:
    steps = [echo("{word}", env={"V": "{word}"}, args={"word": word}) for word in HOSTILE]
    run = here.run(trials.commands(steps), workers=2)
    answers = [json.loads(answer["stdout"]) for answer in run.answer]
    harmed = canaries(here.folder)
    print_figures("F16 words", strings=len(HOSTILE), canaries=len(harmed))
    for word, (argv, value) in zip(HOSTILE, answers, strict=True):
        assert (argv, value) == ([word], word)
    assert harmed == []


@pytest.mark.parametrize("word", HOSTILE)
def test_only_whole_known_names_are_replaced_and_nothing_is_evaluated(word: str) -> None:
    if "{{out_dir}}" in word:
        assert expand(word, {"out_dir": "/o"}) == "{/o}"
    else:
        assert expand(word, {"out_dir": "/o", "attempt": "1"}) == word


@pytest.mark.parametrize("name", ["word", "file1", "IN", "_x9", "a_b"])
def test_any_plain_name_can_be_put_in(name: str) -> None:
    assert expand(f"<{{{name}}}>", {name: "x"}) == "<x>"


def test_what_was_put_in_is_not_expanded_again() -> None:
    assert expand("{a}{b}", {"a": "{b}", "b": "{a}"}) == "{b}{a}"


def test_hostile_folder_is_refused_or_is_only_a_folder(here: Lab) -> None:
    for number, word in enumerate(HOSTILE):
        try:
            run = here.run(trials.commands([echo("x", cwd=word)]), f"run-{number}")
        except SearchInvalid as error:
            assert "{unknown} is not defined" in str(error)  # noqa: PT017 - either may happen
        except WorldError as error:
            assert "cannot start on node local" in str(error)  # noqa: PT017 - either may happen
        else:
            assert run.answer[0].get("type") in (None, "command-broken")
    assert canaries(here.folder) == []


LANES = [word for word in HOSTILE if word.isprintable() and "/" not in word]


def test_hostile_lane_names_are_only_names(here: Lab) -> None:
    run = here.run(trials.laned(LANES, [echo("{slot}")]), workers=2)
    assert len(run.answer) == len(LANES)
    assert canaries(here.folder) == []


@pytest.mark.parametrize("name", ["a/b", "../up", "a\nb", "", "a\0b", "\x1b[31m"])
def test_lane_name_that_could_mislead_is_refused(name: str) -> None:
    with pytest.raises(weft.WeftError, match="use printable text without"):
        weft.lanes({name: trials.commands([])})


def test_hostile_node_names_are_only_names(here: Lab) -> None:
    nodes = [weft.Node(word, cpus=1) for word in HOSTILE]
    run = here.run(trials.commands([echo("{slot}")] * 3), workers=3, nodes=nodes)
    slots = [json.loads(answer["stdout"])[0][0] for answer in run.answer]
    assert set(slots) <= {f"{word}/cpu0" for word in HOSTILE}
    assert canaries(here.folder) == []


@pytest.mark.parametrize("place", ["argv", "env", "cwd"])
def test_nul_byte_never_starts_a_command(here: Lab, place: str) -> None:
    bad: dict[str, Any] = {"argv": ["touch", f"{CANARY}\0x"]}
    if place != "argv":
        bad = {"argv": ["touch", CANARY], place: {"V": "a\0b"} if place == "env" else "/\0"}
    with pytest.raises(SearchInvalid, match="NUL byte"):
        here.run(trials.commands([bad, echo("fine")]))
    assert canaries(here.folder) == []


@pytest.mark.parametrize("name", ["A=B", ""])
def test_variable_name_that_is_none_never_starts_a_command(here: Lab, name: str) -> None:
    run = here.run(trials.commands([{"argv": ["touch", CANARY], "env": {name: "x"}}]))
    assert run.answer == [{"type": "command-broken", "stage": "run", "code": 126}]
    assert canaries(here.folder) == []


# -- secrets ------------------------------------------------------------------------------

SECRET = "s3cr3t-6f1d0c"


def test_secret_is_used_and_written_nowhere(here: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_TRIAL_TOKEN", SECRET)
    check = 'test "$WEFT_TRIAL_TOKEN" = "{word}" '
    secret = {"env_from": ["WEFT_TRIAL_TOKEN"], "prepare": "know_the_secret"}
    steps = [
        {"argv": ["sh", "-c", f"{check} && echo used"], **secret},
        {"argv": ["sh", "-c", f"{check} && exit 3"], **secret},
        {"argv": ["sh", "-c", f"{check} && kill -SEGV $$"], **secret},
        {"argv": ["sh", "-c", f"{check} && sleep 60"], **secret, "timeout_s": 0.5},
        {"argv": ["sh", "-c", f"{check} && exit 127"], **secret},
        {"argv": ["true"], "env_from": ["WEFT_TRIAL_TOKEN"], "collect": "raise_value_error"},
        {"argv": ["sh", "-c", "echo no $WEFT_TRIAL_TOKEN; [ -z $WEFT_TRIAL_TOKEN ]"]},
    ]
    run = here.run(trials.commands(steps), workers=2)
    kinds = [answer.get("type", "used") for answer in run.answer]
    assert kinds == ["used", "exit", "crashed", "timeout", "command-broken", "exception", "used"]
    files = [path for path in sorted(run.out.rglob("*")) if path.is_file()]
    leaks = [path for path in files if SECRET.encode() in path.read_bytes()]
    printed = console(run.out)
    print_figures("F16 secrets", files=len(files), leaked=len(leaks), console_bytes=len(printed))
    assert leaks == []
    assert SECRET not in printed
    assert b"WEFT_TRIAL_TOKEN" in (run.out / "ledger.jsonl").read_bytes()


def console(run: Path) -> str:
    """Everything the command line prints about a run's tasks."""
    lines = (run / "ledger.jsonl").read_text().splitlines()
    keys = [r["key"] for r in map(json.loads, lines) if r["kind"] == "result"]
    commands = [["status", str(run)], ["status", str(run), "--json"], ["verify", str(run)]]
    commands += [["explain", str(run), key, *more] for key in keys for more in ([], ["--json"])]
    output = ""
    for argv in commands:
        result = CliRunner().invoke(app, argv)
        assert result.exit_code in (0, 1), f"{argv}: {result.output}"
        output += result.output
    return output
