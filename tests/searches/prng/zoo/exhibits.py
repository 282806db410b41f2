"""The zoo: calls of real runtimes, each with the generator that Weft should find.

A `ZooEntry` names the runtime of a program beside this file, the call it makes, the modulus, and
the family and output map that are searched. `make_draws` builds the program once and runs it with
a seed.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from pathlib import Path

from weft.searches.prng.options import EFFORTS_MS
from weft.searches.prng.request import AnalyseRequest
from weft.searches.prng.rowmaps import is_row_map, rank_of

HERE = Path(__file__).parent
NEXT = 50
WORDS = 1 << 32
RUNTIMES: dict[str, list[str]] = {
    "php": ["php", "draws.php"],
    "python": [sys.executable, "draws.py"],
    "ruby": ["ruby", "draws.rb"],
    "lua5.3": ["lua5.3", "draws.lua"],
    "lua5.4": ["lua5.4", "draws.lua"],
    "node": ["node", "draws.js"],
    "go": ["go", "build", "-o", "{made}", "draws.go"],
    "java": ["javac", "-d", "{made}", "Draws.java"],
    "mono": ["mcs", "-out:{made}", "draws.cs"],
    "g++": ["g++", "-O1", "-o", "{made}", "draws.cpp"],
    "libc++": ["clang++", "-stdlib=libc++", "-O1", "-o", "{made}", "draws.cpp"],
    "glibc": ["gcc", "-O1", "-w", "-o", "{made}", "draws.c"],
    "musl": ["musl-gcc", "-O1", "-w", "-o", "{made}", "draws.c"],
}
"""The command that runs the program of a runtime or, where it contains `{made}`, builds it."""
STARTED = {"java": ["java", "-cp", "{made}", "Draws"], "mono": ["mono", "{made}"]}


@dataclass(frozen=True, slots=True)
class ZooEntry:
    """One call of one runtime; `covered_by` is its family and output map."""

    runtime: str
    call: str
    modulus: int
    covered_by: tuple[str, str]
    skips: tuple[int, int] = (0, 0)
    is_seeded: bool = True
    draws: int = 0
    row: int = 0
    """The number of elements of a row if sorted rows are draws, else 0."""

    @property
    def name(self) -> str:
        """The name in tests."""
        return f"{self.runtime} {self.call} m={self.modulus}"

    @property
    def count(self) -> int:
        """The number of draws to analyse: more if each carries less information."""
        return self.draws or (240 if self.modulus < 20 else 120)

    @property
    def row_maps(self) -> tuple[str, ...]:
        """The output map, if it generates rows."""
        return tuple(name for name in self.covered_by[1:] if is_row_map(name))

    @property
    def searched_modulus(self) -> int:
        """The modulus of the draws to analyse; for sorted rows, the number of possible rows."""
        return comb(self.modulus, self.row) if self.row else self.modulus


def _calls(
    runtime: str, family: str, output: str, *calls: str, moduli: tuple[int, ...]
) -> list[ZooEntry]:
    return [ZooEntry(runtime, call, m, (family, output)) for call in calls for m in moduli]


FEW, MANY = (1000,), (6, 49, 1000)
ENTRIES: tuple[ZooEntry, ...] = (
    *_calls("php", "php_mt", "bounded", "mt_rand(a,b)", "rand(a,b)", moduli=MANY),
    *_calls("php", "php_mt", "mod", "mt_rand()%m", "rand()%m", moduli=FEW),
    *_calls("php", "php_mt_legacy", "bounded", "legacy mt_rand(a,b)", moduli=MANY),
    *_calls("php", "php_mt_legacy", "mod", "legacy mt_rand()%m", moduli=FEW),
    *_calls("python", "cpython", "bounded", "randrange(m)", "randint(a,b)", moduli=(49, 1000)),
    *_calls("python", "cpython", "bounded", "choice", moduli=(62,)),
    *_calls("python", "cpython", "scaled", "random()*m", moduli=FEW),
    *_calls("python", "cpython", "raw", "getrandbits(32)", moduli=(WORDS,)),
    *_calls("python", "mt19937", "masked", "RandomState.randint", moduli=MANY),
    *_calls("python", "mt19937", "scaled", "RandomState.rand", moduli=FEW),
    *_calls("python", "numpy_pcg64", "bounded", "default_rng.integers", moduli=MANY),
    *_calls("python", "numpy_pcg64", "scaled", "default_rng.random", moduli=FEW),
    *_calls("ruby", "mt19937", "masked", "rand(m)", "rand(a..b)", "Random.new", moduli=(6, 1000)),
    *_calls("ruby", "mt19937", "scaled", "rand*m", moduli=FEW),
    *_calls("lua5.3", "lua53", "scaled", "random(m)", "random(a,b)", "random()*m", moduli=FEW),
    *_calls("lua5.4", "lua54", "bounded", "random(m)", "random(a,b)", moduli=(6, 1000)),
    *_calls("lua5.4", "lua54", "scaled", "random()*m", moduli=FEW),
    *_calls("go", "go", "bounded", "Intn", "Int31n", moduli=(6, 1000)),
    *_calls("go", "go", "scaled", "Float64", moduli=FEW),
    *_calls("java", "java", "bounded", "nextInt(m)", moduli=MANY),
    *_calls("java", "java", "mod", "floorMod(nextInt(),m)", moduli=FEW),
    *_calls("java", "java", "abs", "abs(nextInt())%m", moduli=FEW),
    *_calls("java", "java", "long", "floorMod(nextLong(),m)", moduli=FEW),
    *_calls("java", "java", "abslong", "abs(nextLong()%m)", moduli=FEW),
    *_calls("java", "java", "scaled", "nextDouble()*m", moduli=FEW),
    *_calls("java", "java", "raw", "nextInt()", moduli=(WORDS,)),
    ZooEntry("java", "skipping nextInt(m)", 1000, ("java", "bounded"), skips=(0, 10)),
    *_calls("java", "java_splittable", "bounded", "SplittableRandom.nextInt(m)", moduli=MANY),
    *_calls("java", "java_splittable", "scaled", "SplittableRandom.nextDouble()*m", moduli=FEW),
    ZooEntry("node", "Math.random", 1000, ("v8", "scaled"), is_seeded=False, draws=200),
    ZooEntry("node", "Math.random", 52, ("v8", "scaled"), is_seeded=False, draws=300),
    *_calls(
        "mono", "dotnet", "bounded", "Next(m)", "Next(a,b)", "NextDouble()*m", moduli=(6, 1000)
    ),
    *_calls("g++", "mt19937", "raw", "mt19937", moduli=(WORDS,)),
    *_calls("g++", "mt19937", "mod", "mt19937%m", moduli=FEW),
    *_calls("g++", "mt19937", "bounded", "uniform mt19937", moduli=MANY),
    *_calls("g++", "minstd", "mod", "minstd%m", moduli=FEW),
    *_calls("g++", "minstd", "bounded", "uniform minstd", moduli=FEW),
    *_calls("g++", "minstd0", "bounded", "uniform minstd0", moduli=FEW),
    *_calls("libc++", "mt19937", "masked", "uniform mt19937", moduli=MANY),
    *_calls("glibc", "glibc", "mod", "rand()%m", "random()%m", moduli=(6, 1000)),
    *_calls("glibc", "glibc", "scaled", "rand()*m", moduli=FEW),
    *_calls("glibc", "glibc_rand_r", "mod", "rand_r()%m", moduli=FEW),
    *_calls("glibc", "drand48", "scaled", "drand48()*m", moduli=FEW),
    *_calls("glibc", "drand48", "mod", "lrand48()%m", moduli=FEW),
    *_calls("glibc", "glibc_type0", "mod", "initstate 8", moduli=FEW),
    *_calls("glibc", "glibc_type1", "mod", "initstate 32", moduli=FEW),
    *_calls("glibc", "glibc_type2", "mod", "initstate 64", moduli=FEW),
    *_calls("g++", "mt19937_64", "mod", "mt19937_64%m", moduli=FEW),
    *_calls("g++", "mt19937_64", "bounded", "uniform mt19937_64", moduli=(49, 1000)),
    *_calls("libc++", "mt19937_64", "masked", "uniform mt19937_64", moduli=(49, 1000)),
    *_calls("php", "php_rows", "shuffle", "shuffle", "str_shuffle", moduli=(52,)),
    *_calls("php", "php_legacy_rows", "shuffle", "legacy shuffle", moduli=(52,)),
    ZooEntry("php", "array_rand 6", 49, ("php_rows", "sorted_distinct6"), row=6, draws=30),
    *_calls("python", "cpython_rows", "shuffle", "shuffle", moduli=(52,)),
    *_calls("python", "cpython_rows", "sample6", "sample 6", moduli=(49,)),
    ZooEntry("python", "sorted sample 6", 49, ("cpython_rows", "sorted_sample6"), row=6, draws=30),
    *_calls("python", "mt19937_rows", "shuffle", "RandomState.permutation", moduli=(52,)),
    *_calls("python", "mt19937_rows", "deal6", "RandomState.choice 6", moduli=(49,)),
    *_calls("ruby", "mt19937_rows", "shuffle", "shuffle", moduli=(52,)),
    *_calls("ruby", "mt19937_rows", "sample6", "sample 6", moduli=(49,)),
    *_calls("java", "java_rows", "shuffle", "Collections.shuffle", moduli=(52,)),
    *_calls("go", "go_rows", "shuffle", "Shuffle", moduli=(52,)),
    *_calls("go", "go_perm_rows", "shuffle", "Perm", moduli=(52,)),
    *_calls("g++", "cxx_rows", "shuffle", "shuffle", moduli=(52, 49)),
    *_calls("libc++", "libcxx_rows", "shuffle", "shuffle", moduli=(52,)),
    *_calls("mono", "dotnet_rows", "shuffle", "shuffle", moduli=(52,)),
    *_calls("mono", "dotnet8_rows", "shuffle", "forward shuffle", moduli=(52,)),
    *_calls("musl", "musl", "mod", "rand()%m", moduli=(6, 1000)),
    *_calls("musl", "musl", "scaled", "rand()*m", moduli=FEW),
)


@lru_cache(maxsize=32)
def _command(runtime: str, folder: Path) -> tuple[str, ...]:
    """Return the command that starts a program, which is built first if its language needs that."""
    binary = folder / f"draws-{runtime}"
    words = [word.format(made=binary) for word in RUNTIMES[runtime]]
    if str(binary) not in " ".join(words):
        return (words[0], str(HERE / words[1]))
    subprocess.run(words, cwd=HERE, check=True, capture_output=True)
    return tuple(word.format(made=binary) for word in STARTED.get(runtime, ["{made}"]))


def make_draws(entry: ZooEntry, seed: int, folder: Path) -> tuple[tuple[int, ...], list[int]]:
    """Run the real runtime; return the draws of a history and those that follow."""
    count = (entry.count + NEXT) * max(1, entry.row)
    words = [
        *_command(entry.runtime, folder),
        entry.call,
        str(seed),
        str(count),
        str(entry.modulus),
    ]
    result = subprocess.run(words, check=True, capture_output=True, text=True)
    draws = [int(float(line)) for line in result.stdout.split()][:count]
    if entry.row:
        rows = [tuple(draws[at : at + entry.row]) for at in range(0, count, entry.row)]
        draws = [rank_of(row) for row in rows]
    return tuple(draws[: entry.count]), draws[entry.count :]


def named_request(entry: ZooEntry) -> AnalyseRequest:
    """Return the request of `weft prng analyse` with the call named."""
    family, output = entry.covered_by
    return AnalyseRequest(
        entry.searched_modulus, (family,), (output,), entry.skips, (0, 0),
        max_cost_ms=EFFORTS_MS["standard"], row_maps=entry.row_maps,
    )  # fmt: skip
