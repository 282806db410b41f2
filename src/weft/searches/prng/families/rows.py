"""Generators of rows: the shuffles, samples and lottery numbers of common runtimes.

Each is a generator of this package with one of its bounded calls; the methods are in `rowmaps`.
Most shuffle from the last element down. `sample` is Python's random.sample, which takes elements
from a pool or draws again, depending on their number, and Ruby's Array#sample, which takes ranks.
NumPy's choice without replacement is the beginning of a shuffle: `deal`. PHP's array_rand is
`sorted_distinct`, for at most half of the elements.
"""

from __future__ import annotations

from collections.abc import Mapping

from weft.searches.prng.families import cpython, golang, java, mt19937, php
from weft.searches.prng.families.dotnet import FAMILY as DOTNET
from weft.searches.prng.families.glibc import RAND as GLIBC
from weft.searches.prng.families.maps import ceiling_map
from weft.searches.prng.family import (
    OCCASIONAL,
    SELDOM,
    USUAL,
    Api,
    Family,
    RowForm,
    State,
)
from weft.searches.prng.forms import CompiledSeeding, SeedForm
from weft.searches.prng.rowmaps import (
    BY_SIZE,
    EXTRA_WORDS,
    FORWARD,
    INSIDE_OUT,
    PAIRED,
    RANKED,
    RowMaps,
)

TWO32 = 1 << 32
JAVA_PLACE = 1
ZERO = 0


def _rows(
    name: str,
    title: str,
    base: Family,
    form: RowForm,
    kinds: tuple[str, ...],
    apis: Mapping[str, Api],
    seed_form: SeedForm | None = None,
) -> Family:
    """Return a generator of rows that makes its calls with generator `base`."""

    def seeding(seed: int) -> State:
        return [*base.seeding(seed), *[0] * EXTRA_WORDS]

    return Family(
        name=name,
        title=title,
        word_bits=base.word_bits,
        state_words=base.state_words + EXTRA_WORDS,
        state_word_bits=base.state_word_bits,
        seed_bits=base.seed_bits,
        seeding=seeding,
        step=base.step,
        outputs=RowMaps(form.below, base.state_words, form.sample, kinds, form.order),
        rank=base.rank + 1000,
        rows=form,
        seed_form=seed_form or (base.seed_form if form.bits else None),
        apis=apis,
    )


def fill_java(seed: int, state: State) -> None:
    """Fill the state as the seeding does, following the rule for steps."""
    state[0] = (seed ^ java.MULTIPLIER) & java.MASK48
    state[JAVA_PLACE] = ZERO


