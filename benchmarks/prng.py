"""Measure `weft prng`: what one core searches per second, and what a second worker adds.

    python -m benchmarks prng

Attacks run in this process on histories of known origin, and must recover it; kernels are compiled
beforehand. Each figure is the median of its turns. GPU figures are measured elsewhere and kept on
the page.
"""

from __future__ import annotations

import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.prngrivals import with_section
from weft.searches.prng.attack import Attack, AttackPlan, Case, Units
from weft.searches.prng.attacks import attack_named
from weft.searches.prng.attacks.brute_sieves import sieve_of
from weft.searches.prng.attacks.sieving import Target
from weft.searches.prng.families import family_named
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis, Skips

PAGES = Path(__file__).parents[1] / "docs" / "benchmarks"
HISTORIES = Path(__file__).parents[1] / "tests" / "searches" / "prng" / "histories"
WEFT = [sys.executable, "-m", "weft.main", "prng", "analyse"]
TURNS = 3
RANGE = 1 << 25


def main() -> None:
    before = {}
    if (PAGES / "prng.json").is_file():
        before = json.loads((PAGES / "prng.json").read_text())
    body: dict[str, Any] = {
        "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}",
        "seconds": states(),
        "seeds_per_s": sieves(),
        "workers": two_workers(),
        "gpu": before.get("gpu", {}),
    }
    (PAGES / "prng.json").write_text(json.dumps(body, indent=2, sort_keys=True) + "\n")
    page = with_section(render(body), (PAGES / "prng.md").read_text())
    (PAGES / "prng.md").write_text(page)
    print(page)


def median_s(run: Callable[[], object]) -> float:
    """Return the median CPU seconds of a call in this process, which has a single thread."""
    run()  # compiles
    seconds = []
    for _ in range(TURNS):
        start_s = time.process_time()
        run()
        seconds.append(time.process_time() - start_s)
    return statistics.median(seconds)


def states() -> dict[str, float]:
    """Return the seconds of whole attacks on all states, each of which must find the truth."""
    java = Case(history("java"), 1000)
    odd = case_of(Hypothesis("java", "bounded", 999, seed=77, skips=Skips.constant(137)), 120)
    twister = Case(generate_mt(6900), 1000, skips=(0, 0), corrupt_percent=0)
    return {
        "lanes": whole("lanes", java, "java", "bounded", first_window=True),
        "lattice": whole("lattice", java, "java", "bounded"),
        "lattice_odd": whole("lattice", odd, "java", "bounded"),
        "twister": whole("twister-state", twister, "mt19937", "mod"),
    }


def history(name: str) -> tuple[int, ...]:
    rows = (HISTORIES / f"{name}.csv").read_text().split()[1:]
    return tuple(int(row) for row in rows)


def case_of(truth: Hypothesis, count: int) -> Case:
    return Case(tuple(generate(truth, count)), truth.modulus)


def generate_mt(count: int) -> tuple[int, ...]:
    truth = Hypothesis("mt19937", "mod", 1000, seed=0xC0FFEE, start=5000)
    return tuple(generate(truth, count))


def whole(name: str, case: Case, family: str, output: str, *, first_window: bool = False) -> float:
    """Time a whole plan; `first_window` leaves out the second window, which is a fallback."""
    attack: Attack = attack_named(name)
    plans = [plan for plan in attack.plan(case) if isinstance(plan, AttackPlan)]
    (plan,) = [plan for plan in plans if (plan.family, plan.output) == (family, output)]
    units = plan.units // 2 if first_window else plan.units

    def run() -> None:
        assert attack.run(case, plan, Units(0, units)), f"{name} missed the truth"

    return median_s(run)


def sieves() -> dict[str, float]:
    """Return seeds per second: with exit at the first miss, and with 11 of 15 misses allowed."""
    rates = {}
    for family, output, modulus in (
        ("java", "bounded", 1000), ("mt19937", "mod", 1000), ("php_mt", "mod", 1000),
        ("glibc", "mod", 100), ("xorshift64", "mod", 1000),
    ):  # fmt: skip
        draws = tuple(generate(Hypothesis(family, output, modulus, seed=4711), 15))
        for name, enough in (("first_miss", 15), ("noise", 4)):
            rates[f"{family}_{name}"] = sieve_rate(family, output, draws, modulus, enough)
    return rates


