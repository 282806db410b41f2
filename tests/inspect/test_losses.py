"""Losses and returns of nodes, reported from events."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.inspect.losses import Loss, read_losses
from weft.storage.disk import Disk
from weft.storage.manifest import Manifest


@pytest.fixture
def manifest(tmp_path: Path) -> Manifest:
    return Manifest.create(tmp_path / "manifest.sqlite", Disk(), "id", "{}")


def note(manifest: Manifest, *events: tuple[str, str]) -> None:
    for at, (kind, detail) in enumerate(events):
        manifest.event(float(at), float(at), kind, None, detail)


def test_losses_of_an_earlier_session_are_forgotten(manifest: Manifest) -> None:
    note(manifest, ("node-lost", "a"), ("ray-session", "nodes: a, b"), ("node-lost", "b"))
    assert read_losses(manifest) == (Loss("node", "b", "", 2.0),)
    manifest.close()


def test_loss_ends_with_the_return_of_its_own_node(manifest: Manifest) -> None:
    note(
        manifest,
        ("node-lost", "a: not in the cluster"),
        ("node-lost", "b"),
        ("node-returned", "a"),
        ("slot-retired", "c/gpu1 only loses workers"),
    )
    losses = read_losses(manifest)
    assert [(x.what, x.name, x.why, x.back_at) for x in losses] == [
        ("node", "a", "not in the cluster", 2.0),
        ("node", "b", "", None),
        ("slot", "c/gpu1", "only loses workers", None),
    ]
    assert losses[0].line() == "node a was lost for 2 s (not in the cluster) and is back"
    assert losses[1].line() == "node b is lost; what it had went to others"
    manifest.close()
