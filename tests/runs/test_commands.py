"""Commands in a real run: recorded once, replayed from the record, with their code watched."""

from __future__ import annotations

import sqlite3

import pytest

import weft
from weft.errors import Interrupted
from weft.inspect.replay import replay
from weft.runs.resume import resume
from weft.storage.folder import RunFolder


@pytest.fixture
def cmds(modules):
    """A search whose command prints something different each time."""
    return modules.write(
        """
        def collect(run):
            return int(run.stdout.read_text())

        @weft.search(version=1)
        def clock():
            results = yield [
                weft.command(["date", "+%N"], timeout_s=20, collect=collect),
                weft.command(["head", "-c", "100000", "/dev/zero"], timeout_s=20),
                weft.command(["false"], timeout_s=20),
            ]
            return [results[0].value, results[1].value, results[2].error.exit_code]
        """,
    )


def test_replay_takes_commands_from_the_record(cmds, modules, tmp_path):
    run = weft.run(cmds.clock(), out=tmp_path / "run", workers=1)
    assert run.answer[2] == 1
    assert len(run.read(run.answer[1]["stdout"])) == 100000
    report = replay(tmp_path / "run", path=modules.path)
    assert report.equal
    replayed = replay(tmp_path / "run", path=modules.path, commands=True)
    assert not replayed.equal
    assert replayed.difference.what


def test_command_code_is_what_prepare_and_collect_name(cmds, tmp_path):
    weft.run(cmds.clock(), out=tmp_path / "run", workers=1)
    assert list(RunFolder(tmp_path / "run").read_run_file().sources) == [cmds.__name__]
    assert resume(tmp_path / "run").answer


@pytest.fixture
def fragile(modules):
    """A command that cannot run until a file exists; a hook decides whose fault it is."""
    return modules.write(
        """
        from weft.worker.ending import Ending

        def whose_fault(run, template, code):
            report = template.execute(run, {})
            if run.args["ours"]:
                raise Ending(None, lost=f"broken with {report['status']}", cause="command")

        @weft.search(version=1)
        def fragile(script, ours):
            [result] = yield [
                weft.command([script], timeout_s=20, args={"ours": ours}, on_broken=whose_fault)
            ]
            return result.value["stdout"] if result.ok else result.error.type
        """,
    )


def test_broken_command_interrupts_the_run_and_a_resume_goes_on(fragile, modules, tmp_path):
    script, out = tmp_path / "script", tmp_path / "run"
    with pytest.raises(Interrupted, match=r"broken with 127.*fix it, then: weft resume"):
        weft.run(fragile.fragile(str(script), ours=True), out=out, workers=1)
    assert len((out / "ledger.jsonl").read_bytes().splitlines()) == 1  # the genesis alone
    script.write_text("#!/bin/sh\necho mended $WEFT_RUN_ID\n")
    script.chmod(0o755)
    run = resume(out, path=modules.path)
    assert run.answer == f"mended {run.run_id}\n"
    with sqlite3.connect(out / "manifest.sqlite") as base:
        assert base.execute("SELECT outcome, reason FROM attempts").fetchall() == [
            ("requeued", "broken with 127")
        ]


def test_broken_command_fails_when_its_own_fault(fragile, tmp_path):
    run = weft.run(fragile.fragile("/not/there", ours=False), out=tmp_path / "run", workers=1)
    assert run.answer == "command-broken"