def sieve_rate(
    family: str, output: str, draws: tuple[int, ...], modulus: int, enough: int
) -> float:
    kind = family_named(family)
    sieve = sieve_of(kind, output, modulus)
    assert sieve is not None
    run = sieve.make([(kind, output)], Target(draws, modulus, 0, 0, enough))
    seeds = RANGE if sieve.speed > 10_000 else RANGE >> 4

    def look() -> None:
        assert 4711 in run(0, seeds), f"{family} missed the truth"

    return seeds / median_s(look)


def two_workers() -> dict[str, Any]:
    """Analyse a history without a generator, alternately with one and two workers."""
    seconds: dict[int, list[float]] = {1: [], 2: []}
    heads = set()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        draws = Path(folder) / "draws.csv"
        source = random.Random("no generator")
        draws.write_text("".join(f"{source.randrange(1000)}\n" for _ in range(120)))
        options = ["--families", "glibc", "--outputs", "mod", "--skips", "0", "--starts", "0"]
        options += ["--corrupt", "0", "--effort", "all", "--device", "cpu", "-q"]
        for turn in range(-1, TURNS):  # the first one compiles
            for workers in (1, 2) if turn % 2 == 0 else (2, 1):
                out = Path(folder) / f"{turn}-{workers}"
                argv = [*WEFT, str(draws), *options, "--workers", str(workers), "--out", str(out)]
                start_s = time.perf_counter()
                result = subprocess.run(argv, check=False, stdout=subprocess.DEVNULL)
                assert result.returncode == 1, "a signal was found in noise"
                if turn >= 0:
                    seconds[workers].append(time.perf_counter() - start_s)
                heads.add((out / "checkpoint").read_text())
    assert len(heads) == 1, "the ledgers differ"
    ratios = [a / b for a, b in zip(seconds[1], seconds[2], strict=True)]
    return {"seconds": seconds, "speed_up": statistics.median(ratios)}


def render(body: dict[str, Any]) -> str:
    seconds, rates = body["seconds"], body["seeds_per_s"]

    def rate(name: str) -> str:
        return f"{rates[name] / 1e6:,.1f} M/s"

    gpu = "".join(f"| {name} | {value} | |\n" for name, value in sorted(body["gpu"].items()))
    return f"""\
# weft prng: speed and recovery

`python -m benchmarks prng` on {body["machine"]}; CPU seconds of one core unless noted,
medians of {TURNS} repeats, kernels compiled beforehand. Every attack recovered the planted
generator each time. The history of java.util.Random comes from a JDK: skip 137, start 1000, 5 % of
the rows corrupt.

| whole attack | measured | target |
|---|---|---|
| Java nextInt(1000), all 2^48 states × 501 skips, by lanes | {seconds["lanes"]:.2f} s | 10 s |
| the same by lattice | {seconds["lattice"]:.2f} s | 10 s |
| Java nextInt(999), all 2^48 states × 501 skips, by lattice | {seconds["lattice_odd"]:.2f} s | |
| MT19937, any state from 6,900 draws mod 1000 | {seconds["twister"]:.2f} s | 10 s |

| seeds per second | exit at the first miss | 11 wrong of 15 draws tolerated | target |
|---|---|---|---|
| java.util.Random | {rate("java_first_miss")} | {rate("java_noise")} | 300 M/s |
| MT19937 | {rate("mt19937_first_miss")} | {rate("mt19937_noise")} | 36 M/s |
| PHP mt_rand | {rate("php_mt_first_miss")} | {rate("php_mt_noise")} | 36 M/s (php_mt_seed) |
| glibc rand() | {rate("glibc_first_miss")} | {rate("glibc_noise")} | |
| xorshift64, as defined | {rate("xorshift64_first_miss")} | {rate("xorshift64_noise")} | |

| other | measured | target |
|---|---|---|
| no signal in 120 draws among all 2^32 seeds of glibc, speed-up from 1 to 2 workers, whole runs | \
{body["workers"]["speed_up"]:.2f} × | 1.85 × |
{gpu}
The ledgers of the compared runs were identical.
"""


if __name__ == "__main__":
    main()
