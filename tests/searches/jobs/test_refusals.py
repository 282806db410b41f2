"""Bad input: one line that names file and entry, exit 3, and nothing is started or created."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.searches.jobs.conftest import THREE_NODES, Shop, shell
from tests.support.commands import Told

GPU = {"job_id": "g", "argv": ["true"]}
CPU = shell("c", "true")
HERE = '{"nodes": [{"hostname": "localhost", "gpu_count": 1}]}'
CPUS = '{"nodes": [{"hostname": "localhost", "cpu_count": 2}]}'
NO_CPU = '{"nodes": [{"hostname": "localhost", "gpu_count": 2, "cpu_count": 0}]}'


def contents(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def check_refused(shop: Shop, told: Told, code: int, *said: str) -> None:
    assert told.code == code, told
    assert told.out == ""
    assert told.err.startswith("weft: ")
    assert told.err.count("\n") == 1, told
    assert told.err[:-1].isprintable()
    for words in said:
        assert words in told.err, told


@pytest.mark.parametrize(
    ("jobs", "nodes", "said"),
    [
        ([CPU, CPU], None, ["jobs.json: job 2 ('c')", "same job_id"]),
        ([{**CPU, "gpus": 1}], None, ["jobs.json: job 1 ('c')", "gpus: unknown field"]),
        ([CPU, GPU], None, ["jobs.json: job 2 ('g')", "no node has one", "--nodes"]),
        ([CPU, GPU], CPUS, ["jobs.json: job 2 ('g')", "needs a GPU, but no node has one"]),
        ([GPU, CPU], NO_CPU, ["jobs.json: job 2 ('c')", "needs a CPU slot"]),
        (
            [{"job_id": "s", "script": "no.py"}],
            HERE,
            ["jobs.json: job 1 ('s')", "no.py does not exist"],
        ),
        ([{"job_id": "s", "script": "."}], HERE, ["jobs.json: job 1 ('s')", "not a regular file"]),
        ([GPU], '{"nodes": [{"hostname": "a", "gpu_count": 0}]}', ["nodes.json", "zero GPUs"]),
        ([GPU], '{"nodes": [{"hostname": "a"}]}', ["nodes.json: nodes.0 ('a')", "zero GPUs"]),
        ([GPU], '{"nodes": [{"hostname": "a", "gpus": 1}]}', ["nodes.json: nodes.0.gpus"]),
        ([GPU], "{", ["nodes.json"]),
        ("[", HERE, ["jobs.json"]),
    ],
)
def test_bad_file_is_refused_and_nothing_is_created(
    shop: Shop, jobs: Any, nodes: str | None, said: list[str]
) -> None:
    shop.write(jobs, nodes)
    before = contents(shop.folder)
    words = [] if nodes is None else ["--nodes", "nodes.json"]
    for more in ([], ["--dry-run"], ["--json"]):
        check_refused(shop, shop.run("run", *words, *more), 3, *said)
    assert contents(shop.folder) == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--placement", "random"], "greedy, static, not 'random'"),
        (["--stagger", "-1"], "--stagger"),
        (["--stagger", "nan"], "--stagger"),
        (["--timeout", "0"], "--timeout"),
        (["--timeout", "inf"], "--timeout"),
        (["--workers", "0"], "--workers"),
        (["--retries", "101"], "--retries"),
        (["--simulate-nodes"], "--simulate-nodes needs --nodes"),
        (["--gpu", "1"], "No such option"),
    ],
)
def test_bad_option_is_a_usage_error(shop: Shop, words: list[str], said: str) -> None:
    shop.write([CPU])
    before = contents(shop.folder)
    result = shop.run("run", *words, "-q")
    check_refused(shop, result, 2, said)
    assert contents(shop.folder) == before


def test_other_machine_is_refused_without_the_flag_that_helps(shop: Shop) -> None:
    shop.write([GPU], THREE_NODES)
    words = ["nodes.json: node 'rig-a' is not this machine", "--simulate-nodes"]
    check_refused(shop, shop.run("run", "--nodes", "nodes.json"), 3, *words)


def test_out_is_needed_to_run(shop: Shop) -> None:
    shop.write([CPU])
    check_refused(shop, shop.weft("jobs", "run", "jobs.json"), 2, "--out DIR is missing")


def test_missing_jobs_file_is_named(shop: Shop) -> None:
    check_refused(shop, shop.run("run", jobs="no\u202e.json"), 3, "jobs file no\\u202e.json")


def test_other_jobs_in_a_used_folder_are_refused_by_the_field_that_differs(shop: Shop) -> None:
    (shop.folder / "s.py").write_text("print('[]')")
    jobs = [CPU, {"job_id": "s", "script": "s.py", "gpu": 0}, shell("d", "echo []")]
    shop.write(jobs)
    assert shop.run("run", "-q").code == 4
    before = {p: p.stat().st_mtime_ns for p in contents(shop.folder / "run")}
    shop.write([CPU, jobs[1], {**jobs[2], "timeout_s": 61}])
    check_refused(
        shop, shop.run("run", "-q"), 3, "config.args.jobs.2.timeout_s is 600.0 there, 61.0 here"
    )
    shop.write(jobs)
    (shop.folder / "s.py").write_text("print('[1]')")
    check_refused(shop, shop.run("run", "-q"), 3, "config.args.jobs.1.script_sha256")
    assert {p: p.stat().st_mtime_ns for p in contents(shop.folder / "run")} == before


def test_run_file_with_odd_nodes_is_refused_on_resume(shop: Shop) -> None:
    shop.write([shell("a", "echo []; sleep 30")])
    assert shop.run("run", "--wall-limit", "0.4", "-q").code == 130
    run_toml = shop.folder / "run" / "run.toml"
    good = run_toml.read_text()
    for bad in ('nodes = "x"', "nodes = [{ name = 1, gpus = -1 }]", "nodes = [7]",
                "nodes = [{ colour = 1 }]", "stagger_s = true"):  # fmt: skip
        run_toml.write_text(f"{good}\n{bad}\n")
        check_refused(shop, shop.weft("resume", "run"), 3, "run.toml: execution")
    run_toml.write_text(json.dumps(good))
    assert shop.weft("resume", "run").code == 3
