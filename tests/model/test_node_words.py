"""The counts of a node may be given under the names used in node files."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

import weft
from weft.errors import UsageError


def test_node_takes_the_words_of_node_files():
    node = weft.Node("a", gpu_count=2, cpu_count=3)
    assert node == weft.Node("a", gpus=2, cpus=3) == weft.Node("a", 2, 3)
    assert hash(node) == hash(weft.Node("a", 2, 3))
    assert (node.gpu_count, node.cpu_count) == (node.gpus, node.cpus) == (2, 3)
    assert len(node.slots()) == 5


def test_node_is_recorded_by_one_word_and_can_be_replaced():
    node = weft.Node("a", gpu_count=2, gpu_type="RTX", allow_paths=("/data",))
    assert "gpu_count" not in asdict(node)
    assert weft.Node(**asdict(node)) == node
    assert replace(node, gpus=3).gpu_count == 3
    with pytest.raises(AttributeError):
        node.gpus = 4  # type: ignore[misc]


def test_node_same_count_by_both_words_must_agree():
    assert weft.Node("a", gpus=2, gpu_count=2).gpus == 2
    with pytest.raises(UsageError, match=r"gpus=1 and gpu_count=2.*give one"):
        weft.Node("a", gpus=1, gpu_count=2)
    with pytest.raises(UsageError, match=r"'a': cpus=1 and cpu_count=2.*give one"):
        weft.Node("a", cpus=1, cpu_count=2)
    with pytest.raises(UsageError, match="negative"):
        weft.Node("a", cpu_count=-1)
    with pytest.raises(UsageError, match="no slot"):
        weft.Node("a", gpu_count=0)
