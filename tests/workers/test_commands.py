"""Commands: stages, folders, environment, output, exit codes, and that each result is kept."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import weft
from tests.support.waiting import HANG_S, wait_until
from tests.workers.lab import (
    MARKER,
    Lab,
    attempts,
    ledger_digest,
    print_figures,
    rows,
    trials,
)
from weft.errors import WorldError
from weft.main import app


def shell(text: str, **more: Any) -> dict[str, Any]:
    return {"argv": ["sh", "-c", text], **more}


def printed(text: str) -> dict[str, Any]:
    return {"exit_code": 0, "stdout": text}


# -- prepare and collect ------------------------------------------------------------------


def test_prepare_runs_before_and_collect_after_the_command(lab: Lab) -> None:
    step = shell("echo {word} >> order", args={"word": "run"}, prepare="say_prepared",
                 collect="read_order")  # fmt: skip
    assert lab.run(trials.commands([step])).answer == ["prepare\nrun\ncollect"]


@pytest.mark.parametrize("stage", ["prepare", "collect"])
def test_function_around_a_command_that_raises_names_its_stage(lab: Lab, stage: str) -> None:
    marker = lab.folder / "ran"
    steps = [shell(f"touch {marker}", **{stage: "raise_value_error"}), shell("echo fine")]
    run = lab.run(trials.commands(steps), retries=2)
    assert run.answer == [{"type": "exception", "stage": stage, "code": None}, printed("fine\n")]
    assert marker.exists() == (stage == "collect")
    assert attempts(run.out) == [("failed", "exception", 1)]
    ((detail,),) = rows(run.out, "SELECT detail FROM attempts")
    assert "ValueError: no" in detail
    assert run.timing_dependent is False


@pytest.mark.parametrize("stage", ["prepare", "collect"])
def test_function_around_a_command_may_ask_for_another_attempt(lab: Lab, stage: str) -> None:
    run = lab.run(trials.commands([shell("true", **{stage: "say_temporary"})]), retries=2)
    assert run.answer == [{"type": "temporary", "stage": stage, "code": None}]
    assert attempts(run.out) == [("failed", "temporary", 1), ("requeued", "temporary", 2)]


# -- folders and environment --------------------------------------------------------------


def test_every_attempt_has_fresh_folders_of_its_own(lab: Lab) -> None:
    """The first two attempts leave files behind and ask for a retry; the third sees none."""
    text = "touch old $TMPDIR/older; ls -A . $TMPDIR | wc -l; [ {attempt} -ge 3 ] || exit 75"
    run = lab.run(trials.commands([shell(text, collect="list_folders")]), retries=5)
    assert run.answer == [[["old", "older"], ["3"]]]
    first, second, third = (
        next(run.out.glob(f"logs/*/{attempt}.out")).read_text() for attempt in (1, 2, 3)
    )
    assert first == second == third
    assert not (run.out / "attempts").exists()


def test_environment_is_small_and_known(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_TRIAL_STRAY", "must not be seen")
    monkeypatch.setenv("LD_PRELOAD_STRAY", "must not be seen")
    step = {"argv": ["env", "-0"], "env": {"OWN": "{out_dir}/x"}}
    run = lab.run(trials.commands([step]))
    lines = run.answer[0]["stdout"].split("\0")[:-1]
    variables = dict(line.split("=", 1) for line in lines)
    inherited = {"PATH", "HOME", "USER", "LOGNAME", "SYSTEMROOT", "VIRTUAL_ENV"}
    names = "OUT_DIR TMP_DIR WORK_DIR ATTEMPT SEED SLOT PYTHON RUN_ID DEADLINE"
    ours = {f"WEFT_{name}" for name in names.split()}
    print_figures("environment", names=sorted(variables))
    fixed = {"LANG", "LC_ALL", "TZ", "TMPDIR", "CUDA_VISIBLE_DEVICES"}
    assert set(variables) - inherited == fixed | {"OWN"} | ours
    assert variables["CUDA_VISIBLE_DEVICES"] == ""
    assert (variables["LANG"], variables["LC_ALL"], variables["TZ"]) == (
        "C.UTF-8",
        "C.UTF-8",
        "UTC",
    )
    assert variables["TMPDIR"] == variables["WEFT_TMP_DIR"]
    assert variables["OWN"] == variables["WEFT_OUT_DIR"] + "/x"
    assert (variables["WEFT_ATTEMPT"], variables["WEFT_SLOT"]) == ("1", "local/cpu0")
    assert MARKER not in variables


def test_command_runs_in_its_folder_without_input(lab: Lab) -> None:
    steps = [
        shell('[ "$PWD" = "$WEFT_OUT_DIR" ] && echo own'),
        {"argv": ["pwd"], "cwd": "/"},
        {"argv": ["cat"]},
    ]
    run = lab.run(trials.commands(steps))
    assert run.answer == [printed("own\n"), printed("/\n"), printed("")]


def test_folder_that_is_missing_is_a_loss_and_the_run_goes_on_when_it_is_there(lab: Lab) -> None:
    """It leaves no record: the ledger is that of a run in which the folder was always there."""
    room = lab.folder / "room"
    search = trials.commands([{"argv": ["true"], "cwd": str(room)}, shell("echo fine")])
    with pytest.raises(WorldError, match=f"no CPU slot is left .*{room}: No such file") as caught:
        lab.run(search)
    assert (caught.value.exit_code, str(caught.value).count("\n")) == (75, 0)
    room.mkdir()
    run = lab.run(search)
    assert run.answer == [printed(""), printed("fine\n")]
    ((outcome, reason, count),) = attempts(run.out)
    assert (outcome, count) == ("requeued", 3)
    assert reason == f"cannot start on node local: {room}: No such file or directory"
    assert ledger_digest(run.out) == ledger_digest(lab.run(search, "well").out)


@pytest.mark.parametrize("placement", ["greedy", "static"])
def test_node_that_cannot_run_commands_is_retired_and_the_others_finish(
    lab: Lab, placement: str
) -> None:
    nodes = [
        weft.Node("sick", cpus=2, folder=str(lab.folder / "gone")),
        weft.Node("well", cpus=1, folder=str(lab.folder)),
    ]
    steps = [{"argv": ["echo", str(i)], "cwd": "{work_dir}"} for i in range(8)]
    run = lab.run(trials.commands(steps), nodes=nodes, placement=placement)
    assert [answer["stdout"] for answer in run.answer] == [f"{i}\n" for i in range(8)]
    assert rows(run.out, "SELECT DISTINCT node FROM tasks") == [("well",)]
    retired = rows(run.out, "SELECT detail FROM events WHERE kind = 'slot-retired' ORDER BY 1")
    assert [detail.partition(":")[0] for (detail,) in retired] == ["sick/cpu0", "sick/cpu1"]
    assert {outcome for outcome, _, _ in attempts(run.out)} == {"requeued"}


def test_missing_variable_is_a_loss_that_names_it(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before any part of the command runs; values of other variables are not shown."""
    secret = "s3cr3t-51e0aa"
    monkeypatch.setenv("WEFT_TRIAL_TOKEN", secret)
    names = ["WEFT_TRIAL_TOKEN", "WEFT_TRIAL_ABSENT"]
    marker = lab.folder / "ran"
    steps = [
        shell(f"touch {marker}", env_from=names),
        shell('test -n "$WEFT_TRIAL_TOKEN" && echo known', env_from=names[:1]),
    ]
    with pytest.raises(WorldError, match="variable WEFT_TRIAL_ABSENT is not set on node local"):
        lab.run(trials.commands(steps), retries=3)
    assert not marker.exists()
    monkeypatch.setenv("WEFT_TRIAL_ABSENT", "")
    run = lab.run(trials.commands(steps), retries=3)
    assert run.answer == [printed(""), printed("known\n")]
    reason = "variable WEFT_TRIAL_ABSENT is not set on node local"
    assert attempts(run.out) == [("requeued", reason, 3)]
    assert run.timing_dependent is False
    output = CliRunner().invoke(app, ["explain", str(run.out), ":0:0"]).output
    assert reason in output
    assert b"not set" not in (run.out / "ledger.jsonl").read_bytes()
    files = [path for path in sorted(lab.folder.rglob("*")) if path.is_file()]
    assert [path for path in files if secret.encode() in path.read_bytes()] == []
    print_figures("missing variable", files=len(files))


