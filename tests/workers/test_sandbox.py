"""Confined commands: what they see and can change, and that a supervisor's guarantees hold."""

from __future__ import annotations

import json
import os
import signal
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.support.sandboxes import require_sandbox
from tests.workers.lab import Lab, rows, trials
from weft.worker import sandbox

CONFINED = {"mode": "required"}


@pytest.fixture(autouse=True)
def _works_here() -> None:
    require_sandbox()


def confined(lab: Lab, text: str, **more: Any) -> dict[str, Any]:
    return lab.step("sh", "-c", text, **{"sandbox": CONFINED, **more})


def printed(lab: Lab, *texts: str, **more: Any) -> list[str]:
    """Run shell lines, all confined; return what each printed, or how it failed."""
    run = lab.run(trials.commands([confined(lab, text, **more) for text in texts]))
    return [out["stdout"].strip() if "stdout" in out else f"{out['type']} {out['code']}"
            for out in run.answer]  # fmt: skip


# -- what it sees -------------------------------------------------------------------------------


def test_only_its_own_folders_are_writable(lab: Lab) -> None:
    outside = lab.folder / "outside"
    outside.mkdir()
    lines = printed(
        lab,
        "echo x > here && echo x > $TMPDIR/here && echo x > $WEFT_OUT_DIR/here && echo ok",
        f"echo x > {outside}/file || echo refused",
        "echo x > $WEFT_OUT_DIR/../file || echo refused",
        f"ln {__file__} here || echo refused",
        "echo x > /etc/weft-trial || echo refused",
    )
    assert lines == ["ok", "refused", "refused", "refused", "refused"]
    assert list(outside.iterdir()) == []


