"""Measure the sieves of `weft prng` on a GPU, compared with the same sieves on one core.

    python -m benchmarks gpu                 writes docs/benchmarks/prng-gpu.{md,json}
    python -m benchmarks gpu --out FOLDER    writes them there
    python -m benchmarks gpu --commands      only times the whole commands again, a minute

It needs a CUDA GPU and takes about three minutes. Before anything is timed, both devices sieve the
same ranges for every call with a GPU sieve, including shuffles, and must find the same seeds. Then
each sieve runs over all its seeds, and the whole command over all seeds of PHP and CPython, with
draws that no generator produced.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from weft.searches.prng.attack import Case
from weft.searches.prng.attacks.brute_sieves import (
    dotnet_sieve,
    glibc_sieve,
    go_sieve,
    lcg_sieve,
    sieve_of,
)
from weft.searches.prng.attacks.row_sieves import shuffle_target
from weft.searches.prng.attacks.sieving import Target
from weft.searches.prng.attacks.twister_sieves import twister_sieve
from weft.searches.prng.families import FAMILIES, SINGLE, family_named
from weft.searches.prng.family import Family
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis, Skips
from weft.searches.prng.kernels import cuda
from weft.searches.prng.search import VERSION

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks"
TURNS = 3
SEED = 2_114_592_653
CORE_SEEDS = 1 << 23
CASES = (
    ("php_mt", "bounded", 32), ("php_mt", "mod", 32), ("php_mt_legacy", "bounded", 32),
    ("php_mt_52", "bounded", 32), ("mt19937", "bounded", 32), ("mt19937", "masked", 32),
    ("mt19937", "mod", 32), ("cpython", "bounded", 32), ("cpython", "scaled", 32),
    ("dotnet", "bounded", 31), ("go", "bounded", 31), ("glibc", "mod", 32),
    ("java", "bounded", 40),
)  # fmt: skip
"""Family, output map, bits of the range that is timed."""
ON_GPU = (twister_sieve, go_sieve, dotnet_sieve, glibc_sieve, lcg_sieve)
"""The sieves that have a twin on a GPU; rows, MT19937-64 and compiled seedings have none."""
CALLS = {
    ("php_mt", "bounded"): "PHP ≥ 7.1 `mt_rand(0, 999)`",
    ("php_mt", "mod"): "PHP ≥ 7.1 `mt_rand() % 1000`",
    ("php_mt_legacy", "bounded"): "PHP 5.2.1–7.0 `mt_rand(0, 999)`",
    ("php_mt_52", "bounded"): "PHP ≤ 5.2.0 `mt_rand(0, 999)`",
    ("mt19937", "bounded"): "C++ `uniform_int_distribution`",
    ("mt19937", "masked"): "Ruby `rand(1000)`, NumPy `randint(1000)`",
    ("mt19937", "mod"): "C++ `mt19937() % 1000`",
    ("cpython", "bounded"): "CPython `randrange(1000)`",
    ("cpython", "scaled"): "CPython `int(random() * 1000)`",
    ("dotnet", "bounded"): ".NET `Next(1000)`",
    ("go", "bounded"): "Go `Intn(1000)`",
    ("glibc", "mod"): "glibc `rand() % 1000`",
    ("java", "bounded"): "Java `nextInt(1000)`",
}
WHOLE = (("php_mt", "bounded"), ("cpython", "bounded"))


def main(options: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks gpu")
    parser.add_argument("--out", type=Path, default=PAGE)
    parser.add_argument("--commands", action="store_true", help="renew whole commands alone")
    args = parser.parse_args(options or [])
    begin_s = time.perf_counter()
    if not cuda.is_available():
        print("no GPU here: the figures under docs/benchmarks stay as they are")
        return
    name = device_name()
    seconds = {"cupy_and_context": time.perf_counter() - begin_s}
    body = json.loads((PAGE / "prng-gpu.json").read_text()) if args.commands else sieved()
    seconds |= {f"{family}.{output}": whole(family, output) for family, output in WHOLE}
    body |= {"device": name, "date": time.strftime("%Y-%m-%d"), "seconds": seconds}
    if args.commands:
        body["note"] = (
            "The sieves were measured earlier, beside other searches on the same cores and GPU;\n"
            f"the commands with version {VERSION} of the search, with nothing else running."
        )
    (args.out / "prng-gpu.json").write_text(json.dumps(body, indent=1) + "\n")
    (args.out / "prng-gpu.md").write_text(render(body))
    print(render(body))


def sieved() -> dict[str, Any]:
    """Compare both devices on every call, then measure the sieves."""
    compared = compare_all()
    return {"rows": [measure(*case) for case in CASES], "compared": compared}


def compare_all() -> list[str]:
    """Compare both devices on every call that has a sieve on a GPU; return the calls."""
    compared = []
    for family, output in [(single, name) for single in SINGLE for name in single.outputs]:
        sieve = sieve_of(family, output, 1000)
        if sieve is not None and sieve.make in ON_GPU:
            for wrong in (0, 2):
                compare(family.name, output, target_of(family.name, output, SEED, wrong))
            compared.append(f"{family.name}.{output}")
    for family in FAMILIES:
        if family.rows is not None and family.rows.calls is not None:
            compare_shuffle(family)
            compared.append(f"{family.name}.shuffle")
    print(f"{len(compared)} calls: the same seeds on both devices", flush=True)
    return compared


def compare_shuffle(family: Family) -> None:
    """Assert that both devices find the seed of a shuffled deck, and nothing else."""
    deck = generate(Hypothesis(family.name, "shuffle", 52, seed=SEED), 52)
    target = shuffle_target(family, Case(tuple(deck), 52), 0, 0)
    sieve = sieve_of(family, "shuffle", 52, is_row_known=True)
    assert sieve is not None
    calls = [(family, "shuffle")]
    both = [sieve.make(calls, replace(target, device=device)) for device in ("cpu", "gpu")]
    core, gpu = (run(SEED - (1 << 20), SEED + (1 << 20)) for run in both)
    assert core == gpu == [SEED], f"{family.name}: {core[:5]} on the core, {gpu[:5]} on the GPU"


def measure(family: str, output: str, bits: int) -> dict[str, Any]:
    """Compare both devices, then time the sieve for eight draws, all of which must match."""
    target = target_of(family, output, SEED, wrong=0)
    first_s, gpu_run = first_launch(family, output, target)
    again_s, _ = first_launch(family, output, target_of(family, output, SEED + 7, wrong=0))
    for wrong in (0, 2, 6):
        compare(family, output, target_of(family, output, SEED, wrong))
    core = rate(made(family, output, target), SEED, SEED + CORE_SEEDS)
    gpu_s = [timed(gpu_run, 0, 1 << bits) for _ in range(TURNS)]
    row = {
        "family": family, "output": output, "bits": bits, "gpu_s": statistics.median(gpu_s),
        "core": core, "first_launch_s": first_s, "other_history_s": again_s,
    }  # fmt: skip
    print(row, flush=True)
    return row


def first_launch(family: str, output: str, target: Target) -> tuple[float, Any]:
    """Return the seconds that a sieve takes to compile and run once, and the sieve."""
    begin_s = time.perf_counter()
    run = made(family, output, replace(target, device="gpu"))
    run(0, 1 << 16)
    return time.perf_counter() - begin_s, run


def target_of(family: str, output: str, seed: int, wrong: int) -> Target:
    draws = generate(Hypothesis(family, output, 1000, seed=seed, skips=Skips.constant(0)), 8)
    return Target(tuple(draws), 1000, 0, 0, 8 - wrong)


def compare(family: str, output: str, target: Target) -> None:
    """Assert that both devices find the same seeds, and the true one among them."""
    lo, hi = SEED - (1 << 20), SEED + (1 << 20)
    core = made(family, output, target)(lo, hi)
    gpu = made(family, output, replace(target, device="gpu"))(lo, hi)
    assert core == gpu, f"{family}: {core[:5]} on the core, {gpu[:5]} on the GPU"
    assert SEED in gpu


def made(family: str, output: str, target: Target) -> Callable[[int, int], list[int]]:
    kind = family_named(family)
    sieve = sieve_of(kind, output, target.modulus)
    assert sieve is not None
    return sieve.make([(kind, output)], target)


def timed(run: Callable[[int, int], list[int]], lo: int, hi: int) -> float:
    begin_s = time.perf_counter()
    run(lo, hi)
    return time.perf_counter() - begin_s


def rate(run: Callable[[int, int], list[int]], lo: int, hi: int) -> float:
    """Return seeds per second, the median of TURNS turns."""
    return statistics.median((hi - lo) / timed(run, lo, hi) for _ in range(TURNS))


def whole(family: str, output: str) -> dict[str, float]:
    """Return the seconds of the command over all seeds: of the first run, then by worker count.

    The first run compiles the sieve for the GPU.
    """
    source, seconds = random.Random("no generator"), {}
    with tempfile.TemporaryDirectory() as folder:
        draws = Path(folder) / "draws.csv"
        draws.write_text("".join(f"{source.randrange(1000)}\n" for _ in range(120)))
        around = {**os.environ, "XDG_STATE_HOME": folder}
        argv = [sys.executable, "-m", "weft.main", "prng", "analyse", str(draws), "--device", "gpu"]
        argv += ["--families", family, "--outputs", output, "--effort", "all", "-q"]
        argv += ["--skips", "0", "--starts", "0", "--corrupt", "0"]
        for name, workers, turns in (("first", 1, 1), ("1", 1, TURNS), ("4", 4, TURNS)):
            command = [*argv, "--workers", str(workers)]
            seconds[name] = statistics.median(command_s(command, around) for _ in range(turns))
    return seconds


def command_s(argv: list[str], environment: dict[str, str]) -> float:
    """Return the seconds of a command, which must find nothing."""
    begin_s = time.perf_counter()
    result = subprocess.run(argv, check=False, stdout=subprocess.DEVNULL, env=environment)
    assert result.returncode == 1, f"exit code {result.returncode} for noise: {argv}"
    return time.perf_counter() - begin_s


def device_name() -> str:
    import cupy  # noqa: PLC0415 - an extra

    name = cupy.cuda.runtime.getDeviceProperties(0)["name"]
    cupy.zeros(1).get()  # creates the context
    return name.decode() if isinstance(name, bytes) else str(name)


def render(body: dict[str, Any]) -> str:
    rows = "\n".join(
        f"| {CALLS[row['family'], row['output']]} | 2^{row['bits']} | {row['gpu_s']:.2f} s |"
        f" {2 ** row['bits'] / row['gpu_s'] / 1e9:,.1f} | {row['core'] / 1e6:,.0f} |"
        f" {row['first_launch_s']:.2f} s | {row['other_history_s']:.2f} s |"
        for row in body["rows"]
    )
    return f"""\
