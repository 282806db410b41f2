"""The sieves of `weft prng` on a GPU, beside the same sieves on one core.

    python -m benchmarks gpu        writes docs/benchmarks/prng-gpu.{md,json}; needs a CUDA GPU

Before anything is timed, both devices sieve the same ranges and must find the same seeds.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from weft.searches.prng.attacks.brute_sieves import Target, sieve_of
from weft.searches.prng.families import family_named
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis, Skips
from weft.searches.prng.kernels import cuda

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks" / "prng-gpu"
TURNS = 5
SEED = 3_141_592_653
CASES = (("java", "bounded", 40), ("mt19937", "mod", 32), ("glibc", "mod", 32))
"""Family, output map, bits of the range that is timed."""


def main() -> None:
    if not cuda.is_available():
        print("no GPU here: the figures under docs/benchmarks stay as they are")
        return
    rows = [measure(*case) for case in CASES]
    body = {"device": device_name(), "date": time.strftime("%Y-%m-%d"), "rows": rows}
    PAGE.with_suffix(".json").write_text(json.dumps(body, indent=1) + "\n")
    PAGE.with_suffix(".md").write_text(render(body))
    print(render(body))


def measure(family: str, output: str, bits: int) -> dict[str, Any]:
    """Time the sieve for eight draws, all of which must be hit, on both devices."""
    target = target_of(family, output, wrong=0)
    compare(family, output, target)
    compare(family, output, target_of(family, output, wrong=6))
    cpu = rate(made(family, output, target), SEED, SEED + (1 << 26))
    gpu_run = made(family, output, replace(target, device="gpu"))
    gpu_run(0, 1 << 20)
    gpu = rate(gpu_run, 0, 1 << bits)
    return {"family": family, "output": output, "seeds": 1 << bits, "gpu": gpu, "core": cpu}


def target_of(family: str, output: str, wrong: int) -> Target:
    draws = generate(Hypothesis(family, output, 1000, seed=SEED, skips=Skips.constant(0)), 8)
    return Target(tuple(draws), 1000, 0, 0, 8 - wrong)


def compare(family: str, output: str, target: Target) -> None:
    lo, hi = SEED - (1 << 22), SEED + (1 << 22)
    core = made(family, output, target)(lo, hi)
    gpu = made(family, output, replace(target, device="gpu"))(lo, hi)
    assert core == gpu, f"{family}: {core[:5]} on the core, {gpu[:5]} on the GPU"
    assert SEED in gpu


def made(family: str, output: str, target: Target) -> Callable[[int, int], list[int]]:
    one = family_named(family)
    sieve = sieve_of(one, output, target.modulus)
    assert sieve is not None
    return sieve.make(one, output, target)


def rate(run: Callable[[int, int], list[int]], lo: int, hi: int) -> float:
    """Seeds per second, the median of some turns."""
    found = []
    for _ in range(TURNS):
        start_s = time.perf_counter()
        run(lo, hi)
        found.append((hi - lo) / (time.perf_counter() - start_s))
    return statistics.median(found)


def device_name() -> str:
    import cupy  # noqa: PLC0415 - an extra

    name = cupy.cuda.runtime.getDeviceProperties(0)["name"]
    return name.decode() if isinstance(name, bytes) else str(name)


def render(body: dict[str, Any]) -> str:
    rows = "\n".join(
        f"| {row['family']}.{row['output']}(1000) | 2^{row['seeds'].bit_length() - 1} |"
        f" {row['gpu'] / 1e9:,.1f} | {row['core'] / 1e6:,.0f} |"
        for row in body["rows"]
    )
    return f"""\
# Sieves on a GPU

`python -m benchmarks gpu` on one {body["device"]}, {body["date"]}, with CuPy. A sieve tries seeds
against eight draws, all of which must be hit; times are from the call to the seeds in hand, medians
of {TURNS} turns. Both devices found the same seeds, also with six wrong of eight draws.

| sieve | seeds | GPU, 10^9 seeds a second | one core, 10^6 seeds a second |
|---|---|---|---|
{rows}

Targets: java 600, mt19937 18 (10^9 seeds a second).
"""


if __name__ == "__main__":
    main()