# -- output -------------------------------------------------------------------------------

INLINE = 64 * 1024


@pytest.mark.parametrize("size", [INLINE, INLINE + 1, 5 * 2**20])
def test_large_output_becomes_an_object(lab: Lab, size: int) -> None:
    run = lab.run(trials.commands([shell(f"yes abcdefg | head -c {size}")]))
    stdout = run.answer[0]["stdout"]
    expected = (b"abcdefg\n" * (size // 8 + 1))[:size]
    if size <= INLINE:
        assert stdout == expected.decode()
    else:
        assert run.read(stdout) == expected


def test_binary_output_becomes_an_object(lab: Lab) -> None:
    run = lab.run(trials.commands([shell(r"printf '\377\000\376'"), shell(r"printf 'a\000b'")]))
    first, second = run.answer
    assert run.read(first["stdout"]) == b"\xff\x00\xfe"
    assert second == printed("a\0b")


def test_error_output_is_told_to_people_only(lab: Lab) -> None:
    run = lab.run(trials.commands([shell("seq 100 >&2; exit 4")]))
    ((detail,),) = rows(run.out, "SELECT detail FROM attempts")
    assert detail.split("\n") == [str(n) for n in range(61, 101)]
    assert rb"98\n99" not in (run.out / "ledger.jsonl").read_bytes()


# -- ends ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "error", "retried"),
    [
        ("exit 1", ("exit", 1), 0),
        ("exit 75", ("temporary", 75), 2),
        ("exit 124", ("exit", 124), 0),
        ("exit 126", ("command-broken", 126), 0),
        ("no-such-program-here", ("command-broken", 127), 0),
        ("exit 137", ("exit", 137), 0),
        ("exit 255", ("exit", 255), 0),
        ("kill -SEGV $$", ("crashed", 139), 0),
        ("kill -ABRT $$", ("crashed", 134), 0),
        ("kill -FPE $$", ("crashed", 136), 0),
    ],
)
def test_way_a_command_ends_is_recorded(
    lab: Lab, text: str, error: tuple[str, int], retried: int
) -> None:
    run = lab.run(trials.commands([shell(text)]), retries=2)
    assert run.answer == [{"type": error[0], "stage": "run", "code": error[1]}]
    ends = [("failed", error[0], 1)] + [("requeued", error[0], retried)] * (retried > 0)
    assert attempts(run.out) == ends


@pytest.mark.parametrize("argv", [["/no/such"], ["/etc/passwd"], ["/"], ["no-such-program"]])
def test_program_that_the_machine_does_not_have_is_a_loss(lab: Lab, argv: list[str]) -> None:
    with pytest.raises(WorldError, match=f"cannot start on node local: {argv[0]}: "):
        lab.run(trials.commands([{"argv": argv}]))
    ledger = (lab.folder / "run" / "ledger.jsonl").read_text()
    assert '"result"' not in ledger


def test_program_that_no_machine_could_start_is_broken(lab: Lab) -> None:
    tool = lab.folder / "tool"
    tool.write_text("neither a program nor a script")
    tool.chmod(0o755)
    run = lab.run(trials.commands([{"argv": [str(tool)]}, {"argv": ["echo", "x" * 200_000]}]))
    assert run.answer == [{"type": "command-broken", "stage": "run", "code": 126}] * 2


@pytest.mark.parametrize("name", ["TERM", "KILL", "INT", "HUP"])
def test_signal_from_outside_is_a_loss_and_another_attempt_follows(lab: Lab, name: str) -> None:
    text = f"[ {{attempt}} -ge 3 ] && echo through && exit; kill -{name} $$; sleep 60"
    run = lab.run(trials.commands([shell(text)]))
    assert run.answer == [printed("through\n")]
    assert attempts(run.out) == [("requeued", f"command-killed-SIG{name}", 2)]
    assert run.timing_dependent is False


def test_command_that_obeys_term_may_clear_up(lab: Lab) -> None:
    """At its limit a command gets TERM first, and a second to exit cleanly."""
    farewell = lab.folder / "said"
    text = f"trap 'echo bye > {farewell}; exit 0' TERM; while :; do sleep 0.05; done"
    run = lab.run(trials.commands([shell(text, timeout_s=2.0)]))
    assert run.answer == [{"type": "timeout", "stage": "run", "code": None}]
    assert farewell.read_text() == "bye\n"


# -- kept once finished -------------------------------------------------------------------


def start_apart(lab: Lab, steps: list[dict[str, Any]]) -> subprocess.Popen[str]:
    driver = Path(__file__).with_name("driver.py")
    how = json.dumps({"out": str(lab.folder / "run"), "workers": 2})
    argv = [sys.executable, driver, "trials:commands", json.dumps({"steps": steps}), how]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_finished_command_is_not_repeated_after_a_kill(lab: Lab) -> None:
    """The coordinator is killed as soon as a result can be durable; each command ran once."""
    count, gate = lab.folder / "count", lab.folder / "gate"
    quick = shell(f"echo quick >> {count}; echo done")
    slow = shell(f"echo slow >> {count}; while ! [ -e {gate} ]; do sleep 0.02; done; echo done")
    manifest = lab.folder / "run" / "manifest.sqlite"

    def completed() -> bool:
        has_begun = count.exists() and "slow" in count.read_text()
        return has_begun and manifest.exists() and states(manifest).count("completed") == 2

    with start_apart(lab, [quick, slow, quick]) as process:
        wait_until(completed, "two finished commands")
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert lab.leftovers() == []
    gate.touch()
    with start_apart(lab, [quick, slow, quick]) as process:
        out, err = process.communicate(timeout=HANG_S)
    assert process.returncode == 0, err
    executed = count.read_text().split()
    print_figures(
        "commands kept", executions={name: executed.count(name) for name in set(executed)}
    )
    assert json.loads(out)["answer"] == [printed("done\n")] * 3
    assert (executed.count("quick"), executed.count("slow")) == (2, 2)


def states(manifest: Path) -> list[str]:
    import sqlite3

    try:
        db = sqlite3.connect(f"file:{manifest}?mode=ro", uri=True)
        try:
            return [state for (state,) in db.execute("SELECT state FROM tasks")]
        finally:
            db.close()
    except sqlite3.Error:
        return []


def test_finished_run_is_answered_without_running_anything(lab: Lab) -> None:
    count = lab.folder / "count"
    search = trials.one_by_one([shell(f"echo x >> {count}"), shell(f"echo y >> {count}")])
    first = lab.run(search)
    second = lab.run(search)
    assert second == first
    assert count.read_text() == "x\ny\n"


# -- refusals -----------------------------------------------------------------------------


@pytest.mark.parametrize("argv", ["sort -n", [], ["sort", 1], [b"sort"]])
def test_line_instead_of_words_is_refused(argv: Any) -> None:
    with pytest.raises(weft.WeftError, match="a command is a list of words"):
        weft.command(argv, timeout_s=1)
