"""Shuffles, samples and lottery rows: generated as runtimes do, read, and found by seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import islice
from math import comb
from pathlib import Path

import pytest

from tests.searches.prng.test_programs import printed_by
from weft.errors import UsageError
from weft.searches.prng import rowmaps, verdict
from weft.searches.prng.answer import SIGNAL, StreamCandidate
from weft.searches.prng.attack import AttackPlan, Case, Gap, Units
from weft.searches.prng.attacks.brute import ATTACK
from weft.searches.prng.attacks.brute_sieves import sieve_of
from weft.searches.prng.attacks.row_sieves import is_shuffle_known, row_sieve, shuffle_target
from weft.searches.prng.attacks.sieving import Target
from weft.searches.prng.checks import check
from weft.searches.prng.families import family_named
from weft.searches.prng.generate import draws, generate_array
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.intake import in_range, read_draws
from weft.searches.prng.programs import program
from weft.searches.prng.request import AnalyseRequest
from weft.searches.prng.rowreaders import DECK
from weft.searches.prng.scoring import score

SEED = 777_777
SIEVED = [
    ("php_rows", "shuffle"), ("php_rows", "sorted_distinct6"), ("php_legacy_rows", "distinct6"),
    ("cpython_rows", "sample5"), ("cpython_rows", "sorted_sample6"), ("mt19937_rows", "sample6"),
    ("mt19937_rows", "deal6"), ("cpython_rows", "sorted_deal6"), ("libcxx_rows", "shuffle"),
]  # fmt: skip
"""Every method, every order and every way to get a value from a word."""


def modulus_of(output: str) -> int:
    return 52 if output == "shuffle" else comb(49, 6) if output.startswith("sorted") else 49


def made(family: str, output: str, count: int, seed: int = SEED) -> tuple[int, ...]:
    truth = Hypothesis(family, output, modulus_of(output), seed=seed)
    return tuple(islice(draws(truth), count))


# -- maps ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "output"), [("cpython_rows", "sample6"), ("mt19937_rows", "sorted_sample6")]
)
def test_rows_compiled_are_the_rows(family: str, output: str) -> None:
    truth = Hypothesis(family, output, modulus_of(output), seed=SEED)
    assert generate_array(truth, 90).tolist() == list(islice(draws(truth), 90))


@pytest.mark.parametrize(
    ("output", "modulus"),
    [("sample6", 5), ("shuffle", 129), ("sorted_sample6", comb(49, 6) + 1), ("sample6", 1000)],
)
def test_modulus_that_fits_no_rows_is_refused(output: str, modulus: int) -> None:
    with pytest.raises(UsageError, match="makes no rows"):
        next(draws(Hypothesis("cpython_rows", output, modulus, seed=1)))


@pytest.mark.parametrize("name", ["sample0", "sample61", "shuffle6", "sorted_shuffle", "mod"])
def test_name_of_no_row_map_is_none(name: str) -> None:
    assert not rowmaps.is_row_map(name)
    assert name not in family_named("cpython_rows").outputs


def test_chance_in_rows_bounds_what_random_rows_hit() -> None:
    """With a chance of 1/52 per card, the best of 20,000 random decks would be a signal."""
    source, deck = random.Random(1), list(range(52))
    most = 0
    for _ in range(20_000):
        source.shuffle(deck)
        most = max(most, sum(card == at for at, card in enumerate(deck)))
    assert most < 52 / rowmaps.chance_values("shuffle", 52) * 3
    truth = Hypothesis("cpython_rows", "shuffle", 52, seed=SEED)
    random_deck = tuple(random.Random(2).sample(range(52), 52))
    assert score(truth, random_deck, 52, 2**32, 1).held_evidence < 3000


@pytest.mark.parametrize("language", ["python", "c"])
@pytest.mark.parametrize(
    ("family", "output"),
    [("mt19937_rows", "sorted_sample6"), ("cpython_rows", "sample6"), ("php_rows", "shuffle")],
)
def test_exported_program_makes_the_rows(
    family: str, output: str, language: str, tmp_path: Path
) -> None:
    truth = Hypothesis(family, output, modulus_of(output), seed=SEED)
    assert printed_by(program(truth, language), language, tmp_path, 40) == list(
        islice(draws(truth), 40)
    )


# -- sieves --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("family", "output"), SIEVED)
def test_sieve_lets_those_pass_whose_first_row_it_is(family: str, output: str) -> None:
    """The plain twin is the map itself, for every seed of a range."""
    modulus, length = modulus_of(output), rowmaps.row_length(output, modulus_of(output))
    row = made(family, output, length, seed=300)
    plain = [seed for seed in range(256, 340) if made(family, output, length, seed) == row]
    target = Target(row, modulus, 0, 0, length)
    passed = row_sieve([(family_named(family), output)], target)(256, 340)
    assert plain == [300]
    assert 300 in passed
    assert len(passed) <= 3


SHUFFLED = ["php_rows", "java_rows", "dotnet_rows", "dotnet8_rows", "glibc_rows", "go_rows",
            "go_perm_rows", "cxx_rows"]  # fmt: skip
"""Shuffles whose calls are sieved."""


@pytest.mark.parametrize("family", SHUFFLED)
@pytest.mark.parametrize("modulus", [52, 49])
def test_shuffle_is_taken_apart_into_the_calls_that_made_it(family: str, modulus: int) -> None:
    """The generator's own calls for the row have the bounds and values found."""
    form = family_named(family).rows
    assert form is not None
    assert form.calls is not None
    row = tuple(islice(draws(Hypothesis(family, "shuffle", modulus, seed=SEED)), modulus))
    base, output = form.calls
    state = base.seeding(SEED)
    for bound, value in rowmaps.calls_of(row, form.order):
        assert base.outputs[output](state, bound) == value


