"""Node files: both forms, and a one-line error for each possible mistake."""

from __future__ import annotations

import json

import pytest

from weft.cluster import check as nodescheck
from weft.cluster.host import host_name
from weft.cluster.nodesfile import read_nodes
from weft.cluster.ssh import Shell
from weft.errors import FileInvalid
from weft.model.slots import Node

CLASSIC = {
    "nodes": [
        {"hostname": "localhost", "gpu_count": 2, "max_concurrent_script_jobs": 2},
        {"hostname": "rig-a", "gpu_count": 12, "max_concurrent_script_jobs": 12},
        {
            "hostname": "rig-b",
            "username": "me",
            "gpu_count": 12,
            "gpu_type": "x",
            "script_path": "/srv",
            "python_env": "/srv/env",
        },
    ]
}


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_classic_file_loads_as_it_is(tmp_path):
    path = write(tmp_path, "distributed_config.json", json.dumps(CLASSIC))
    assert read_nodes(path, simulate=True) == (
        Node("localhost", 2, 2, 2),
        Node("rig-a", 12, 12, 12),
        Node("rig-b", 12, 12, 12, gpu_type="x"),
    )


def test_node_on_this_machine_has_its_own_folder_and_interpreter(tmp_path):
    entry = {"hostname": "localhost", "gpu_count": 1, "script_path": "~/s", "python_env": "env"}
    for name in ("localhost", "127.0.0.1", "::1", host_name()):
        path = write(tmp_path, "n.json", json.dumps({"nodes": [{**entry, "hostname": name}]}))
        for simulate in (False, True):
            (node,) = read_nodes(path, simulate=simulate)
            assert (node.name, node.folder, node.python) == (name, "~/s", "env")


def test_other_machine_is_refused_with_the_flag_that_helps(tmp_path):
    path = write(tmp_path, "nodes.json", json.dumps(CLASSIC))
    with pytest.raises(
        FileInvalid, match=r"'rig-a' is not this machine; --backend ray .* --simulate-nodes here"
    ) as caught:
        read_nodes(path)
    assert str(path) in str(caught.value)


def test_toml_file_says_what_the_node_has(tmp_path):
    text = '[[nodes]]\nhostname = "a"\ncpu_count = 3\nmax_concurrent = 2\n'
    assert read_nodes(write(tmp_path, "nodes.toml", text), simulate=True) == (Node("a", 0, 3, 2),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "line 1"),
        ("[]", "must be a table of fields"),
        ('{"nodes": []}', "nodes: must have at least 1 item"),
        ('{"nodes": [{"gpu_count": 1}]}', r"nodes\.0\.hostname: is missing"),
        ('{"nodes": [{"hostname": "a", "gpus": 1}]}', r"nodes\.0\.gpus: unknown field"),
        ('{"nodes": [{"hostname": "a", "gpu_count": -1}]}', r"nodes\.0\.gpu_count"),
        ('{"nodes": [{"hostname": "a", "gpu_count": "2"}]}', r"nodes\.0\.gpu_count"),
        ('{"nodes": [{"hostname": "a", "gpu_count": true}]}', r"nodes\.0\.gpu_count"),
        ('{"nodes": [{"hostname": "a;b"}]}', r"nodes\.0\.hostname"),
        ('{"nodes": [{"hostname": "-v", "gpu_count": 1}]}', r"nodes\.0\.hostname: must match"),
        (
            '{"nodes": [{"hostname": "a", "gpu_count": 1}, {"hostname": "a", "gpu_count": 1}]}',
            "named twice",
        ),
        ('{"nodes": [{"hostname": "a"}]}', r"nodes\.0 \('a'\): zero GPUs"),
        ('{"nodes": [{"hostname": "a", "gpu_count": 0}]}', r"nodes\.0 \('a'\): zero GPUs"),
        ('{"nodes": [{"hostname": "a", "cpu_count": 0}]}', "zero GPUs"),
        ('{"nodes": [{"hostname": "a", "hostname": "b"}]}', "hostname"),
        ('{"nodes": [{"hostname": "a"}], "more": 1}', "more: unknown field"),
    ],
)
def test_wrong_file_is_one_line_with_the_place(tmp_path, text, words):
    path = write(tmp_path, "nodes.json", text)
    with pytest.raises(FileInvalid, match=words) as caught:
        read_nodes(path, simulate=True)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["nodes = [", "nodes = 3", "[nodes]\nx = 1", "x" * (1 << 20 | 1)])
def test_wrong_toml_is_one_line(tmp_path, text):
    with pytest.raises(FileInvalid) as caught:
        read_nodes(write(tmp_path, "nodes.toml", text))
    assert "\n" not in str(caught.value)[:500]


def test_missing_file_is_named(tmp_path):
    with pytest.raises(FileInvalid, match="does not exist"):
        read_nodes(tmp_path / "none.toml")


def test_two_names_of_this_machine_would_share_its_gpus_and_are_refused(tmp_path):
    nodes = [{"hostname": name, "gpu_count": 1} for name in ("localhost", "127.0.0.1")]
    path = write(tmp_path, "nodes.json", json.dumps({"nodes": nodes}))
    with pytest.raises(FileInvalid, match=r"'localhost' and '127\.0\.0\.1' are the same machine"):
        read_nodes(path)
    with pytest.raises(FileInvalid, match="the same machine"):
        read_nodes(path, anywhere=True)
    with pytest.raises(FileInvalid, match="the same machine"):
        nodescheck.check(path, Shell())
    assert len(read_nodes(path, simulate=True)) == 2
