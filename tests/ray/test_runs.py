"""Every search has the same ledger on a Ray cluster as with one worker here."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.ray.conftest import GPUS, RayCluster
from tests.searches.jobs.conftest import Shop, shell
from tests.searches.prng.pipeline.conftest import SMALL, write
from tests.searches.prng.pipeline.planted import planted
from tests.searches.tree.conftest import Wood
from tests.support.arcruns import TASKS, TINY, write_tasks

SEARCHES = Path(__file__).parent / "searches"
JAVA = Path(__file__).parents[1] / "searches" / "prng" / "histories" / "java.csv"
NODES = "".join(
    f'[[nodes]]\nhostname = "{name}"\ngpu_count = {gpus}\ncpu_count = 2\nmax_concurrent = 2\n'
    for name, gpus in GPUS.items()
)


@pytest.fixture
def on_ray(cluster: RayCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Options that send a run to the cluster."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nodes.toml").write_text(NODES)
    return ("--backend", "ray", "--ray-address", cluster.address, "--nodes", "nodes.toml")


def nodes_used(run: Path) -> set[str]:
    with closing(sqlite3.connect(f"file:{run}/manifest.sqlite?mode=ro", uri=True)) as db:
        return {node for (node,) in db.execute("SELECT DISTINCT node FROM tasks")}


def on_nodes() -> set[Path]:
    """What runs have left on the nodes."""
    folder = Path(os.environ["WEFT_NODE_FOLDER"])
    return set(folder.iterdir()) if folder.exists() else set()


def ledger(run: Path) -> str:
    return hashlib.sha256((run / "ledger.jsonl").read_bytes()).hexdigest()


@pytest.mark.parametrize("workers", [pytest.param(2, marks=pytest.mark.slow), 6])
def test_own_search_on_nodes_without_its_code_gives_the_serial_ledger(
    workers: int, on_ray: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Objects larger than a piece are passed around; nodes cannot import from the code's folder."""
    shutil.copytree(SEARCHES, tmp_path / "own")
    (tmp_path / "own" / "relay.py").rename(tmp_path / "own" / f"relay{workers}.py")
    words = ["run", f"own/relay{workers}.py:relay"]
    words += ["--args", '{"pieces":3,"size":9000000,"turns":1}']
    shop, before = Shop(tmp_path, capsys), on_nodes()
    serial = shop.weft(*words, "--out", "serial", "--backend", "serial", "-q")
    assert serial.code == 0, serial.err
    result = shop.weft(*words, "--out", "ray", *on_ray, "--workers", str(workers), "-q")
    assert (result.code, result.err) == (0, "")
    assert ledger(tmp_path / "ray") == ledger(tmp_path / "serial")
    assert nodes_used(tmp_path / "ray") <= set(GPUS)
    assert shop.weft("verify", "ray").code == 0
    printed = [path.read_text() for path in sorted((tmp_path / "ray" / "logs").glob("*/*.log"))]
    assert on_nodes() == before
    assert printed == ["turned 9000000 bytes\n"] * 3


def test_jobs_on_26_gpus_give_the_serial_ledger(
    on_ray: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop = Shop(tmp_path, capsys)
    value = '{"job":"\'$1\'"}'
    jobs = [
        {"job_id": f"j{i:02}", "argv": ["sh", "-c", f"echo '{value}'", "x", f"{i}"],
         "timeout_s": 60}
        for i in range(5)
    ]  # fmt: skip
    written = "echo '[1,2]' > result.json; echo seen >&2"
    jobs.append(
        shell("file", f"cd {{out_dir}}; {written}", expected_output="{out_dir}/result.json")
    )
    one_gpu = "case $CUDA_VISIBLE_DEVICES in [0-9]|[0-9][0-9]) echo '[\"one GPU\"]';; esac"
    jobs.append(shell("gpu", one_gpu) | {"gpu": 1})
    jobs.append(shell("fails", "echo why >&2; exit 3"))
    shop.write(jobs)
    serial = shop.run("serial", "--nodes", "nodes.toml", "--simulate-nodes", "--workers", "1", "-q")
    assert serial.code == 4, serial.err
    result = shop.run("ray", *on_ray, "--placement", "static", "-q")
    assert result.code == 4, result.err
    assert nodes_used(tmp_path / "ray") == set(GPUS)
    assert b"one GPU" in shop.results("ray")["gpu"][1]
    assert shop.ledger("ray") == shop.ledger("serial")
    key = next(job.key for job in shop.seen("ray") if job.job_id == "fails")
    assert "why" in shop.weft("explain", "ray", key).out
    assert (tmp_path / "ray" / "logs" / key / "1.log").read_text() == "why\n"


@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_what_a_node_lacks_is_refused_before_the_start(
    on_ray: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    shop = Shop(tmp_path, capsys)
    for job, cause in (
        (shell("a", "true", cwd="no/such/folder"), "no/such/folder does not exist (node "),
        (shell("a", "true", env_from=["WEFT_TRIAL_ABSENT"]), "WEFT_TRIAL_ABSENT of env_from"),
        (shell("a", "true") | {"argv": ["no-such-program"]}, "program no-such-program is not"),
    ):
        shop.write([job])
        result = shop.run("ray", *on_ray, "-q", *more)
        assert (result.code, result.err.count("\n")) == (3, 1), result
        assert cause in result.err
    assert not (tmp_path / "ray").exists()


def test_arc_on_nodes_gives_the_serial_ledger(
    on_ray: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop = Shop(tmp_path, capsys)
    write_tasks(tmp_path / "tasks", TASKS)
    words = ["arc", "solve", "--data", "tasks", *TINY, "-q"]
    serial = shop.weft(*words, "--out", "serial", "--backend", "serial")
    result = shop.weft(*words, "--out", "ray", *on_ray, "--workers", "2")
    assert (result.code, serial.code) == (0, 0), (serial, result)
    assert ledger(tmp_path / "ray") == ledger(tmp_path / "serial")


def test_tree_on_nodes_gives_the_serial_ledger(
    on_ray: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wood = Wood(tmp_path, capsys)
    wood.plant()
    serial = wood.run("serial", "--backend", "serial", "--max-depth", "2")
    result = wood.run("ray", *on_ray, "--max-depth", "2")
    assert (result.code, serial.code) == (0, 0), (serial, result)
    assert wood.ledger("ray") == wood.ledger("serial")
    assert len(nodes_used(tmp_path / "ray")) > 1


def test_prng_analyse_on_nodes_gives_the_serial_ledger(
    on_ray: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop = Shop(tmp_path, capsys)
    words = ["prng", "analyse", str(JAVA), "--families", "java", "--outputs", "bounded"]
    words += ["--skips", "100:200", "-q"]
    serial = shop.weft(*words, "--out", "serial", "--backend", "serial")
    result = shop.weft(*words, "--out", "ray", *on_ray, "--workers", "2")
    assert (result.code, serial.code) == (0, 0), (serial, result)
    assert ledger(tmp_path / "ray") == ledger(tmp_path / "serial")


@pytest.mark.slow
def test_prng_pipeline_on_nodes_gives_the_serial_ledger(
    on_ray: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop = Shop(tmp_path, capsys)
    write(planted(seeds=1200), tmp_path / "draws.csv")
    words = ["prng", "pipeline", "draws.csv", *SMALL]
    serial = shop.weft(*words, "--out", "serial", "--backend", "serial")
    result = shop.weft(*words, "--out", "ray", *on_ray, "--workers", "4")
    assert (result.code, serial.code) == (0, 0), (serial, result)
    assert ledger(tmp_path / "ray") == ledger(tmp_path / "serial")
