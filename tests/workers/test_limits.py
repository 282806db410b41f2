"""F10 and F11: memory and time limits of function tasks; only the offending task pays."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.workers.lab import SLACK_S, Lab, attempts, print_figures, rows, trials

LIMIT_S = 0.4
GONE_S = 5.0


def records(run: Path, kind: str) -> list[dict[str, object]]:
    lines = (run / "ledger.jsonl").read_text().splitlines()
    return [r["body"] for r in map(json.loads, lines) if r["kind"] == kind]


@pytest.mark.parametrize("retries", [0, 2])
def test_task_over_its_memory_fails_and_its_worker_lives_on(lab: Lab, retries: int) -> None:
    run = lab.run(trials.meals([8, 512, 8, 8, 512, 8]), workers=1, retries=retries)
    pids = {value for (value,) in rows(run.out, "SELECT value FROM tasks WHERE value NOT NULL")}
    workers = {pid for (pid,) in rows(run.out, "SELECT worker_pid FROM tasks")}
    print_figures("F10 function", answer=run.answer, workers=len(workers))
    assert run.answer == ["fed", "out-of-memory", "fed", "fed", "out-of-memory", "fed"]
    assert attempts(run.out) == [("failed", "out-of-memory", 2)]
    assert len(workers) == len(pids) == 1
    assert run.timing_dependent is True
    assert records(run.out, "answer")[-1]["timing_dependent"] is True
    errors = [body["error"] for body in records(run.out, "result") if "error" in body]
    assert errors == [{"exit_code": None, "stage": "run", "type": "out-of-memory"}] * 2


def test_worker_is_heard_while_its_task_holds_all_its_memory(lab: Lab) -> None:
    run = lab.run(trials.brimful(300), workers=2, wall_limit_s=120)
    assert run.answer == ["full", sum(range(300))]


@pytest.mark.parametrize("how", sorted(trials.HANGS))
def test_hung_task_is_gone_soon_after_its_limit(lab: Lab, how: str) -> None:
    start_s = time.monotonic()
    run = lab.run(trials.hung(how, 6), workers=2)
    spent_s = time.monotonic() - start_s
    ran_s = rows(run.out, "SELECT finished_at - started_at FROM tasks WHERE state = 'failed'")
    print_figures("F11 hung", how=how, limit=LIMIT_S, gone_after=round(ran_s[0][0], 2),
                  whole_run=round(spent_s, 2))  # fmt: skip
    assert run.answer == ["timeout", *(i * i for i in range(6)), *range(6)]
    assert run.timing_dependent is True
    assert attempts(run.out) == [("failed", "timeout", 1)]
    assert LIMIT_S <= ran_s[0][0] < LIMIT_S + GONE_S + SLACK_S
    assert spent_s < LIMIT_S + GONE_S + SLACK_S
    assert lab.leftovers() == []
