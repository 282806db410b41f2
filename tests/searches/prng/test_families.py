"""Laws that every generator obeys: states, jumps, positions, and compiled code like plain code."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InputError
from weft.searches.prng.families import SINGLE as FAMILIES
from weft.searches.prng.families import family_named
from weft.searches.prng.family import Family, State
from weft.searches.prng.generate import (
    COMPILED_FROM,
    MAX_BOUND,
    MAX_MODULUS,
    draw_of,
    draws,
    generate,
    generate_array,
)
from weft.searches.prng.hypothesis import Hypothesis, Skips, position
from weft.searches.prng.kernels.bulk import fill, words

MODULI = st.sampled_from([2, 7, 1000, 1024, 3 << 29, MAX_BOUND])
every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
MAPS = [(family, output) for family in FAMILIES for output in family.outputs]


@st.composite
def states(draw: st.DrawFn, family: Family) -> State:
    """A state somewhere in a stream, possibly in the middle of a block."""
    state = family.seeding(draw(st.integers(0, 2**family.seed_bits - 1)))
    for _ in range(draw(st.integers(0, 700))):
        family.step(state)
    return state


SAMPLE = ("java", "mt19937", "numpy_pcg64", "v8")
"""Steps of one word, of a block, of 128 bits, and backwards through a cache. The usual map of every
family, whose step is compiled too, is tested below."""


@pytest.mark.parametrize(
    "family",
    [
        family if family.name in SAMPLE else pytest.param(family, marks=pytest.mark.slow)
        for family in FAMILIES
    ],
    ids=lambda family: family.name,
)
@settings(max_examples=10)
@given(data=st.data())
def test_step_compiled_is_the_step(family: Family, data: st.DataObject) -> None:
    state = data.draw(states(family))
    plain = list(state)
    fast = words(family, state, 700)
    assert fast.tolist() == [family.step(plain) for _ in range(700)]
    assert state == plain
    assert int(fast.max()) < 1 << family.word_bits


def check_map(family: Family, output: str, state: State, modulus: int, gaps: list[int]) -> None:
    plain, call = list(state), family.outputs[output]
    expected = []
    for gap in gaps:
        for _ in range(gap):
            call(plain, modulus)
        expected.append(call(plain, modulus))
    filled = fill(family, output, state, modulus, np.array(gaps, np.int64)).tolist()
    assert filled == expected
    assert state == plain
    assert output == "raw" or max(filled) < modulus


@every_family
@settings(max_examples=15)
@given(data=st.data(), modulus=MODULI, gaps=st.lists(st.integers(0, 40), min_size=1, max_size=40))
def test_usual_map_compiled_is_the_map(
    family: Family, data: st.DataObject, modulus: int, gaps: list[int]
) -> None:
    check_map(family, next(iter(family.outputs)), data.draw(states(family)), modulus, gaps)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "output"), MAPS, ids=lambda part: getattr(part, "name", part))
@settings(max_examples=60)
@given(data=st.data(), modulus=MODULI, gaps=st.lists(st.integers(0, 40), min_size=1, max_size=40))
def test_every_map_compiled_is_the_map(
    family: Family, output: str, data: st.DataObject, modulus: int, gaps: list[int]
) -> None:
    check_map(family, output, data.draw(states(family)), modulus, gaps)


@pytest.mark.parametrize(
    "family", [kind for kind in FAMILIES if kind.lattice_forms or kind.lcg_forms or kind.linear],
    ids=lambda one: one.name,
)  # fmt: skip
def test_state_of_zeros_makes_draws_and_ends(family: Family) -> None:
    """An attack on a history of zeros finds it; minstd's bounded call never returned from it."""
    for output, call in family.outputs.items():
        state = [0] * family.state_words
        generated = [call(state, 1000) for _ in range(3)]
        assert output == "raw" or all(0 <= draw < 1000 for draw in generated)


def test_absorbing_state_compiled_makes_what_it_makes_plain() -> None:
    minstd = family_named("minstd0")
    check_map(minstd, "bounded", [0], 1000, [0, 3])


@every_family
def test_maps_all_families_have_the_plain_ones(family: Family) -> None:
    assert {"mod", "high", "raw"} <= set(family.outputs)


@every_family
@settings(max_examples=20)
@given(data=st.data())
def test_state_written_and_read_is_the_same(family: Family, data: st.DataObject) -> None:
    state = data.draw(states(family))
    text = family.state_text(state)
    assert family.read_state(text) == state
    assert len(text) * 4 == family.state_words * family.state_word_bits
    with pytest.raises(InputError, match=family.name):
        family.read_state(text[2:])


@every_family
@settings(max_examples=15)
@given(data=st.data(), steps=st.integers(0, 2000))
def test_advance_equals_so_many_steps(family: Family, data: st.DataObject, steps: int) -> None:
    state = data.draw(states(family))
    plain = list(state)
    family.advance(state, steps)
    for _ in range(steps):
        family.step(plain)
    assert state == plain


@pytest.mark.parametrize(
    "family", [kind for kind in FAMILIES if kind.jump], ids=lambda one: one.name
)
@settings(max_examples=10)
@given(data=st.data(), first=st.integers(0, 10**15), second=st.integers(0, 10**15))
def test_jump_twice_is_a_jump_of_the_sum(
    family: Family, data: st.DataObject, first: int, second: int
) -> None:
    state = data.draw(states(family))
    once = list(state)
    family.advance(state, first)
    family.advance(state, second)
    family.advance(once, first + second)
    assert state == once


