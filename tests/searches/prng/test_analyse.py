"""`weft prng analyse` end to end: histories of real runtimes, one ledger, no signal."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.searches.prng.conftest import Analyse
from tests.support.commands import COMMAND
from tests.support.forked import ForkServer
from tests.support.waiting import HANG_S, wait_until
from tests.workers.lab import arrival_order, ledger_digest
from weft.coordinator import loop
from weft.model.codec import from_json, to_json
from weft.runs.execution import Execution
from weft.searches.prng.generate import checked_family
from weft.searches.prng.history import History, read_history
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.options import EFFORTS_MS
from weft.searches.prng.planning import TOO_GREAT, StreamPlan, make_plans, waves
from weft.searches.prng.request import AnalyseRequest
from weft.searches.prng.search import NAME
from weft.storage.manifest import Manifest

pytestmark = pytest.mark.xdist_group("prng-runs")
HISTORIES = Path(__file__).parent / "histories"
MODULI: dict[str, int] = json.loads((HISTORIES / "index.json").read_text())
NEAR = {
    "xorshift64": ("--families", "xorshift64", "--outputs", "mod", "--skips", "0:1"),
    "v8": ("--families", "v8", "--outputs", "scaled", "--skips", "0"),
}
"""What `make test` searches; `make chaos` tries all generators. Java is tested below."""
HERE = ("--backend", "serial")
"""For tests of results, not of execution: no worker loads or compiles anything again."""


def weft(*words: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "prng", "analyse", *map(str, words)],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=HANG_S,
    )


def draws_of(name: str) -> list[int]:
    return [int(line) for line in (HISTORIES / f"{name}.csv").read_text().split()[1:]]


def found_in(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)["answer"]
    assert answer["verdict"] == "signal"
    best: dict[str, Any] = answer["found"][0]
    return best


def random_draws(name: str, count: int) -> list[int]:
    """Draws from SHA-256 in counter mode, which no generator of the catalogue makes."""
    blocks = (hashlib.sha256(f"{name} {i}".encode()).digest() for i in range(count))
    return [int.from_bytes(block[:8], "big") % 1000 for block in blocks]


def write(path: Path, draws: list[int]) -> Path:
    path.write_text("".join(f"{draw}\n" for draw in draws))
    return path


# -- histories of real runtimes ------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(NEAR))
def test_history_of_a_real_runtime_is_found_and_predicted(analyse: Analyse, name: str) -> None:
    check_found(name, analyse(HISTORIES / f"{name}.csv", *NEAR[name], "--json", "-q", *HERE))


def check_found(name: str, done: subprocess.CompletedProcess[str]) -> None:
    later = [int(line) for line in (HISTORIES / f"{name}.next.csv").read_text().split()[1:]]
    best = found_in(done)
    assert best["hypothesis"]["family"] == name
    assert min(best["score"]["evidence"], best["score"]["held_evidence"]) >= 9000
    assert best["next"] == later


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MODULI))
def test_history_of_a_real_runtime_is_found_among_all_generators(name: str) -> None:
    later = [int(line) for line in (HISTORIES / f"{name}.next.csv").read_text().split()[1:]]
    words = [*COMMAND, "prng", "analyse", str(HISTORIES / f"{name}.csv")]
    words += ["--modulus", str(MODULI[name]), "--json", "-q", "--workers", "2"]
    best = found_in(subprocess.run(words, capture_output=True, text=True))
    assert best["hypothesis"]["family"].startswith(name)
    assert best["next"] == later


# -- one ledger however it is run ----------------------------------------------------------------

SKIPS = (130, 140)
SMALL = ("--families", "java", "--outputs", "bounded", "--skips", "130:140", "-q")


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory, prng_forks: ForkServer) -> Path:
    """A run on one core whose ledger all others must equal; its output is checked."""
    out = tmp_path_factory.mktemp("prng") / "serial"
    words = ["prng", "analyse", HISTORIES / "java.csv", *SMALL, *HERE, "--json", "--out", out]
    argv = [str(word) for word in words]
    result = prng_forks.run(argv, Path.cwd(), os.environ)
    check_found("java", subprocess.CompletedProcess(argv, *result))
    return out


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2", "8"])
def test_any_workers_give_the_same_ledger(reference: Path, tmp_path: Path, workers: str) -> None:
    words = (HISTORIES / "java.csv", *SMALL, "--workers", workers, "--out", tmp_path / "run")
    assert weft(*words, PYTHONHASHSEED="12345").returncode == 0
    assert ledger_digest(tmp_path / "run") == ledger_digest(reference)


def test_analysis_of_two_workers_killed_goes_on_with_eight_to_the_same_ledger(
    reference: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    words = [*COMMAND, "prng", "analyse", str(HISTORIES / "java.csv"), *SMALL, "--out", str(out)]
    running = subprocess.Popen(
        [*words, "--workers", "2"],
        env={**os.environ, "PYTHONHASHSEED": "0"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    ledger = out / "ledger.jsonl"
    wait_until(lambda: ledger.is_file() and ledger.read_bytes().count(b"\n") > 2, "records")
    running.send_signal(signal.SIGKILL)
    running.wait()
    before = ledger.read_bytes()
    words = (HISTORIES / "java.csv", *SMALL, "--workers", "8", "--out", out)
    assert weft(*words, PYTHONHASHSEED="1").returncode == 0
    assert ledger.read_bytes().startswith(before)
    assert ledger_digest(out) == ledger_digest(reference)
    runs = [out]
    while arrival_order(runs[-1]) == arrival_order(reference):  # four tasks may arrive in order
        assert len(runs) < 6, "results of eight workers always arrive in the order of the tasks"
        runs.append(tmp_path / f"again{len(runs)}")
        words = (HISTORIES / "java.csv", *SMALL, "--workers", "8", "--out", runs[-1])
        assert weft(*words).returncode == 0
        assert ledger_digest(runs[-1]) == ledger_digest(reference)


def test_recording_in_arrival_order_is_noticed(
    reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tests above can fail: with this planted bug the ledger differs."""
    from weft.searches.prng.run import execute, load_history

    in_task_order = Manifest.recorded

    def in_arrival_order(self: Manifest, first: int, end: int) -> Any:
        sql = "SELECT id, finished_at FROM tasks WHERE id >= ? AND id < ?"
        arrivals = dict(self.query(sql, first, end))
        for rows in in_task_order(self, first, end):
            yield sorted(rows, key=lambda row: -(arrivals[row[0]] or 0))

    monkeypatch.setattr(Manifest, "recorded", in_arrival_order)
    monkeypatch.setattr(loop, "COMMIT_AFTER_S", 60.0)  # whole rounds at once, not result by result
    history, _ = load_history(str(HISTORIES / "java.csv"))
    budget_ms = EFFORTS_MS["standard"]
    request = AnalyseRequest(1000, ("java",), ("bounded",), SKIPS, max_cost_ms=budget_ms)
    execute(history, request, Execution(tmp_path / "planted", workers=2))
    first, other = (genesis(run) for run in (reference, tmp_path / "planted"))
    assert first == other
    assert ledger_digest(tmp_path / "planted") != ledger_digest(reference)


