"""The page of large runs: a small real measurement, options, merging, and tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import big

COST: big.Cost = {"seconds": 12.5, "cpu_s": 20.0, "peak_mib": 99.5, "load": 0.3}


def size(machine: str, *commands: str) -> big.Size:
    return {"machine": machine, "workers": 2, "size_bytes": 600_000_000,
            "commands": dict.fromkeys(commands, COST)}  # fmt: skip


def test_small_run_is_measured_and_come_back_to(tmp_path: Path) -> None:
    figures = tmp_path / "big.json"
    commands = ["resume", "verdict", "verify"]
    big.main(["--tasks", "2000", "--commands", ",".join(commands), "--json", str(figures)])
    measured = json.loads(figures.read_text())["2000"]
    assert sorted(measured["commands"]) == commands
    assert measured["size_bytes"] > 100 * 2000
    assert all(cost["peak_mib"] > 10 for cost in measured["commands"].values())


def test_figures_from_elsewhere_join_those_of_other_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(big, "PAGES", tmp_path)
    big.write_page({"1000000": size("here", "run", "verify")})
    (tmp_path / "ten.json").write_text(json.dumps({"10000000": size("there", "run")}))
    big.main(["--merge", str(tmp_path / "ten.json")])
    page = (tmp_path / "big.md").read_text()
    assert "| 1,000,000 | 2 | 12.5 | 20.0 | 99.5 | 600 | 600 | here |" in page
    assert "| 10,000,000 | 2 | 1.2 | 2.0 | 99.5 | 600 | 60 | there |" in page
    assert "| 1,000,000 | verify | 12.5 | 20 | 20.0 | 99.5 | 0.3 |" in page
    assert "| 10,000,000 | run | 12.5 |  | 20.0 | 99.5 | 0.3 |" in page


def test_command_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        big.main(["--commands", "run,polish"])
    assert caught.value.code == 2
    assert "there is no command 'polish'" in capsys.readouterr().err


def test_command_that_fails_is_named(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"/bin/ls /nosuch: .*nosuch"):
        big.cost("/bin/ls", "/nosuch", folder=tmp_path)
