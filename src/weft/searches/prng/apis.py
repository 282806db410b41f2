"""The library calls behind families and output maps, and how common each is.

Plans try the most common calls first, and reports name calls that were not covered by these
strings. `m` stands for the modulus. An output map that no library offers (such as the high bits of
a word, which a program would have to extract itself) has no entry; it counts as exotic, unless it
is its family's first map.
"""

from __future__ import annotations

from collections.abc import Mapping

from weft.searches.prng.families import FAMILIES, family_named
from weft.searches.prng.family import EVERYDAY, EXOTIC, REFERENCE, SELDOM, USUAL, Api
from weft.searches.prng.rowmaps import generic_name

APIS: Mapping[tuple[str, str], Api] = {
    ("java", "bounded"): Api("Java Random.nextInt(m)", EVERYDAY),
    ("java", "mod"): Api("Java floorMod(Random.nextInt(), m)", USUAL),
    ("java", "abs"): Api("Java Math.abs(Random.nextInt()) % m", USUAL),
    ("java", "long"): Api("Java floorMod(Random.nextLong(), m)", SELDOM),
    ("java", "abslong"): Api("Java Math.abs(Random.nextLong() % m)", SELDOM),
    ("java", "scaled"): Api("Java (int) (Math.random() * m)", EVERYDAY),
    ("java", "raw"): Api("Java Random.nextInt()", USUAL),
    ("mt19937", "mod"): Api("C++ mt19937() % m", USUAL),
    ("mt19937", "bounded"): Api("C++ uniform_int_distribution with mt19937", EVERYDAY),
    ("mt19937", "masked"): Api(
        "NumPy RandomState.randint(m)",
        EVERYDAY,
        ("Ruby rand(m)", "C++ uniform_int_distribution with mt19937 and libc++"),
    ),
    ("mt19937", "scaled"): Api(
        "NumPy int(RandomState.rand() * m)", USUAL, ("Ruby (rand * m).to_i",)
    ),
    ("mt19937", "raw"): Api("C++ mt19937()", USUAL),
    ("php_mt", "bounded"): Api("PHP >= 7.1 mt_rand(a, b)", EVERYDAY, ("PHP >= 7.1 rand(a, b)",)),
    ("php_mt", "mod"): Api("PHP >= 7.1 mt_rand() % m", EVERYDAY, ("PHP >= 7.1 rand() % m",)),
    ("php_mt", "scaled"): Api("PHP (int) (mt_rand() / 2**31 * m)", SELDOM),
    ("php_mt_legacy", "bounded"): Api("PHP 5.2.1 to 7.0 mt_rand(0, m - 1)", USUAL),
    ("php_mt_legacy", "mod"): Api("PHP 5.2.1 to 7.0 mt_rand() % m", SELDOM),
    ("php_mt_52", "bounded"): Api("PHP up to 5.2.0 mt_rand(0, m - 1)", SELDOM, vectors=REFERENCE),
    ("php_mt_52", "mod"): Api("PHP up to 5.2.0 mt_rand() % m", EXOTIC, vectors=REFERENCE),
    ("cpython", "bounded"): Api(
        "Python random.randrange(m)",
        EVERYDAY,
        ("Python random.randint(a, b)", "Python random.choice(m values)"),
    ),
    ("cpython", "scaled"): Api("Python int(random.random() * m)", EVERYDAY),
    ("cpython", "raw"): Api("Python random.getrandbits(32)", USUAL),
    ("glibc", "mod"): Api(
        "C rand() % m with glibc", EVERYDAY, ("PHP up to 7.0 rand() % m on Linux",)
    ),
    ("glibc", "scaled"): Api(
        "C rand() / (RAND_MAX + 1.0) * m with glibc",
        USUAL,
        ("PHP up to 7.0 rand(0, m - 1) on Linux",),
    ),
    ("glibc_rand_r", "mod"): Api("C rand_r() % m with glibc", SELDOM),
    ("drand48", "scaled"): Api(
        "C (int) (drand48() * m)", USUAL, ("PostgreSQL up to 14 floor(random() * m)",)
    ),
    ("drand48", "mod"): Api("C lrand48() % m", SELDOM),
    ("v8", "scaled"): Api("JavaScript Math.floor(Math.random() * m) in Node and Chrome", EVERYDAY),
    ("v8", "scaled53"): Api("JavaScript Math.random() with 53 bits, as newer V8", USUAL),
    ("xorshift32", "mod"): Api("xorshift32 % m", SELDOM, vectors=REFERENCE),
    ("xorshift64", "mod"): Api("xorshift64 % m", SELDOM, vectors=REFERENCE),
    ("xorshift128", "mod"): Api("Unity Random (xorshift128) % m", SELDOM, vectors=REFERENCE),
    ("xorshift64star", "mod"): Api("xorshift64* % m", SELDOM, vectors=REFERENCE),
    ("msvc", "mod"): Api("C rand() % m with Microsoft C", EVERYDAY, vectors=REFERENCE),
    ("msvc", "scaled"): Api("C rand() / 32768.0 * m with Microsoft C", USUAL, vectors=REFERENCE),
    ("borland", "mod"): Api("C rand() % m with Borland C", SELDOM, vectors=REFERENCE),
    ("delphi", "high"): Api("Delphi Random(m)", USUAL, vectors=REFERENCE),
    ("lcg32", "mod"): Api("ranqd1 of Numerical Recipes % m", SELDOM, vectors=REFERENCE),
    ("dotnet", "bounded"): Api(
        "C# new Random(seed).Next(m)",
        EVERYDAY,
        ("C# Random.Next(a, b)", "C# (int) (Random.NextDouble() * m)"),
    ),
    ("go", "bounded"): Api("Go rand.Intn(m)", EVERYDAY),
    ("go", "scaled"): Api("Go int(rand.Float64() * m)", USUAL),
    ("xoshiro256pp", "mod"): Api("xoshiro256++ % m", SELDOM),
    ("xoshiro256ss", "mod"): Api("xoshiro256** % m", SELDOM, vectors=REFERENCE),
    ("pcg32", "bounded"): Api("pcg32_boundedrand(m)", SELDOM, vectors=REFERENCE),
    ("philox4x32", "mod"): Api("philox4x32 % m", SELDOM, vectors=REFERENCE),
    ("sfc64", "mod"): Api("sfc64 % m", SELDOM, vectors=REFERENCE),
    ("splitmix64", "mod"): Api("splitmix64 % m", SELDOM),
}


def api_of(family: str, output: str) -> Api | None:
    """Return the call behind an output map, preferring the family's own; None if none is known."""
    name = generic_name(output)
    return family_named(family).apis.get(name) or APIS.get((family, name))


def declared_apis() -> dict[tuple[str, str], Api]:
    """Return all known calls, in the order of the families and of their output maps."""
    pairs = [(family.name, output) for family in FAMILIES for output in family.outputs]
    return {pair: api for pair in pairs if (api := api_of(*pair)) is not None}


def rarity(family: str, output: str) -> int:
    """Return how many times rarer a call is than an everyday one."""
    api = api_of(family, output)
    if api is not None:
        return api.rarity
    return SELDOM if output == next(iter(family_named(family).outputs)) else EXOTIC


def call_text(family: str, output: str) -> str:
    """Return a call as its user writes it, or the title and output map if no call is known."""
    api = api_of(family, output)
    return api.call if api is not None else f"{family_named(family).title}, {output}"
