"""Where a job's paths may point: nothing outside its folders is touched, and nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.searches.jobs.conftest import Shop, shell
from tests.searches.jobs.test_refusals import check_refused, contents
from weft.worker.confine import containing, leaves, lies_below


def nodes(**fields: Any) -> str:
    return json.dumps({"nodes": [{"hostname": "localhost", "gpu_count": 1, **fields}]})


@pytest.fixture
def precious(shop: Shop) -> Path:
    """An unrelated file, beside the folder of the node."""
    (shop.folder / "node").mkdir()
    path = shop.folder / "precious.txt"
    path.write_text("do not touch")
    return path


@pytest.mark.parametrize("written", ["../precious.txt", "{out_dir}/../../../../precious.txt"])
def test_expected_output_outside_is_refused_and_the_file_there_stays(
    shop: Shop, precious: Path, written: str
) -> None:
    for path in (written, str(precious)):
        shop.write([shell("a", "true", expected_output=path)], nodes(script_path="node"))
        before = contents(shop.folder)
        for more in ([], ["--dry-run"]):
            result = shop.run("run", "--nodes", "nodes.json", *more)
            check_refused(shop, result, 3, "job 1 ('a')", "expected_output")
        assert contents(shop.folder) == before
        assert precious.read_text() == "do not touch"


def test_link_that_leads_out_is_refused_before_the_start(shop: Shop, precious: Path) -> None:
    (shop.folder / "node" / "link").symlink_to(shop.folder)
    job = shell("a", "true", expected_output="link/precious.txt")
    shop.write([job], nodes(script_path="node"))
    result = shop.run("run", "--nodes", "nodes.json", "--dry-run")
    check_refused(shop, result, 3, "link/precious.txt is not inside the job's folder")
    assert precious.read_text() == "do not touch"


def test_link_made_after_the_start_moves_nothing_and_is_not_recorded(
    shop: Shop, precious: Path
) -> None:
    """The run stops with exit code 75; once the link is gone, `weft resume` finishes it."""
    (shop.folder / "node" / "link").mkdir()
    plant = "rmdir link; ln -s .. link; echo []"
    second = shell("b", "echo [] > link/precious.txt", expected_output="link/precious.txt")
    shop.write([shell("a", plant), second], nodes(script_path="node", cpu_count=1))
    result = shop.run("run", "--nodes", "nodes.json", "-q")
    check_refused(shop, result, 75, "no CPU slot is left", "link/precious.txt is not inside")
    assert precious.read_text() == "do not touch"
    (shop.folder / "node" / "link").unlink()
    (shop.folder / "node" / "link").mkdir()
    assert shop.weft("resume", "run").code == 0
    assert precious.read_text() == "do not touch"
    assert shop.results("run")["b"] == ("file", b"[]\n")


def test_file_that_became_a_link_is_no_result(shop: Shop, precious: Path) -> None:
    line = f"ln -s {precious} x.json"
    job = shell("a", line, expected_output="x.json", format="bytes")
    shop.write([job], nodes(script_path="node"))
    assert shop.run("run", "--nodes", "nodes.json", "-q").code == 4
    assert shop.results("run")["a"] == ("result-invalid", b"")
    key = shop.seen("run")[0].key
    assert "leads out of the job's folder" in shop.weft("explain", "run", key).out


@pytest.mark.parametrize("field", ["script", "cwd"])
def test_script_and_cwd_are_elsewhere_only_where_the_node_allows_it(shop: Shop, field: str) -> None:
    for name in ("here", "beside"):
        (shop.folder / name).mkdir()
    for name in ("here", "beside"):
        (shop.folder / name / "s.py").write_text("open('out.json', 'w').write('[5]')")
    beside = shop.folder / "beside"
    for path in (str(beside), "../beside"):
        job = {"job_id": "a", "script": "s.py", "gpu": 0, "expected_output": "out.json"}
        job |= {field: f"{path}/s.py" if field == "script" else path}
        shop.write([job], nodes(script_path="here"))
        result = shop.run("run", "--nodes", "nodes.json", "--dry-run")
        check_refused(shop, result, 3, f"{field} ", "is not in script_path", "allow_paths")
    shop.write([job], nodes(script_path="here", allow_paths=[str(beside)]))
    assert shop.run("run", "--nodes", "nodes.json", "-q").code == 0
    assert shop.results("run")["a"] == ("file", b"[5]")
    assert (shop.folder / ("here" if field == "script" else "beside") / "out.json").is_file()


def test_what_was_moved_aside_comes_back_when_the_job_does_not_start(shop: Shop) -> None:
    """The second job's program disappears while the first job runs."""
    tool = shop.folder / "tool"
    tool.write_text("#!/bin/sh\necho [] > old.json\n")
    tool.chmod(0o755)
    (shop.folder / "old.json").write_text("old")
    second = {"job_id": "b", "argv": ["./tool"], "gpu": 0, "expected_output": "old.json"}
    shop.write([shell("a", "mv tool gone; echo []"), second])
    result = shop.run("run", "-q", "--workers", "1")
    check_refused(shop, result, 75, "no CPU slot is left", "tool: No such file or directory")
    assert (shop.folder / "old.json").read_text() == "old"
    assert not (shop.folder / "old.json.before-1").exists()
    (shop.folder / "gone").rename(tool)
    assert shop.weft("resume", "run").code == 0
    assert (shop.folder / "old.json.before-1").read_text() == "old"


def test_paths_are_compared_by_parts_and_links_resolved(tmp_path: Path) -> None:
    assert lies_below("/a/b/../c", ["/a"])
    assert not lies_below("/a/../b", ["/a"])
    assert not lies_below("/ab", ["/a"])
    assert containing("/a/b/c", ["/x", "/a/b", "/a"]) == Path("/a/b")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "up").symlink_to("..")
    (tmp_path / "in" / "loop").symlink_to("loop")
    assert not leaves(tmp_path / "in" / "new" / "x", tmp_path / "in")
    assert not leaves(tmp_path / "in" / "up" / "in", tmp_path / "in")
    assert leaves(tmp_path / "in" / "up" / "x", tmp_path / "in")