@pytest.mark.parametrize("family", SHUFFLED)
def test_shuffle_by_its_calls_passes_for_its_own_seed_alone(family: str) -> None:
    kind, case = family_named(family), Case(made(family, "shuffle", 52), 52, (0, 0), (0, 0))
    sieve = sieve_of(kind, "shuffle", 52, is_row_known=True)
    assert sieve is not None
    target = shuffle_target(kind, case, 0, 0)
    assert sieve.make([(kind, "shuffle")], target)(SEED - 3000, SEED + 3000) == [SEED]


@pytest.mark.parametrize(
    "row", [range(51), [*range(51), 50], range(5)], ids=["cut off", "one twice", "short"]
)
def test_row_that_is_no_long_shuffle_is_not_sieved_by_its_calls(row: Sequence[int]) -> None:
    modulus = 5 if len(row) == 5 else 52
    assert not is_shuffle_known(tuple(row), modulus)
    case = Case((*row, *row), modulus, (0, 0), (0, 0), 0, families=("go_rows",),
                row_maps=("shuffle",))  # fmt: skip
    (gap,) = ATTACK.plan(case)
    assert isinstance(gap, Gap)


@pytest.mark.parametrize(("family", "output"), [*SIEVED[:1], *SIEVED[4:5]])
def test_planted_rows_are_found_and_predicted(family: str, output: str) -> None:
    count = 52 if output == "shuffle" else 30
    history = made(family, output, count + 52)
    request = AnalyseRequest(
        modulus_of(output), (family,), (output,), (0, 0), (0, 0), row_maps=(output,), predict=52
    )
    case = request.case(history[:count])
    (plan,) = [item for item in ATTACK.plan(case) if isinstance(item, AttackPlan)]
    assert "none in the first row" in plan.covers
    matches = ATTACK.run(case, plan, Units(0, 1))
    candidates = [StreamCandidate("", match.hypothesis, plan.tried) for match in matches]
    ranked = verdict.score_all(candidates, {"": history[:count]}, request)
    assert verdict.conclude(request, (), (), (), ranked, ()).verdict == SIGNAL
    assert ranked[0].next == history[count:]


def test_rows_are_tried_only_where_draws_come_in_rows() -> None:
    plain = ATTACK.plan(Case((1,) * 100, 49, (0, 0), (0, 0)))
    assert not [item for item in plain if item.family.endswith("_rows")]
    with_rows = ATTACK.plan(Case((1,) * 100, 49, (0, 0), (0, 0), row_maps=("sample6",)))
    assert {i.family for i in with_rows if i.output == "sample6"} == {
        "cpython_rows", "mt19937_rows",
    }  # fmt: skip