def genesis(run: Path) -> bytes:
    return (run / "ledger.jsonl").read_bytes().splitlines()[0]


# -- no signal -----------------------------------------------------------------------------------

QUICK = ("--effort", "quick", "--skips", "0:2", "--starts", "0:2", "-q")


def test_random_history_has_no_signal_and_says_what_would_have_been_found(
    analyse: Analyse, tmp_path: Path
) -> None:
    path = write(tmp_path / "draws", random_draws("nobody", 60))
    result = analyse(path, *QUICK, "--families", "msvc", "--outputs", "mod", *HERE)
    assert result.returncode == 1
    assert result.stdout.startswith("NO SIGNAL")
    assert "Any of these would have been found" in result.stdout
    assert "all 2^31 states" in result.stdout
    assert "next draws" not in result.stdout.lower()


def test_run_that_stops_for_cost_prints_the_whole_command_that_continues(
    analyse: Analyse, tmp_path: Path
) -> None:
    path = write(tmp_path / "my draws", random_draws("nobody", 60))
    words = ("--families", "vba", "--skips", "0", "--starts", "0", "--corrupt", "0")
    result = analyse(path, *words, "--effort", "quick", "--out", tmp_path / "run", *HERE)
    assert result.returncode == 1
    (line,) = [text for text in result.stderr.splitlines() if "to continue: " in text]
    command = shlex.split(line.partition("to continue: ")[2])
    assert command[:4] == ["weft", "prng", "analyse", str(path)]
    continued = analyse(*command[3:], *HERE)
    assert continued.returncode == 1, continued.stderr
    assert "to continue: " not in continued.stderr
    assert (tmp_path / "run-all" / "ledger.jsonl").exists()


