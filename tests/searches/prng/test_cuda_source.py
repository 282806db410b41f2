"""The CUDA source for a GPU, compiled for this machine's processor: the same survivors.

A few lines define CUDA's keywords. `python -m benchmarks gpu` compares results on a real GPU.
"""

from __future__ import annotations

import ctypes
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.tools import require_tool
from weft.searches.prng.attack import Case
from weft.searches.prng.attacks.brute_sieves import sieve_of
from weft.searches.prng.attacks.row_sieves import shuffle_target
from weft.searches.prng.attacks.sieving import Target
from weft.searches.prng.families import family_named
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis, Skips
from weft.searches.prng.kernels import cuda
from weft.searches.prng.kernels.cuda_sources import SieveProgram

SEED = 1_234_567
STAND_IN = """
#define __device__
#define __forceinline__ inline
#define __global__
#define __constant__
typedef struct { unsigned x; } dim;
static dim gridDim = {1}, blockDim = {1}, blockIdx = {0}, threadIdx = {0};
static unsigned atomicAdd(unsigned *at, unsigned more) {
    unsigned old = *at;
    *at += more;
    return old;
}
"""


@pytest.fixture
def on_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run sieves for a GPU on this machine's processor."""
    gcc = require_tool("gcc")

    def launch(program: SieveProgram, lo: int, hi: int, out: Any) -> int:
        text = STAND_IN + program.source.replace('extern "C" ', "")
        library = tmp_path / f"{len(list(tmp_path.iterdir()))}.so"
        argv = [gcc, "-x", "c", "-O1", "-shared", "-fPIC", "-o", str(library), "-"]
        subprocess.run(argv, input=text, text=True, check=True)
        loaded = ctypes.CDLL(str(library))
        for name, words in program.constants.items():
            place = (ctypes.c_uint32 * words.size).in_dll(loaded, name)
            place[:] = words.ravel().tolist()
        count = np.zeros(1, np.uint32)
        pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (out, count)]
        most = ctypes.c_uint32(len(out))
        loaded.sieve(ctypes.c_uint64(lo), ctypes.c_uint64(hi), pointers[0], most, pointers[1])
        return int(count[0])

    monkeypatch.setattr(cuda, "launch", launch)


@pytest.mark.usefixtures("on_this_machine")
@pytest.mark.parametrize("enough", [6, 3, 2])
@pytest.mark.parametrize(
    ("family", "output"),
    [
        ("java", "bounded"),
        ("java", "mod"),
        ("drand48", "scaled"),
        ("mt19937", "mod"),
        ("php_mt", "mod"),
        ("php_mt_legacy", "mod"),
        ("php_mt_52", "mod"),
        ("mt19937", "masked"),
        ("mt19937", "scaled"),
        ("cpython", "bounded"),
        ("cpython", "scaled"),
        ("cpython", "mod"),
        ("glibc", "mod"),
        ("go", "bounded"),
        ("dotnet", "bounded"),
        ("dotnet", "mod"),
    ],
)
def test_source_for_a_gpu_finds_what_the_core_finds(family: str, output: str, enough: int) -> None:
    truth = Hypothesis(family, output, 1000, seed=SEED, skips=Skips.constant(3), start=2)
    target = Target(tuple(generate(truth, 6)), 1000, 2, 3, enough)
    kind = family_named(family)
    sieve = sieve_of(kind, output, 1000)
    assert sieve is not None
    hits = [
        sieve.make([(kind, output)], replace(target, device=device))(SEED - 30_000, SEED + 30_000)
        for device in ("cpu", "gpu")
    ]
    assert SEED in hits[0]
    assert hits[0] == hits[1]


@pytest.mark.usefixtures("on_this_machine")
@pytest.mark.parametrize(
    "family", ["php_rows", "cxx_rows", "java_rows", "go_perm_rows", "dotnet8_rows", "glibc_rows"]
)
def test_source_for_a_gpu_finds_the_seed_of_a_shuffle(family: str) -> None:
    """One shuffle for each sieve that a GPU has for calls with separate bounds."""
    kind = family_named(family)
    deck = tuple(generate(Hypothesis(family, "shuffle", 52, seed=SEED), 52))
    sieve = sieve_of(kind, "shuffle", 52, is_row_known=True)
    assert sieve is not None
    target = replace(shuffle_target(kind, Case(deck, 52), 0, 0), device="gpu")
    assert sieve.make([(kind, "shuffle")], target)(SEED - 30_000, SEED + 30_000) == [SEED]
