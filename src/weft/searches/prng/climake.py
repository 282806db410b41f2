"""`weft prng generate` and `weft prng families`: test histories, and what there is to generate."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from weft.console import options, render
from weft.errors import UsageError
from weft.searches.prng.lazy import lazy
from weft.searches.prng.options import MAX_SKIP, MAX_START, Modulus, check_modulus, read_range

if TYPE_CHECKING:
    from weft.searches.prng import catalogue as catalogues
    from weft.searches.prng import families as known_families
    from weft.searches.prng import generate as generators
    from weft.searches.prng import hypothesis as hypotheses
    from weft.searches.prng import planting
    from weft.searches.prng.family import Family
else:
    catalogues, known_families = (
        lazy("weft.searches.prng.catalogue"),
        lazy("weft.searches.prng.families"),
    )
    generators, hypotheses = (
        lazy("weft.searches.prng.generate"),
        lazy("weft.searches.prng.hypothesis"),
    )
    planting = lazy("weft.searches.prng.planting")

MAX_DRAWS = 10_000_000
MAX_CALLS = 10**10
MAX_SEED = 2**64 - 1

FamilyName = Annotated[
    str, typer.Argument(metavar="FAMILY", help="A generator; weft prng families lists them.")
]
GeneratorSeed = Annotated[
    str | None,
    options.decision("N", "The generator's seed, 0 to 2^64-1, also like 0x2a.", "--seed"),
]
StateHex = Annotated[
    str | None, options.decision("HEX", "A whole state in place of a seed.", "--state")
]
Skip = Annotated[
    str,
    options.decision(
        "K|LO:HI", "Calls left out before each draw but the first: always K, or LO to HI."
    ),
]
Start = Annotated[int, options.decision("N", "Calls before the first draw.")]
Count = Annotated[int, options.decision("N", "How many draws.", "-n", "--count")]
OutputMap = Annotated[
    str | None,
    options.decision(
        "MAP", "How outputs become draws; the generator's usual way if not said.", "--output"
    ),
]
Corrupt = Annotated[float, options.decision("SHARE", "Share of wrong draws, 0 to 1.")]
CorruptSeed = Annotated[
    int, options.decision("N", "Seed of what is wrong, and of skips that vary.")
]


def generate(
    family: FamilyName,
    seed: GeneratorSeed = None,
    state: StateHex = None,
    skip: Skip = "0",
    start: Start = 0,
    modulus: Modulus = 1000,
    count: Count = 1000,
    output: OutputMap = None,
    corrupt: Corrupt = 0.0,
    corrupt_seed: CorruptSeed = 0,
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,  # noqa: ARG001 - main looks for -vv
) -> None:
    """Write a test history: the draws of a generator from a known seed or state.

    Prints a column `draw`; with --json also the truth and which rows are wrong.
    """
    _check_counts(start, modulus, count, corrupt, corrupt_seed)
    skips = read_range("--skip", skip, MAX_SKIP)
    if start + count * (skips[1] + 1) > MAX_CALLS:
        raise UsageError(f"these are more than {MAX_CALLS:,} calls; take fewer draws or skips")

    truth = _truth(
        known_families.family_named(family), output, modulus, (seed, state), skips, start
    )
    planted = planting.make_history(truth, count, round(corrupt * count), corrupt_seed)
    if as_json:
        render.print_json(planted.to_dict())
    else:
        sys.stdout.write("draw\n" + "".join(f"{draw}\n" for draw in planted.draws))


def families(
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,  # noqa: ARG001 - main looks for -vv
) -> None:
    """List the generators: state and seed in bits, output maps, attacks and their seconds."""
    entries = catalogues.catalogue()
    if as_json:
        render.print_json({"families": [entry.to_dict() for entry in entries]})
        return
    heading = ("name", "state", "seed", "output maps, the usual one first", "attacks", "generator")
    render.table([heading, *(entry.row() for entry in entries)])
    render.message(
        f"seconds of one core for {catalogues.EXAMPLE_DRAWS:,} draws modulo 1000 with the usual"
        " options; --json says what each attack covers"
    )


def _check_counts(start: int, modulus: int, count: int, corrupt: float, corrupt_seed: int) -> None:
    """Refuse what cannot be, before anything is imported."""
    if not 0 <= start <= MAX_START:
        raise UsageError(f"--start must be 0 to {MAX_START}, not {start}")
    check_modulus(modulus)
    if not 1 <= count <= MAX_DRAWS:
        raise UsageError(f"-n must be 1 to {MAX_DRAWS}, not {count}")
    if not 0 <= corrupt <= 1:
        raise UsageError(f"--corrupt is a share from 0 to 1, not {corrupt}")
    if not 0 <= corrupt_seed <= MAX_SEED:
        raise UsageError(f"--corrupt-seed must be 0 to 2^64-1, not {corrupt_seed}")


def _truth(
    family: Family,
    output: str | None,
    modulus: int,
    origin: tuple[str | None, str | None],
    skips: tuple[int, int],
    start: int,
) -> hypotheses.Hypothesis:
    seed, state = origin
    if (seed is None) == (state is None):
        raise UsageError("give the generator's --seed N or its --state HEX, one of them")
    chosen = output or next(iter(family.outputs))
    generators.draw_of(family, chosen)
    return hypotheses.Hypothesis(
        family.name,
        chosen,
        modulus,
        None if seed is None else _read_seed(seed),
        None if state is None else _read_state(family, state),
        hypotheses.Skips(skips),
        start,
    )


def _read_seed(text: str) -> int:
    try:
        seed = int(text, 0)
    except ValueError:
        raise UsageError(f"--seed {text[:40]!r} is not an integer") from None
    if not 0 <= seed <= MAX_SEED:
        raise UsageError(
            f"--seed must be 0 to 2^64-1, not {text[:40]}",
            hint="write a negative seed modulo 2^64, for cpython without its sign",
        )
    return seed


def _read_state(family: Family, text: str) -> bytes:
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        raise UsageError(f"--state {text[:40]!r} is not a hexadecimal number") from None
    family.read_state(raw)
    return raw
