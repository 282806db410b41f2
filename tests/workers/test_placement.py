"""Slots in real runs: never two tasks on one, never over a cap, sick ones retired."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.workers.lab import Lab, attempts, ledger_digest, print_figures, rows, trials
from weft.errors import UsageError

SPANS = "SELECT notes, node, gpu, worker_pid, function FROM tasks"
Span = tuple[Any, ...]
BEGAN, ENDED, NODE, GPU, PID, FUNCTION = range(6)


def spans_of(run: Path) -> list[Span]:
    """Time and place of each task, by its worker's clock; the manifest's times are the
    coordinator's and lag while it commits.
    """
    spans = ((json.loads(notes), where) for notes, *where in rows(run, SPANS))
    return [(notes["began_s"], notes["ended_s"], *where) for notes, where in spans]


def most_at_once(spans: list[Span]) -> int:
    """The largest number of overlapping spans; one ending when another starts does not overlap."""
    ends = [(end, -1) for _, end, *_ in spans] + [(start, 1) for start, *_ in spans]
    return max(accumulate(step for _, step in sorted(ends)), default=0)


def most_per(spans: list[Span], *columns: int) -> int:
    """The same, counted separately for each value of some columns; the largest of all."""
    apart = defaultdict(list)
    for span in spans:
        apart[tuple(span[c] for c in columns)].append(span)
    return max(most_at_once(part) for part in apart.values())


def on_gpus(run: Path) -> list[Span]:
    return [span for span in spans_of(run) if span[GPU] is not None]


@pytest.mark.parametrize("placement", ["static", "greedy"])
def test_no_slot_node_or_group_ever_runs_more_than_it_may(lab: Lab, placement: str) -> None:
    nodes = [weft.Node("a", gpus=3, max_concurrent=2), weft.Node("b", gpus=1, cpus=3)]
    kinds = ["gpu", "red", "gpu", "red", "gpu", "blue"]
    search = trials.rests(kinds * 8, [40, 10, 25])
    run = lab.run(search, workers=6, nodes=nodes, placement=placement, group_cap=2)
    spans = spans_of(run.out)
    groups = [span for span in spans if "red" in span[FUNCTION] or "blue" in span[FUNCTION]]
    on_a = [span for span in spans if span[NODE] == "a"]
    print_figures("placement", mode=placement, tasks=len(spans), at_once=most_at_once(spans),
                  per_gpu=most_per(on_gpus(run.out), NODE, GPU), on_a=most_at_once(on_a),
                  per_group=most_per(groups, FUNCTION))  # fmt: skip
    assert len(spans) == 48
    assert most_per(on_gpus(run.out), NODE, GPU) == 1
    assert most_per(spans, PID) == 1
    assert most_at_once(on_a) <= 2
    assert most_per(groups, FUNCTION) <= 2
    assert 1 < most_at_once(spans) <= 6
    assert {span[NODE] for span in groups} == {"b"}
    assert lab.leftovers() == []


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_cap_the_busy_slots_of_all_nodes(lab: Lab, workers: int) -> None:
    nodes = [weft.Node("a", cpus=2), weft.Node("b", cpus=2)]
    most = 0
    for rest_ms in (20, 200, 2000):  # on a busy machine short tasks may never overlap
        search = trials.rests(["cpu"], [rest_ms] * 12)
        run = lab.run(search, f"{rest_ms}", workers=workers, nodes=nodes)
        most = most_at_once(spans_of(run.out))
        assert most <= workers
        if most == workers:
            break
    assert most == workers


def test_static_run_follows_the_table_and_greedy_is_no_slower(lab: Lab) -> None:
    """Every fourth task is long; static deals all of them to one node, greedy distributes them."""
    nodes = [weft.Node("a", gpus=1), weft.Node("b", gpus=2), weft.Node("c", gpus=1)]
    search = trials.rests(["gpu"], [60, 5, 5, 5] * 6)
    spent, digests = {}, set()
    for placement in ("static", "greedy"):
        run = lab.run(search, placement, workers=4, nodes=nodes, placement=placement)
        digests.add(ledger_digest(run.out))
        busy: dict[tuple[str, int], float] = defaultdict(float)
        for span in on_gpus(run.out):
            busy[span[NODE], span[GPU]] += span[ENDED] - span[BEGAN]
        spent[placement] = max(busy.values())
    placed = rows(lab.folder / "static", "SELECT node, gpu FROM tasks ORDER BY id")
    table = [("a", 0), ("b", 0), ("c", 0), ("b", 1)] * 6
    print_figures("makespan", static=round(spent["static"], 3), greedy=round(spent["greedy"], 3))
    assert placed == table
    assert len(digests) == 1
    assert spent["greedy"] <= spent["static"] * 1.1 + 0.02


DEVICES = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
GPU_TYPES = [("", 0), ("RTX 3080 Ti", 0), ("NVIDIA A100", 0), ("AMD", 1), ("ROCm", 1),
             ("RX 6600", 1), ("Radeon RX 7900 XTX", 1), ("Instinct MI250X", 1)]  # fmt: skip


@pytest.mark.parametrize("inherited", [None, "5,6"])
@pytest.mark.parametrize(("gpu_type", "which"), [GPU_TYPES[0], GPU_TYPES[3]])
def test_each_gpu_slot_sees_its_own_device_only(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, gpu_type: str, which: int, inherited: str | None
) -> None:
    """Through one variable: on ROCm, several would filter in succession and leave no GPU."""
    for name in DEVICES:
        monkeypatch.delenv(name, raising=False)
        if inherited is not None:
            monkeypatch.setenv(name, inherited)
    nodes = [weft.Node("a", gpus=3, cpus=1, gpu_type=gpu_type)]
    run = lab.run(trials.devices(6), workers=4, nodes=nodes, placement="static")
    on_gpu, on_cpu = run.answer
    assert on_gpu == [[str(i % 3) if n == which else None for n in range(3)] for i in range(6)]
    assert on_cpu == [inherited] * 3  # functions may be asked to use it: --device gpu


@pytest.mark.parametrize(("gpu_type", "which"), GPU_TYPES)
def test_command_sees_the_device_of_its_slot_and_none_on_a_cpu_slot(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, gpu_type: str, which: int
) -> None:
    for name in DEVICES:
        monkeypatch.setenv(name, "7")
    variables = " ".join(f"${{{name}-unset}}" for name in DEVICES)
    argv = ["sh", "-c", f"echo {variables} {{slot}}"]
    steps = [{"argv": argv, "gpu": 1}, {"argv": argv, "gpu": 1}, {"argv": argv}]
    nodes = [weft.Node("a", gpus=2, cpus=1, gpu_type=gpu_type)]
    run = lab.run(trials.commands(steps), workers=2, nodes=nodes, placement="static")
    lines = [[*(["unset"] * which), value, *(["unset"] * (2 - which))] for value in ("0", "1", "")]
    for line, slot in zip(lines, ("gpu0", "gpu1", "cpu0"), strict=True):
        line.append(f"a/{slot}")
    assert [answer["stdout"].split() for answer in run.answer] == [
        [word for word in line if word] for line in lines
    ]


# -- refusals -----------------------------------------------------------------------------


def test_gpu_task_without_a_gpu_node_is_refused_and_can_be_resumed_with_one(lab: Lab) -> None:
    search = trials.rests(["gpu"], [1])
    with pytest.raises(UsageError, match="needs a GPU and no node has one") as caught:
        lab.run(search, workers=2)
    assert (caught.value.exit_code, str(caught.value).count("\n")) == (2, 0)
    assert lab.alive() == []
    assert lab.run(search, nodes=[weft.Node("a", gpus=1)]).answer == [0]


@pytest.mark.parametrize("placement", ["greedy", "static"])
def test_cpu_task_on_gpus_only_is_refused_in_one_line(lab: Lab, placement: str) -> None:
    with pytest.raises(weft.WeftError, match="no CPU slot is left") as caught:
        lab.run(trials.rests(["cpu"], [1]), nodes=[weft.Node("a", gpus=1)], placement=placement)
    assert "\n" not in str(caught.value)
    assert lab.alive() == []


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"nodes": [weft.Node("a", cpus=1), weft.Node("a", cpus=2)]}, "named twice"),
        ({"nodes": [weft.Node("a", cpus=5000)]}, "5000 slots"),
        ({"placement": "random"}, "not 'random'"),
        ({"group_cap": 0}, "group_cap must be 1 or more"),
    ],
)
def test_places_without_sense_are_refused_and_nothing_is_written(
    lab: Lab, how: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        lab.run(trials.rests(["cpu"], [1]), **how)
    assert lab.alive() == []
    assert list(lab.folder.iterdir()) == []


# -- sick slots ---------------------------------------------------------------------------

RESTS = trials.rests(["gpu"], [20] * 40)
TWO_GPUS = (weft.Node("a", gpus=2),)


@pytest.fixture(scope="module")
def well(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The ledger of a run in which every slot is healthy."""
    out = tmp_path_factory.mktemp("well") / "run"
    return ledger_digest(weft.run(RESTS, out=out, workers=2, nodes=TWO_GPUS).out)


@pytest.mark.parametrize("placement", ["greedy", "static"])
@pytest.mark.parametrize("how", ["start-kill", "start-exit", "task-kill"])
def test_slot_whose_workers_always_die_is_retired_and_the_others_finish(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, well: str, how: str, placement: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent / "sick"))
    monkeypatch.setenv("WEFT_TRIAL_SICK", how)
    sick = lab.run(RESTS, "sick", workers=2, nodes=TWO_GPUS, placement=placement)
    ends = attempts(sick.out)
    print_figures("sick slot", how=how, mode=placement, attempts=ends)
    assert sick.answer == list(range(40))
    assert ledger_digest(sick.out) == well
    assert {outcome for outcome, _, _ in ends} <= {"requeued"}
    assert {span[GPU] for span in on_gpus(sick.out)} == {1}
    assert lab.leftovers() == []