@every_family
@settings(max_examples=10)
@given(
    seed=st.integers(0, 2**32 - 1),
    start=st.integers(0, 50),
    skip=st.integers(0, 20),
    modulus=MODULI,
)
def test_draw_sits_at_its_position(
    family: Family, seed: int, start: int, skip: int, modulus: int
) -> None:
    output = next(iter(family.outputs))
    hypothesis = Hypothesis(family.name, output, modulus, seed, None, Skips.constant(skip), start)
    stream = generate(Hypothesis(family.name, output, modulus, seed), position(hypothesis, 9) + 1)
    assert generate(hypothesis, 10) == [stream[start + at * (skip + 1)] for at in range(10)]
    assert generate(hypothesis, 10) == [stream[position(hypothesis, at)] for at in range(10)]


@pytest.mark.parametrize(
    ("family", "output"),
    [(kind, output) for kind in FAMILIES if kind.linear and kind.jump for output in kind.outputs],
)
@pytest.mark.parametrize("start", [1, 63, 64, 130])
def test_jump_to_the_start_gives_the_draws_after_so_many_calls(
    family: Family, output: str, start: int
) -> None:
    late = Hypothesis(family.name, output, 1000, seed=77, start=start)
    stream = generate(Hypothesis(family.name, output, 1000, seed=77), start + 8)
    assert generate(late, 8) == stream[start:]


@settings(max_examples=50)
@given(listed=st.lists(st.integers(0, 9), min_size=1, max_size=30), start=st.integers(0, 30))
def test_draws_with_varying_skips_end_where_the_skips_end(listed: list[int], start: int) -> None:
    hypothesis = Hypothesis("java", "bounded", 1000, 42, None, Skips((0, 10), tuple(listed)), start)
    stream = generate(
        Hypothesis("java", "bounded", 1000, 42), start + sum(listed) + len(listed) + 1
    )
    generated = generate(hypothesis, 100)
    assert generated == [stream[position(hypothesis, at)] for at in range(len(listed) + 1)]
    assert generate_array(hypothesis, len(generated)).tolist() == generated


def test_generate_of_many_draws_is_the_plain_definition() -> None:
    count = COMPILED_FROM // 100
    for start, skip in ((0, 137), (1000, 101), (COMPILED_FROM, 0)):
        hypothesis = Hypothesis(
            "java", "bounded", 1000, 2**40 + 5, None, Skips.constant(skip), start
        )
        assert generate(hypothesis, count) == list(islice(draws(hypothesis), count))


def test_generate_nothing_is_nothing() -> None:
    assert generate(Hypothesis("java", "bounded", 1000, 1), 0) == []


def test_families_have_names_of_their_own() -> None:
    names = [name for family in FAMILIES for name in (family.name, *family.aliases)]
    assert len(set(names)) == len(names)
    assert [family_named(name).name for name in ("php_rand", "php_mt")] == ["php_mt"] * 2


def test_family_unknown_is_refused_with_the_names() -> None:
    with pytest.raises(InputError, match=r"no generator 'lava'; did you mean java"):
        family_named("lava")


def test_map_unknown_is_refused_with_the_names() -> None:
    with pytest.raises(InputError, match=r"java has no output map 'low'; it has bounded, mod"):
        draw_of(family_named("java"), "low")


@pytest.mark.parametrize(
    ("output", "modulus"),
    [("bounded", 0), ("mod", -5), ("bounded", MAX_BOUND + 1), ("mod", MAX_MODULUS + 1)],
)
def test_modulus_no_runtime_takes_is_refused(output: str, modulus: int) -> None:
    hypothesis = Hypothesis("java", output, modulus, 1)
    for call in (generate, generate_array):
        with pytest.raises(InputError, match=f"modulus of {output} must be 1 to .*, not {modulus}"):
            call(hypothesis, 10)


@pytest.mark.parametrize("name", ["java", "xorshift64"])
def test_maps_at_the_greatest_modulus_keep_the_whole_word(name: str) -> None:
    for output in sorted(set(family_named(name).outputs) - {"bounded", "raw"}):
        hypothesis = Hypothesis(name, output, MAX_MODULUS, 77)
        generated = list(islice(draws(hypothesis), 50))
        assert generate_array(hypothesis, 50).tolist() == generated
        assert max(generated) < MAX_MODULUS


@pytest.mark.parametrize("modulus", [0, 2**32, 2**64])
def test_raw_outputs_do_not_depend_on_the_modulus(modulus: int) -> None:
    hypothesis = Hypothesis("xorshift64", "raw", modulus, 9)
    once = generate(Hypothesis("xorshift64", "raw", 1000, 9), 20)
    assert generate(hypothesis, 20) == generate_array(hypothesis, 20).tolist() == once


def test_state_of_cpython_is_that_of_getstate() -> None:
    import random

    source = random.Random(99)
    for _ in range(1000):
        source.random()
    raw = b"".join(word.to_bytes(4, "big") for word in source.getstate()[1])
    hypothesis = Hypothesis("cpython", "bounded", 1000, None, raw.hex())
    assert generate(hypothesis, 2000) == [source.randrange(1000) for _ in range(2000)]