ALL, BY_HAND = ("shuffle", "distinct", "deal", "sample"), ("shuffle", "distinct", "deal")
PHP = _rows(
    "php_rows",
    "PHP shuffle, str_shuffle and array_rand since 7.1",
    php.MODERN,
    RowForm(ceiling_map(mt19937.step, TWO32), "remainder", calls=(php.MODERN, "bounded")),
    BY_HAND,
    {
        "shuffle": Api("PHP >= 7.1 shuffle(m values)", USUAL, ("PHP >= 7.1 str_shuffle(m bytes)",)),
        "sorted_distinct": Api(
            "PHP >= 7.1 array_rand(n values, k)", USUAL,
            ("PHP >= 7.1 mt_rand(a, b), k different numbers, sorted",),
        ),
        "distinct": Api("PHP >= 7.1 mt_rand(a, b), k different numbers", USUAL),
        "deal": Api("PHP >= 7.1 shuffle, the first k", OCCASIONAL),
        "sorted_deal": Api("PHP >= 7.1 shuffle, the first k, sorted", OCCASIONAL),
    },
)  # fmt: skip
PHP_LEGACY = _rows(
    "php_legacy_rows",
    "PHP shuffle, str_shuffle and array_rand with MT_RAND_PHP",
    php.LEGACY,
    RowForm(ceiling_map(php.step_legacy, TWO32), "remainder", misplaced=True),
    BY_HAND,
    {
        "shuffle": Api("PHP shuffle(m values) after mt_srand(s, MT_RAND_PHP)", SELDOM),
        "sorted_distinct": Api("PHP array_rand after mt_srand(s, MT_RAND_PHP)", SELDOM),
    },
)
CPYTHON = _rows(
    "cpython_rows",
    "CPython random.shuffle and random.sample",
    cpython.FAMILY,
    RowForm(cpython.randrange, "high", BY_SIZE),
    ALL,
    {
        "shuffle": Api("Python random.shuffle(m values)", USUAL),
        "sample": Api("Python random.sample(range(n), k)", USUAL),
        "sorted_sample": Api("Python sorted(random.sample(range(n), k))", USUAL),
        "distinct": Api("Python random.randint(a, b), k different numbers", OCCASIONAL),
        "sorted_distinct": Api("Python random.randint(a, b), k different, sorted", OCCASIONAL),
        "deal": Api("Python random.shuffle, the first k", OCCASIONAL),
        "sorted_deal": Api("Python random.shuffle, the first k, sorted", OCCASIONAL),
    },
)
MASKED = _rows(
    "mt19937_rows",
    "MT19937 shuffles and samples of NumPy's RandomState and of Ruby",
    mt19937.FAMILY,
    RowForm(mt19937.masked, "low", RANKED),
    ALL,
    {
        "shuffle": Api(
            "NumPy RandomState.shuffle(m values)", USUAL,
            ("NumPy RandomState.permutation(m)", "Ruby [m values].shuffle"),
        ),
        "sample": Api("Ruby [n values].sample(k), k up to 10", USUAL),
        "sorted_sample": Api("Ruby [n values].sample(k).sort, k up to 10", USUAL),
        "deal": Api(
            "NumPy RandomState.choice(n, k, replace=False)", USUAL,
            ("Ruby [n values].shuffle.first(k)",),
        ),
        "sorted_deal": Api("NumPy sorted(RandomState.choice(n, k, replace=False))", USUAL),
        "distinct": Api("Ruby rand(n), k different numbers", OCCASIONAL),
        "sorted_distinct": Api("Ruby rand(n), k different numbers, sorted", OCCASIONAL),
    },
)  # fmt: skip
JAVA = _rows(
    "java_rows",
    "Java Collections.shuffle and numbers of nextInt without repeats",
    java.FAMILY,
    RowForm(java.next_int, calls=(java.FAMILY, "bounded")),
    BY_HAND,
    {
        "shuffle": Api("Java Collections.shuffle(m values, random)", USUAL),
        "deal": Api("Java Collections.shuffle, the first k", USUAL),
        "sorted_deal": Api("Java Collections.shuffle, the first k, sorted", OCCASIONAL),
        "distinct": Api("Java nextInt(n), k different numbers", USUAL),
        "sorted_distinct": Api("Java nextInt(n), k different numbers, sorted", USUAL),
    },
    CompiledSeeding(fill_java, seeds_per_ms=4_000),
)
SHARP = _rows(
    "dotnet_rows",
    "C# Random.Next without repeats",
    DOTNET,
    RowForm(DOTNET.outputs["bounded"], calls=(DOTNET, "bounded")),
    BY_HAND,
    {
        "shuffle": Api("C# Fisher-Yates with Random.Next(i + 1)", OCCASIONAL),
        "distinct": Api("C# Random.Next(n), k different numbers", USUAL),
        "sorted_distinct": Api("C# Random.Next(n), k different numbers, sorted", USUAL),
    },
)
RAND = _rows(
    "glibc_rows",
    "C rand() % n of the GNU C library without repeats",
    GLIBC,
    RowForm(GLIBC.outputs["mod"], calls=(GLIBC, "mod")),
    BY_HAND,
    {
        "shuffle": Api("C Fisher-Yates with rand() % (i + 1), glibc", OCCASIONAL),
        "distinct": Api("C rand() % n with glibc, k different numbers", USUAL),
        "sorted_distinct": Api("C rand() % n with glibc, k different numbers, sorted", USUAL),
    },
)
SHARP_8 = _rows(
    "dotnet8_rows",
    ".NET 8 Random.Shuffle",
    DOTNET,
    RowForm(DOTNET.outputs["bounded"], order=FORWARD, calls=(DOTNET, "bounded")),
    ("shuffle",),
    {"shuffle": Api(".NET 8 Random.Shuffle(m values)", USUAL)},
)
GO = _rows(
    "go_rows",
    "Go rand.Shuffle",
    golang.FAMILY,
    RowForm(golang.int31n, calls=(golang.SHUFFLING, "int31n")),
    ("shuffle",),
    {"shuffle": Api("Go rand.Shuffle(m values)", USUAL)},
)
GO_PERM = _rows(
    "go_perm_rows",
    "Go rand.Perm",
    golang.FAMILY,
    RowForm(golang.FAMILY.outputs["bounded"], order=INSIDE_OUT, calls=(golang.FAMILY, "bounded")),
    ("shuffle",),
    {"shuffle": Api("Go rand.Perm(m)", USUAL)},
)
CXX = _rows(
    "cxx_rows",
    "C++ std::shuffle of libstdc++ with mt19937",
    mt19937.FAMILY,
    RowForm(mt19937.multiply_and_reject, order=PAIRED, calls=(mt19937.FAMILY, "bounded")),
    ("shuffle",),
    {"shuffle": Api("C++ std::shuffle(m values, mt19937), libstdc++", USUAL)},
)
LIBCXX = _rows(
    "libcxx_rows",
    "C++ std::shuffle of libc++ with mt19937",
    mt19937.FAMILY,
    RowForm(mt19937.masked, "low", order=FORWARD),
    ("shuffle",),
    {"shuffle": Api("C++ std::shuffle(m values, mt19937), libc++", USUAL)},
)
FAMILIES = (PHP, PHP_LEGACY, CPYTHON, MASKED, JAVA, SHARP, RAND, SHARP_8, GO, GO_PERM, CXX, LIBCXX)