def test_the_run_the_home_and_other_processes_are_hidden(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, home = lab.folder / "run", tmp_path / "home"
    home.mkdir()
    (home / "secret").write_text("8")
    monkeypatch.setenv("HOME", str(home))
    lines = printed(
        lab,
        f"ls {run} {run}/attempts | tr '\\n' ' '; ls {run}/attempts/* | tr '\\n' ' '",
        f"ls -A {home} | wc -l; echo x > {home}/mine && cat {home}/mine",
        "ls /proc | grep -c '^[0-9]'; cat /proc/1/cmdline | tr '\\0' ' ' | cut -c1-20",
        "cat /proc/net/dev | grep -c :; ls /tmp /var/tmp /run | grep -c weft || true",
        "grep -E '^(CapEff|NoNewPrivs)' /proc/self/status | tr -s '[:space:]' ' '",
    )
    visible = lines[0].split()
    assert "attempts" in visible
    assert {"out", "tmp"} <= set(visible)
    assert not {"manifest.sqlite", "ledger.jsonl", "objects", "run.toml", "logs"} & set(visible)
    assert len([name for name in visible if name.endswith("-1")]) == 1, "another attempt is visible"
    assert lines[1].split() == ["0", "x"]
    assert int(lines[2].split()[0]) < 10
    assert "bwrap" in lines[2]
    assert lines[3].split()[0] == "1"  # the loopback
    assert lines[4] == "CapEff: 0000000000000000 NoNewPrivs: 1"


def test_what_is_declared_readable_is_shown_below_a_hidden_folder(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / "tools").mkdir(parents=True)
    (home / "tools" / "data").write_text("7")
    (home / "secret").write_text("8")
    monkeypatch.setenv("HOME", str(home))
    text = f"cat ~/tools/data; ls -A {home}; echo x > ~/tools/data || echo refused"
    step = confined(lab, text, sandbox={"mode": "required", "readable": ["~/tools"]})
    run = lab.run(trials.commands([step]))
    assert run.answer[0]["stdout"].split() == ["7tools", "refused"]


def test_programs_below_the_home_folder_bring_what_they_need(monkeypatch) -> None:
    monkeypatch.setenv("HOME", "/home/u")
    path = "/home/u/.pyenv/shims:/home/u/.local/bin:/home/u/bin:/usr/bin:/home/u/own:/bin"
    assert sandbox.program_folders(path) == [
        "/home/u/.pyenv", "/home/u/.local/bin", "/home/u/bin", "/usr", "/home/u/own", "/bin",
    ]  # fmt: skip


def test_network_only_by_declaration(lab: Lab) -> None:
    count = "grep -c : /proc/net/dev"
    with_network = {"mode": "required", "network": True}
    run = lab.run(
        trials.commands([confined(lab, count), confined(lab, count, sandbox=with_network)])
    )
    alone, shared = (int(out["stdout"]) for out in run.answer)
    own = len(Path("/proc/net/dev").read_text().splitlines()) - 2
    assert (alone, shared) == (1, own)


# -- how it ends --------------------------------------------------------------------------------


def test_the_end_of_a_confined_command_is_its_own(lab: Lab) -> None:
    ends = {
        "exit 3": ("exit", 3), "exit 0": None, "kill -SEGV $$": ("crashed", 139),
        "kill -ABRT $$": ("crashed", 134), "exit 75": ("temporary", 75),
        "exit 126": ("command-broken", 126),
    }  # fmt: skip
    run = lab.run(trials.commands([confined(lab, text) for text in ends]))
    actual = [None if "stdout" in out else (out["type"], out["code"]) for out in run.answer]
    assert actual == list(ends.values())


def test_a_program_that_cannot_be_executed_is_told_apart_from_its_failure(lab: Lab) -> None:
    report = supervised(lab, ["no-such-program"])
    assert (report["status"], report["unstarted"][0]) == (127, 2)
    folder = supervised(lab, ["/etc"])
    assert (folder["status"], folder["unstarted"][0]) == (126, 13)


def test_a_sandbox_that_cannot_be_set_up_is_no_failure_of_the_command(lab: Lab) -> None:
    report = supervised(lab, ["true"], more=["--bind", "/no/such/folder", "/mnt"])
    assert report["unstarted"] is not None
    assert "the sandbox could not be set up: bwrap: " in report["unstarted"][1]
    assert supervised(lab, ["sh", "-c", "exit 1"])["unstarted"] is None


def supervised(lab: Lab, argv: list[str], more: list[str] | None = None) -> Any:
    from weft.worker.supervision import CommandSupervision

    lab.folder.mkdir(exist_ok=True)
    view = sandbox.SandboxView([], [], [str(lab.folder)], str(lab.folder))
    words = view.arguments(sandbox.find_isolation().program)
    supervision = CommandSupervision()
    try:
        return supervision.run({
            "argv": argv, "cwd": str(lab.folder), "folders": [], "env": {"PATH": os.defpath},
            "stdout": str(lab.folder / "out"), "stderr": str(lab.folder / f"err-{len(argv[0])}"),
            "timeout_s": 60.0, "memory_bytes": 0, "sandbox": [*words, *(more or [])],
        })  # fmt: skip
    finally:
        supervision._end()


def test_time_limit_ends_everything_and_gives_it_time_to_obey(lab: Lab) -> None:
    note = "trap 'echo bye; exit 0' TERM; ( setsid sleep 1000 & ) ; sleep 1000 & wait"
    run = lab.run(trials.commands([confined(lab, note, timeout_s=3.0)]))
    assert run.answer[0] == {"type": "timeout", "stage": "run", "code": None}
    logs = [path.read_text() for path in (run.out / "logs").rglob("*.out")]
    assert logs == ["bye\n"]
    assert lab.alive() == []


def test_usage_of_a_confined_command_is_measured(lab: Lab) -> None:
    eater = "x = bytearray(150 * 2**20); x[::4096] = b'1' * len(x[::4096]); sum(range(10**7))"
    step = lab.step("{python}", "-I", "-S", "-c", eater, sandbox=CONFINED)
    run = lab.run(trials.commands([step, confined(lab, "true")]))
    notes = [json.loads(text) for (text,) in rows(run.out, "SELECT notes FROM tasks ORDER BY id")]
    assert notes[0]["peak_bytes"] > 150 * 2**20 > 50 * 2**20 > notes[1]["peak_bytes"]
    assert notes[0]["cpu_s"] > notes[1]["cpu_s"] + 0.05
    assert [note["sandbox"] for note in notes] == ["bubblewrap"] * 2


def test_memory_limit_holds_for_a_confined_command(lab: Lab) -> None:
    eater = "import time; x = b'1' * (400 * 2**20); time.sleep(60)"
    step = lab.step("{python}", "-I", "-S", "-c", eater, sandbox=CONFINED, memory_mb=100)
    run = lab.run(trials.commands([step]))
    assert run.answer[0]["type"] == "out-of-memory"


def test_a_confined_command_cannot_kill_its_supervisor(lab: Lab) -> None:
    run = lab.run(trials.commands([confined(lab, "kill -9 $PPID; echo alone")]))
    assert run.answer[0]["stdout"] == "alone\n", "it sees its own namespace's first process only"
    assert lab.alive() == []


# -- a machine that cannot ----------------------------------------------------------------------


def broken_bwrap(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    program = folder / "bwrap"
    program.write_text(
        "#!/bin/sh\necho bwrap: No permissions to create new namespace >&2\nexit 1\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_probe_names_what_does_not_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sandbox.find_isolation().problem == ""
    broken_bwrap(tmp_path / "bin", monkeypatch)
    isolation = sandbox.find_isolation()
    assert isolation.program == ""
    assert isolation.problem == (
        "bwrap does not work here: bwrap: No permissions to create new namespace"
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "not installed" in sandbox.find_isolation().problem


def test_the_same_end_is_recorded_where_nothing_can_be_confined(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [
        confined(lab, text, sandbox={"mode": "auto"})
        for text in ("exit 139", "kill -SEGV $$", "exit 3", "echo x")
    ]
    with_sandbox = lab.run(trials.commands(steps), "with")
    broken_bwrap(tmp_path / "bin", monkeypatch)
    without = lab.run(trials.commands(steps), "without")
    assert with_sandbox.head == without.head
    notes = {json.loads(n)["sandbox"] for (n,) in rows(without.out, "SELECT notes FROM tasks")}
    assert notes == {"none"}
    assert with_sandbox.answer[0]["code"] == signal.SIGSEGV + 128