# Sieves on a GPU

`python -m benchmarks gpu` on one {body["device"]}, {body["date"]}, with CuPy. A sieve tries seeds
against eight draws, all of which must match. Times are medians of {TURNS} repeats, from the call to
the returned seeds. Beforehand, CPU and GPU were checked to find the same seeds in a range, with
none, two and six of the eight draws wrong, and for all
{len(body.get("compared", []))} calls that have a sieve on a GPU
with none and two wrong (shuffles: none). The last columns are the first launch of a program, which
compiles it, and the first launch with another history, which reuses the compiled program.

| call | seeds | all seeds | 10^9 seeds/s | one core, 10^6 seeds/s | first launch | next history |
|---|---|---|---|---|---|---|
{rows}

Targets: PHP and C++ 2 s, CPython 10 s, Java 600 and MT19937 18 · 10^9 seeds per second.

{_whole_command(body["seconds"], body.get("note", ""))}"""


def _whole_command(seconds: dict[str, Any], note: str) -> str:
    """Return the section on the whole command, if it was timed.

    `note` describes special conditions of the measurement.
    """
    if not all(f"{family}.{output}" in seconds for family, output in WHOLE):
        return "The whole command was not timed in this run.\n"
    rows = "\n".join(_command_row(name, seconds[".".join(name)]) for name in WHOLE)
    return f"""\
The whole command over all 2^32 seeds, from start to exit, with draws that no generator produced.
The first run compiles the sieve for the GPU; the others are medians of {TURNS} repeats.

| command | first run, 1 worker | 1 worker | 4 workers |
|---|---|---|---|
{rows}

Of that, importing CuPy and creating the GPU context of one process take\
 {seconds["cupy_and_context"]:.1f} s.{note and f" {note}"}
"""


def _command_row(name: tuple[str, str], seconds: dict[str, float]) -> str:
    family, output = name
    cells = " | ".join(f"{seconds[kind]:.1f} s" for kind in ("first", "1", "4"))
    return f"| `analyse --families {family} --outputs {output} --device gpu` | {cells} |"
