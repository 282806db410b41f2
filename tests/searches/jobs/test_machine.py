"""Problems of the machine: refused before the start, losses afterwards, never in the ledger."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.searches.jobs.conftest import Shop, shell
from tests.searches.jobs.test_refusals import check_refused, contents

PY = {"job_id": "p", "script": "s.py", "gpu": 0}


@pytest.fixture
def ready(shop: Shop) -> Shop:
    (shop.folder / "s.py").write_text("print('[]')")
    (shop.folder / "plain.txt").write_text("no interpreter")
    (shop.folder / "plain.txt").chmod(0o755)
    return shop


def nodes(*entries: dict[str, Any]) -> str:
    return json.dumps({"nodes": [{"hostname": "localhost", "gpu_count": 1, **e} for e in entries]})


@pytest.mark.parametrize(
    ("job", "node", "said"),
    [
        (PY, {"python_env": "no/such/env"}, "no/such/env cannot be run (No such file"),
        (PY, {"python_env": "plain.txt"}, "plain.txt cannot be run (Exec format error)"),
        (PY, {"python_env": "/bin/true"}, "/bin/true is not a Python interpreter"),
        (PY, {"python_env": "no-such-python"}, "no-such-python cannot be run"),
        (PY, {"script_path": "nowhere"}, "nowhere/s.py does not exist"),
        (shell("a", "true", cwd="no/cwd"), {}, "no/cwd does not exist"),
        (shell("a", "true", cwd="s.py"), {}, "s.py is not a folder"),
        (shell("a", "true", env_from=["WEFT_TRIAL_ABSENT"]), {}, "variable WEFT_TRIAL_ABSENT of"),
        ({"job_id": "a", "argv": ["no-such-program"], "gpu": 0}, {}, "program no-such-program"),
        ({"job_id": "a", "argv": ["./s.py"], "gpu": 0}, {}, "s.py is not there or cannot be exec"),
    ],
)
def test_what_the_machine_lacks_is_refused_before_the_start(
    ready: Shop, job: dict[str, Any], node: dict[str, Any], said: str
) -> None:
    ready.write([shell("fine", "echo []"), job], nodes(node))
    before = contents(ready.folder)
    for more in ([], ["--dry-run"], ["--json"]):
        result = ready.run("run", "--nodes", "nodes.json", *more)
        check_refused(ready, result, 3, said, "(node localhost)" if "does not" not in said else "")
    assert contents(ready.folder) == before


@pytest.mark.parametrize("env", ["python3", "", "own", "env", "env/bin/activate"])
def test_every_way_to_name_an_interpreter_works(ready: Shop, env: str) -> None:
    (ready.folder / "env" / "bin").mkdir(parents=True)
    interpreter(ready.folder / "own")
    interpreter(ready.folder / "env" / "bin" / "python")
    ready.write([PY], nodes({"python_env": env}))
    assert ready.run("run", "--nodes", "nodes.json", "-q").code == 0


def interpreter(path: Path) -> None:
    """Create an interpreter that works from any place."""
    path.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    path.chmod(0o755)


LATER = {
    "cwd": ("rmdir room", shell("b", "echo []", cwd="room"), "room: No such file or directory"),
    "interpreter": ("rm env/bin/python", {**PY, "job_id": "b"}, "python: No such file"),
    "script": ("rm s.py", {**PY, "job_id": "b"}, "s.py: No such file"),
    "other-script": ("echo > s.py", {**PY, "job_id": "b"}, "has changed since this run started"),
}


@pytest.mark.parametrize("what", LATER)
def test_what_goes_missing_later_is_a_loss_and_the_run_goes_on_when_it_is_back(
    ready: Shop, what: str
) -> None:
    """Exit code 75, no trace in the ledger, and the same head as an undisturbed run."""
    line, second, message = LATER[what]
    folder = ready.folder

    def restore() -> None:
        (folder / "room").mkdir(exist_ok=True)
        (folder / "env" / "bin").mkdir(parents=True, exist_ok=True)
        interpreter(folder / "env" / "bin" / "python")
        (folder / "s.py").write_text("print('[]')")

    restore()
    harm = shell("a", f"test -e {folder}/spare || {{ {line}; }}; echo []")
    ready.write([harm, second], nodes({"python_env": "env", "cpu_count": 1}))
    (folder / "spare").touch()
    assert ready.run("well", "--nodes", "nodes.json", "-q").code == 0
    (folder / "spare").unlink()
    result = ready.run("run", "--nodes", "nodes.json", "-q")
    check_refused(ready, result, 75, "no CPU slot is left", message)
    assert [job.status for job in ready.seen("run")] == ["completed", "queued"]
    restore()
    assert ready.weft("resume", "run").code == 0
    assert ready.ledger("run") == ready.ledger("well")
    events = ready.weft("status", "run", "--events").out
    assert events.count("requeued") >= 3
    assert "slot-retired" in events


def test_variable_that_is_gone_on_resume_is_a_loss(
    ready: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_TRIAL_KEY", "x")
    hold = ready.folder / "hold"
    hold.touch()
    line = f"while [ -e {hold} ]; do sleep 0.02; done; echo []"
    ready.write([shell("a", line, env_from=["WEFT_TRIAL_KEY"])])
    assert ready.run("run", "--wall-limit", "0.4", "-q").code == 130
    hold.unlink()
    monkeypatch.delenv("WEFT_TRIAL_KEY")
    result = ready.weft("resume", "run")
    check_refused(ready, result, 75, "variable WEFT_TRIAL_KEY is not set on node local")
    monkeypatch.setenv("WEFT_TRIAL_KEY", "x")
    assert ready.weft("resume", "run").code == 0


def test_finished_run_is_shown_whatever_has_gone_since(ready: Shop) -> None:
    (ready.folder / "room").mkdir()
    ready.write([shell("a", "echo []", cwd="room")])
    assert ready.run("run", "-q").code == 0
    assert ready.weft("verify", "run").code == 0