def test_row_that_is_too_short_is_a_gap_with_the_draws_it_needs() -> None:
    case = Case(tuple(range(8)), 10, (0, 0), (0, 0), 0, families=("php_rows",),
                row_maps=("shuffle",))  # fmt: skip
    (gap,) = ATTACK.plan(case)
    assert isinstance(gap, Gap)
    assert "draws, there are 8" in gap.why


def test_generator_of_rows_named_for_draws_that_are_no_rows_is_refused() -> None:
    history = read_draws(b"3\n1\n4\n1\n5\n" * 12, "draws")
    with pytest.raises(UsageError, match="cpython_rows makes rows"):
        check(history, "draws", AnalyseRequest(49, ("cpython_rows",)))


# -- files ---------------------------------------------------------------------------------------


def test_column_with_every_number_once_is_a_shuffle() -> None:
    numbers = random.Random(3).sample(range(1, 53), 52)
    history = read_draws("\n".join(map(str, numbers)).encode(), "deck")
    assert history.form is not None
    assert (history.form.name, history.form.modulus, history.form.low) == ("shuffle", 52, 1)
    assert history.texts(history.draws) == [str(number) for number in numbers]
    once_twice = [*numbers[:51], numbers[0]]
    assert read_draws("\n".join(map(str, once_twice)).encode(), "deck").form is None


@pytest.mark.parametrize("decks", [2, 3])
def test_column_of_several_decks_is_as_many_shuffles(decks: int) -> None:
    source = random.Random(3)
    numbers = [number for _ in range(decks) for number in source.sample(range(1, 53), 52)]
    history = read_draws("\n".join(map(str, numbers)).encode(), "decks")
    assert history.form is not None
    assert (history.form.name, history.form.modulus, history.form.each) == ("shuffle", 52, 52)
    cards = [DECK[number - 1] for number in numbers]
    dealt = read_draws("\n".join(cards).encode(), "decks")
    assert dealt.form is not None
    assert (dealt.form.name, dealt.form.each) == ("cards", 52)
    assert dealt.draws == history.draws
    across = [numbers[0], *numbers[2:], numbers[1]]  # every number equally often, no deck complete
    assert read_draws("\n".join(map(str, across)).encode(), "decks").form is None


def test_sorted_rows_are_draws_and_are_written_as_rows_again() -> None:
    source = random.Random(4)
    rows = [sorted(source.sample(range(1, 50), 6)) for _ in range(40)]
    text = "\n".join(" ".join(map(str, row)) for row in rows)
    history = read_draws(text.encode(), "lotto")
    assert history.form is not None
    assert history.form.modulus == comb(49, 6)
    assert history.form.row_maps == ("sorted_sample6", "sorted_distinct6", "sorted_deal6")
    assert history.texts(history.draws) == text.split("\n")
    wider, modulus = in_range(history, "lotto", 52, 1)
    assert modulus == comb(52, 6)
    assert wider.texts(wider.draws) == text.split("\n")
    with pytest.raises(UsageError, match="not from 1 to 40"):
        in_range(history, "lotto", 40, 1)


def test_sorted_rows_of_which_there_are_too_many_say_so() -> None:
    source = random.Random(5)
    rows = [sorted(source.sample(range(1, 81), 20)) for _ in range(10)]
    text = "\n".join(" ".join(map(str, row)) for row in rows)
    with pytest.raises(Exception, match=r"more than 2\^32 such rows"):
        read_draws(text.encode(), "keno", form="row-sorted")


@pytest.mark.parametrize(
    ("text", "form", "first"),
    [
        ("badcfehgjilkzyxwvutsrqponm", "shuffled-letters", (1, 0, 3)),
        (" ".join(f"{rank}{suit}" for suit in "CDHS" for rank in "KQJT98765432A"), "cards",
         (51, 50, 49)),
    ],
)  # fmt: skip
def test_shuffled_alphabets_and_decks_are_recognised(
    text: str, form: str, first: tuple[int, ...]
) -> None:
    history = read_draws(text.encode(), "file")
    assert history.form is not None
    assert history.form.name == form
    assert history.form.row_maps == ("shuffle",)
    assert history.draws[:3] == first