def test_shuffled_real_history_has_no_signal(analyse: Analyse, tmp_path: Path) -> None:
    draws = draws_of("xorshift64")
    order = sorted(range(len(draws)), key=lambda at: hashlib.sha256(str(at).encode()).digest())
    path = write(tmp_path / "draws", [draws[at] for at in order])
    words = ("--families", "xorshift64", "--outputs", "mod", "--corrupt", "0.02")
    result = analyse(path, *QUICK, *words, *HERE)
    assert result.returncode == 1
    assert result.stdout.startswith("NO SIGNAL")


@pytest.mark.slow
def test_two_hundred_histories_of_the_operating_system_have_no_signal(tmp_path: Path) -> None:
    for number in range(200):
        draws = [int.from_bytes(os.urandom(8), "big") % 1000 for _ in range(200)]
        path = write(tmp_path / f"draws{number}", draws)
        result = weft(path, *QUICK, "--workers", "2", "--families", "java,msvc,minstd,xorshift64")
        assert result.returncode == 1, path.read_text()
        assert "would have been found" in result.stdout
    print("200 histories of os.urandom: 200 times no signal")


def test_structure_without_a_generator_is_said_and_is_no_signal(
    analyse: Analyse, tmp_path: Path
) -> None:
    draws = [(7 * i + 3) % 40 * 25 for i in range(400)]
    path = write(tmp_path / "draws", draws)
    words = ("--families", "xorshift64", "--outputs", "mod", "--corrupt", "0")
    result = analyse(path, *QUICK, *words, *HERE)
    assert result.returncode == 1
    assert "NO GENERATOR FOUND" in result.stdout


# -- plans ---------------------------------------------------------------------------------------


def test_ranges_of_all_waves_tile_every_plan() -> None:
    history = read_history((HISTORIES / "java.csv").read_bytes(), "x")
    plans, gaps = make_plans(history, AnalyseRequest(1000, skips=(0, 20), starts=(0, 5)))
    assert gaps
    units = [[] for _ in plans]
    for wave in waves(plans):
        for number, lo, hi in wave:
            units[number] += range(lo, hi)
    for stream_plan, covered in zip(plans, units, strict=True):
        assert covered == list(range(stream_plan.plan.units))
        assert from_json(StreamPlan, to_json(stream_plan)) == stream_plan


@pytest.mark.parametrize("modulus", [2, 2**31 - 1, 2**31, 2**32])
def test_plans_are_of_maps_that_can_have_the_modulus(modulus: int) -> None:
    history = History(tuple(i * 2654435761 % modulus for i in range(60)))
    plans, gaps = make_plans(history, AnalyseRequest(modulus, skips=(0, 1), starts=(0, 1)))
    for plan in plans:
        checked_family(Hypothesis(plan.plan.family, plan.plan.output, modulus, 1))
    assert any(gap.why == TOO_GREAT for gap in gaps) == (modulus >= 2**31)


def test_two_streams_are_looked_at_apart(analyse: Analyse, tmp_path: Path) -> None:
    """Interleaved with noise, the whole history shows nothing; one session alone does."""
    java, noise = draws_of("java"), random_draws("between", 120)
    rows = "".join(f"{a},,noon\n{b},,night\n" for a, b in zip(java, noise, strict=True))
    path = tmp_path / "draws"
    path.write_text(rows)
    result = analyse(path, *SMALL, "--json", *HERE)
    best = found_in(result)
    assert best["stream"] == "noon"


def test_name_of_the_search_is_what_the_ledger_says(reference: Path) -> None:
    first = (reference / "ledger.jsonl").read_text().splitlines()[0]
    assert json.loads(first)["body"]["search"] == NAME
