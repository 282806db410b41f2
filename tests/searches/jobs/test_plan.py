"""The plan: equal to a table made by hand, in the familiar form, printed before the start."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.searches.jobs.conftest import THREE_NODES, Shop, shell, sleeper
from weft.console.nodeplan import NodePlan
from weft.model.slots import Node
from weft.searches.jobs.job import Job
from weft.searches.jobs.plan import greedy_line, static_plan, table

THREE = (Node("localhost", 2, 2, 2), Node("rig-a", 12, 12, 12), Node("rig-b", 12, 12, 12))
BY_HAND = [
    "localhost/gpu0", "rig-a/gpu0", "rig-b/gpu0", "localhost/gpu1", "rig-a/gpu1", "rig-b/gpu1",
    "rig-a/gpu2", "rig-b/gpu2", "rig-a/gpu3", "rig-b/gpu3", "rig-a/gpu4", "rig-b/gpu4",
    "rig-a/gpu5", "rig-b/gpu5", "rig-a/gpu6", "rig-b/gpu6", "rig-a/gpu7", "rig-b/gpu7",
    "rig-a/gpu8", "rig-b/gpu8", "rig-a/gpu9", "rig-b/gpu9", "rig-a/gpu10", "rig-b/gpu10",
    "rig-a/gpu11", "rig-b/gpu11",
    "localhost/gpu0", "rig-a/gpu0", "rig-b/gpu0", "rig-a/gpu1", "rig-b/gpu1", "rig-a/gpu2",
    "rig-b/gpu2", "rig-a/gpu3", "rig-b/gpu3", "rig-a/gpu4",
]  # fmt: skip
"""36 jobs: one for each of the 26 GPUs; the other 10 are divided into 1, 5 and 4 by largest
remainder (10/13, 60/13, 60/13)."""
EIGHT = [f"{node}/gpu{i}" for i in range(4) for node in ("rig-a", "rig-b")]
"""8 jobs: shares of 8/13, 48/13 and 48/13 become 0, 4 and 4."""
SIX = EIGHT[:6]
FOURTEEN = [
    "localhost/gpu0",
    *(f"{node}/gpu{i}" for i in range(6) for node in ("rig-a", "rig-b")),
    "rig-a/gpu6",
]
"""14 jobs: shares of 14/13, 84/13 and 84/13 become 1, 7 and 6."""
LINES = [
    "PARALLEL: localhost | 2 GPU workers | 3 jobs | distribution: {0: 2, 1: 1}",
    "PARALLEL: rig-a | 12 GPU workers | 17 jobs | distribution: {0: 2, 1: 2, 2: 2, 3: 2, 4: 2,"
    " 5: 1, 6: 1, 7: 1, 8: 1, 9: 1, 10: 1, 11: 1}",
    "PARALLEL: rig-b | 12 GPU workers | 16 jobs | distribution: {0: 2, 1: 2, 2: 2, 3: 2, 4: 1,"
    " 5: 1, 6: 1, 7: 1, 8: 1, 9: 1, 10: 1, 11: 1}",
]


def jobs(count: int, gpu: int = 1) -> list[Job]:
    return [Job(f"{gpu}-{i}", 60.0, argv=("true",), gpu=gpu) for i in range(count)]


def test_static_table_is_the_deal_by_hand() -> None:
    assert [slot.name for slot in table(jobs(36), THREE) if slot] == BY_HAND
    assert [plan.line() for plan in static_plan(jobs(36), THREE)] == LINES


def test_small_rounds_go_where_the_shares_are_largest() -> None:
    assert [slot.name for slot in table(jobs(8), THREE) if slot] == EIGHT
    assert [slot.name for slot in table(jobs(6), THREE) if slot] == SIX
    assert [slot.name for slot in table(jobs(14), THREE) if slot] == FOURTEEN


@pytest.mark.parametrize("units", [[1] * 36, [15 + 7 * i % 6 for i in range(36)]])
def test_planned_deal_of_36_jobs_is_3_4_times_as_fast_as_nodes_one_after_the_other(
    units: list[int],
) -> None:
    """The baseline is the replaced coordinators: each node runs every third job, one at a time.

    Dealing to the nodes in turn, regardless of their slots, gives about 2.
    """
    slots = [slot.name for slot in table(jobs(36), THREE) if slot]
    spent: Counter[str] = Counter()
    for slot, unit in zip(slots, units, strict=True):
        spent[slot] += unit
    assert max(Counter(slots).values()) == 2
    one_by_one = max(sum(units[node::3]) for node in range(3))
    assert one_by_one / max(spent.values()) >= 3.4
    in_turn = max(sum(units[0::6]), sum(units[3::6]))
    assert one_by_one / in_turn < 2.2


def test_line_has_the_known_form() -> None:
    plans = static_plan(jobs(4), [Node("localhost", gpus=2, max_concurrent=2)])
    assert [plan.line() for plan in plans] == [
        "PARALLEL: localhost | 2 GPU workers | 4 jobs | distribution: {0: 2, 1: 2}"
    ]


def test_workers_are_slots_with_jobs_up_to_the_cap() -> None:
    few, capped = Node("few", gpus=12, max_concurrent=8), Node("capped", gpus=4, max_concurrent=3)
    assert static_plan(jobs(14), [few, capped]) == [
        NodePlan("few", "GPU", 8, dict.fromkeys(range(11), 1)),
        NodePlan("capped", "GPU", 3, {0: 1, 1: 1, 2: 1}),
    ]
    assert static_plan(jobs(10), [capped])[0].workers == 3
    assert static_plan(jobs(1), [few, capped])[1] == NodePlan("capped", "GPU", 0, {})


def test_gpu_and_cpu_jobs_are_dealt_each_by_themselves() -> None:
    mixed = [job for pair in zip(jobs(4), jobs(4, gpu=0), strict=True) for job in pair]
    nodes = [Node("a", gpus=1, cpus=2), Node("b", gpus=1, cpus=2)]
    names = [slot.name for slot in table(mixed, nodes) if slot]
    assert names == ["a/gpu0", "a/cpu0", "b/gpu0", "b/cpu0", "a/gpu0", "a/cpu1", "b/gpu0", "b/cpu1"]
    assert [plan.line() for plan in static_plan(mixed, nodes)][:2] == [
        "PARALLEL: a | 1 GPU worker | 2 jobs | distribution: {0: 2}",
        "PARALLEL: a | 2 CPU workers | 2 jobs | distribution: {0: 1, 1: 1}",
    ]


def test_job_without_a_slot_of_its_kind_has_no_place() -> None:
    assert table(jobs(1), [Node("a", cpus=1)]) == [None]


def test_greedy_says_what_it_has() -> None:
    assert greedy_line([*jobs(3), *jobs(2, gpu=0)], THREE) == (
        "PARALLEL: 3 jobs for 26 GPU slots, 2 jobs for 26 CPU slots"
        " | greedy: the next job to the first free slot"
    )


# -- output ---------------------------------------------------------------------------------------


def test_dry_run_prints_the_plan_and_creates_nothing(shop: Shop) -> None:
    shop.write([sleeper(i, 1) for i in range(36)], THREE_NODES)
    before = sorted(shop.folder.iterdir())
    result = shop.run("runs", "--nodes", "nodes.json", "--simulate-nodes", "--dry-run")
    assert (result.code, result.out) == (0, "")
    assert result.err.splitlines() == [f"🔀 {line}" for line in LINES]
    assert sorted(shop.folder.iterdir()) == before
    as_json = shop.weft("jobs", "run", "jobs.json", "--nodes", "nodes.json", "--simulate-nodes",
                        "--dry-run", "--json")  # fmt: skip
    assert as_json.err == ""
    assert as_json.json["placement"] == "static"
    assert [job["slot"] for job in as_json.json["jobs"]] == BY_HAND
    assert as_json.json["nodes"][0]["distribution"] == {"0": 2, "1": 1}


@pytest.mark.parametrize(("encoding", "sign"), [("ascii", ""), ("utf-8", "🔀 ")])
def test_sign_is_left_out_where_it_cannot_be_written(shop: Shop, encoding: str, sign: str) -> None:
    shop.write([sleeper(0, 1)], THREE_NODES)
    words = ["jobs", "run", "jobs.json", "--nodes", "nodes.json", "--simulate-nodes", "--dry-run"]
    result = shop.apart(*words, PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    assert result.err.startswith(f"{sign}PARALLEL: localhost | 0 GPU workers | 0 jobs"), result


def test_dry_run_of_a_classic_file_needs_no_other_flag(shop: Shop) -> None:
    """Other machines are part of the plan; whatever cannot be checked from here is named."""
    shop.write([sleeper(i, 1) for i in range(36)], THREE_NODES)
    before = sorted(shop.folder.iterdir())
    result = shop.weft("jobs", "run", "jobs.json", "--nodes", "nodes.json", "--dry-run")
    assert (result.code, result.out) == (0, "")
    unseen = [f"not checked: {name} is not this machine" for name in ("rig-a", "rig-b")]
    assert result.err.splitlines() == [*(f"🔀 {line}" for line in LINES), *unseen]
    assert sorted(shop.folder.iterdir()) == before


def test_dry_run_without_nodes_checks_the_scripts_of_this_machine(shop: Shop) -> None:
    shop.write([shell("a", "true")])
    result = shop.weft("jobs", "run", "jobs.json", "--dry-run")
    assert (result.code, "not checked" in result.err) == (0, False), result
    shop.write([{"job_id": "a", "script": "missing.py", "gpu": 0}])
    result = shop.weft("jobs", "run", "jobs.json", "--dry-run")
    assert (result.code, "missing.py does not exist" in result.err) == (3, True), result


def test_placement_is_static_with_a_classic_file_and_greedy_otherwise(
    shop: Shop, tmp_path: Path
) -> None:
    shop.write([shell("a", "true")], '{"nodes": [{"hostname": "localhost", "gpu_count": 1}]}')
    (tmp_path / "nodes.toml").write_text('[[nodes]]\nhostname = "localhost"\ncpu_count = 1\n')
    for words, placement in (
        (["--nodes", "nodes.json"], "static"),
        (["--nodes", "nodes.json", "--placement", "greedy"], "greedy"),
        (["--nodes", "nodes.toml"], "greedy"),
        (["--nodes", "nodes.toml", "--placement", "static"], "static"),
        ([], "greedy"),
    ):
        result = shop.weft("jobs", "run", "jobs.json", "--dry-run", "--json", *words)
        assert json.loads(result.out)["placement"] == placement, words
