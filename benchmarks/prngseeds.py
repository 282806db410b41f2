"""Compare MT19937 by seed with php_mt_seed, alternating on the same core, in CPU seconds.

    python -m benchmarks prngseeds --php-mt-seed PATH    writes docs/benchmarks/prng-seeds.{md,json}

You build php_mt_seed (https://www.openwall.com/php_mt_seed/) yourself. It is given the first output
of a seed and one thread, and stopped after some of its seeds; its progress and its CPU time are
read twice meanwhile. Each of its seedings serves two versions of PHP.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import time
from pathlib import Path
from typing import IO, Any

from weft.searches.prng.attacks.brute_sieves import sieve_of
from weft.searches.prng.attacks.sieving import Target
from weft.searches.prng.families import family_named
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "prng-seeds"
TURNS = 3
RIVAL_SEEDS = 1 << 26
CASES = (
    ("php_mt", "mod", 1 << 31, "PHP `mt_rand()`", 25),
    ("php_mt", "bounded", 1000, "PHP `mt_rand(0, 999)`", 25),
    ("mt19937", "bounded", 1000, "C++ `uniform_int_distribution`", 25),
    ("mt19937", "masked", 1000, "Ruby `rand(1000)`, NumPy `randint(1000)`", 25),
    ("cpython", "bounded", 1000, "CPython `randrange(1000)`", 23),
    ("cpython", "scaled", 1000, "CPython `int(random() * 1000)`", 23),
    ("php_mt_52", "bounded", 1000, "PHP ≤ 5.2.0 `mt_rand(0, 999)`", 27),
    ("dotnet", "bounded", 1000, ".NET `Next(1000)`", 25),
)
"""Family, output map, modulus, the call, bits of the range."""


def main(options: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks prngseeds")
    parser.add_argument("--php-mt-seed", type=Path, help="the program, if it is there")
    rival = parser.parse_args(options or []).php_mt_seed
    runs = [sieve(*case[:3]) for case in CASES]
    ours: list[list[float]] = [[] for _ in CASES]
    theirs: list[float] = []
    for _ in range(TURNS):  # alternating: other load on the machine varies with time
        for number, (run, case) in enumerate(zip(runs, CASES, strict=True)):
            ours[number].append(cpu_rate(run, 1 << case[4]))
        if rival is not None:
            theirs.append(rival_rate(rival))
    body = {
        "date": time.strftime("%Y-%m-%d"),
        "cpu": cpu_name(),
        "rows": [
            {"call": case[3], "family": case[0], "rates": rates}
            for case, rates in zip(CASES, ours, strict=True)
        ],
        "php_mt_seed": theirs,
    }
    PAGE.with_suffix(".json").write_text(json.dumps(body, indent=1) + "\n")
    PAGE.with_suffix(".md").write_text(render(body))
    print(render(body))


def sieve(family: str, output: str, modulus: int) -> Any:
    """Return a sieve for fifteen draws of a seed that is outside the timed range."""
    kind = family_named(family)
    draws = generate(Hypothesis(family, output, modulus, seed=(1 << 31) - 5), 15)
    kind_sieve = sieve_of(kind, output, modulus)
    assert kind_sieve is not None
    run = kind_sieve.make([(kind, output)], Target(tuple(draws), modulus, 0, 0, 15))
    assert (1 << 31) - 5 in run((1 << 31) - 1000, 1 << 31), f"{family} missed the truth"
    return run


def cpu_rate(run: Any, seeds: int) -> float:
    """Return seeds per CPU second of this process, which has one thread."""
    begin_s = time.process_time()
    assert not run(0, seeds)
    return seeds / (time.process_time() - begin_s)


def rival_rate(program: Path) -> float:
    """Return the seeds per CPU second of php_mt_seed, each for two versions of PHP."""
    (output,) = generate(Hypothesis("php_mt", "mod", 1 << 31, seed=(1 << 31) - 5), 1)
    around = {**os.environ, "OMP_NUM_THREADS": "1"}
    argv = [str(program), str(output)]
    with subprocess.Popen(
        argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=around
    ) as process:
        assert process.stderr is not None
        first, first_s = progress(process, process.stderr, least=1)
        last, last_s = progress(process, process.stderr, least=first + RIVAL_SEEDS)
        process.terminate()
    return (last - first) / (last_s - first_s)


def progress(process: subprocess.Popen[str], stream: IO[str], least: int) -> tuple[int, float]:
    """Read until seeds from `least` on are tried; return the current seed and the CPU time."""
    text, modern = "", least > 1
    while True:
        text += stream.read(1)
        modern |= "Version: 5.2.1+" in text
        tried = re.search(r"trying 0x([0-9a-f]{8}) - ", text)
        if tried:
            at, text = int(tried[1], 16), ""
            if modern and at >= least:
                fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
                return at, int(fields[11]) / os.sysconf("SC_CLK_TCK")


def cpu_name() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next(line.split(": ")[1] for line in lines if line.startswith("model name"))


def render(body: dict[str, Any]) -> str:
    rows = "\n".join(f"| {row['call']} | {line(row['rates'])} |" for row in body["rows"])
    theirs = body["php_mt_seed"]
    if theirs:
        rows += f"\n| php_mt_seed 4.0, `mt_rand()` of PHP 5.2.1–7.0 and ≥ 7.1 | {line(theirs)} |"
        pairs = zip(body["rows"][0]["rates"], theirs, strict=True)
        ratio = statistics.median(a / b for a, b in pairs)
        compared = (
            "Compared with php_mt_seed within each repeat, `mt_rand()` reaches"
            f" {ratio:.2f} × its seeds per second."
        )
    else:
        compared = "php_mt_seed was not measured."
    return f"""\
# Seeds per second of one core

`python -m benchmarks prngseeds --php-mt-seed PATH`, {body["date"]}, on {body["cpu"]} with other
load on both cores. CPU time, medians of {TURNS} interleaved repeats (minimum and maximum in
brackets). Fifteen draws, all of which must match.

| call | 10^6 seeds per CPU second | 2^32 seeds, CPU seconds |
|---|---|---|
{rows}

{compared}
php_mt_seed tests one seeding for two versions of PHP, Weft for the one version that is named: for
both versions together php_mt_seed is faster by a factor of two.

The lower bound follows from the arithmetic. init_genrand takes 396 steps of four vector operations
(shift, xor, multiply, add) to the first output, 1,584 for eight seeds in AVX2: a core that issues
four per cycle needs at least 49.5 cycles per seed. init_by_array takes 1,247 steps of five
operations, of which `random()` needs 1,022 before the first test: 160 to 195 cycles per seed.
"""


def line(rates: list[float]) -> str:
    millions = sorted(rate / 1e6 for rate in rates)
    middle = statistics.median(millions)
    spread = f"{middle:.1f} ({millions[0]:.1f}–{millions[-1]:.1f})"
    return f"{spread} | {(1 << 32) / middle / 1e6:.0f}"
