"""Nodes and their slots: numbered node by node, GPUs first; meaningless nodes are refused."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import UsageError
from weft.model.slots import (
    CUDA_DEVICES,
    HIP_DEVICES,
    MAX_CONCURRENT,
    MAX_SLOTS,
    VISIBLE_DEVICES,
    Deal,
    Node,
    Slot,
    local_nodes,
    slots_of,
    visible_variable,
)


def test_slots_are_numbered_node_by_node_with_gpus_first() -> None:
    slots = slots_of([Node("a", gpus=2, cpus=1), Node("b", cpus=2)])
    assert slots == (
        *(Slot("a", 0, 0), Slot("a", 1, 1), Slot("a", None, 0)),
        *(Slot("b", None, 0), Slot("b", None, 1)),
    )
    assert [slot.name for slot in slots] == ["a/gpu0", "a/gpu1", "a/cpu0", "b/cpu0", "b/cpu1"]


def test_local_nodes_give_one_slot_per_worker() -> None:
    assert [slot.name for slot in slots_of(local_nodes(3))] == ["local/cpu0", "local/cpu1",
                                                                "local/cpu2"]  # fmt: skip


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({"gpus": -1, "cpus": 2}, "must not be negative"),
        ({"cpus": -1, "gpus": 2}, "must not be negative"),
        ({"cpus": 1, "max_concurrent": -1}, "must not be negative"),
        ({"cpus": 1, "max_concurrent": 0}, "caps at least 1"),
        ({}, "no slot"),
    ],
)
def test_node_without_sense_is_refused_by_name(counts: dict[str, int], words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        Node("odd", **counts)
    assert "'odd'" in str(caught.value)


def test_nodes_named_twice_are_refused() -> None:
    with pytest.raises(UsageError, match="'b' is named twice"):
        slots_of([Node("a", cpus=1), Node("b", cpus=1), Node("b", gpus=1)])


@pytest.mark.parametrize("nodes", [[], [Node("a", cpus=MAX_SLOTS), Node("b", cpus=1)]])
def test_no_slot_and_too_many_slots_are_refused(nodes: list[Node]) -> None:
    with pytest.raises(UsageError, match="there must be 1 to 4096"):
        slots_of(nodes)


def test_most_slots_are_allowed() -> None:
    assert len(slots_of([Node("a", cpus=MAX_SLOTS)])) == MAX_SLOTS


def test_slots_know_their_nodes_folder_and_interpreter() -> None:
    slots = Node("a", gpus=1, cpus=1, folder="scripts", python="env").slots()
    assert [(slot.folder, slot.python) for slot in slots] == [("scripts", "env")] * 2


def test_deal_goes_to_nodes_by_their_slots_then_to_the_slots_in_turn() -> None:
    slots = slots_of([Node("a", gpus=2, cpus=1), Node("b", cpus=1), Node("c", gpus=3)])
    deal = Deal.of(slots, gpu=True)
    assert deal.nodes == ((0, 1), (4, 5, 6))
    assert [deal.slot(i) for i in range(8)] == [0, 4, 1, 5, 6, 0, 4, 1]
    assert [deal.slot(i, 8) for i in range(8)] == [0, 4, 1, 5, 6, 0, 4, 5]
    assert Deal.of(slots, gpu=True, without={0, 1}).nodes == ((4, 5, 6),)
    assert Deal.of(slots, gpu=False).nodes == ((2,), (3,))


def test_deal_without_slots_gives_nothing() -> None:
    assert Deal.of(slots_of([Node("a", cpus=1)]), gpu=True).slot(0) is None


@given(sizes=st.lists(st.integers(1, 9), min_size=1, max_size=5), total=st.integers(0, 200))
def test_deal_is_in_proportion_by_largest_remainder(sizes: list[int], total: int) -> None:
    """Each node gets its share rounded down or up, up where the remainder is largest."""
    slots = slots_of([Node(f"n{i}", gpus=size) for i, size in enumerate(sizes)])
    deal = Deal.of(slots, gpu=True)
    dealt = [slots[number] for i in range(total) if (number := deal.slot(i, total)) is not None]
    by_node = Counter(int(slot.node[1:]) for slot in dealt)
    rests = {i: total * size % sum(sizes) for i, size in enumerate(sizes)}
    floors = {i: total * size // sum(sizes) for i, size in enumerate(sizes)}
    first = sorted(rests, key=lambda i: (-rests[i], i))[: total - sum(floors.values())]
    assert [by_node[i] for i in rests] == [floors[i] + (i in first) for i in rests]
    for i, size in enumerate(sizes):
        own = [slot.index for slot in dealt if slot.node == f"n{i}"]
        assert own == [turn % size for turn in range(len(own))]


@pytest.mark.parametrize(
    ("gpu_type", "variable"),
    [
        ("", CUDA_DEVICES),
        ("RTX 4090", CUDA_DEVICES),
        ("NVIDIA H100", CUDA_DEVICES),
        ("amd", HIP_DEVICES),
        ("AMD Instinct MI300X", HIP_DEVICES),
        ("RX 6600", HIP_DEVICES),
        ("rocm", HIP_DEVICES),
        ("gfx1030", HIP_DEVICES),
    ],
)
def test_one_variable_fits_a_gpu_type(gpu_type: str, variable: str) -> None:
    assert visible_variable(gpu_type) == variable


def test_node_with_gpus_runs_twelve_tasks_and_hides_gpus_from_every_vendor() -> None:
    assert MAX_CONCURRENT == 12
    assert VISIBLE_DEVICES == (
        "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"
    )  # fmt: skip
    node = Node("a", cpus=1)
    assert (node.folder, node.python, node.gpu_type, node.allow_paths) == ("", "", "", ())
