"""Commands in a real run: recorded once, replayed from the record, their code watched."""

from __future__ import annotations

import pytest

import weft
from weft.storage.folder import RunFolder
from weft.wiring.replay import replay
from weft.wiring.resume import resume


@pytest.fixture
def cmds(modules):
    """A search whose command gives another answer each time."""
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
    again = replay(tmp_path / "run", path=modules.path, commands=True)
    assert not again.equal
    assert again.difference.what


def test_command_code_is_what_prepare_and_collect_name(cmds, tmp_path):
    weft.run(cmds.clock(), out=tmp_path / "run", workers=1)
    assert list(RunFolder(tmp_path / "run").read_run_file().sources) == [cmds.__name__]
    assert resume(tmp_path / "run").answer
