"""`weft prng generate` and `weft prng families` in real processes, and the histories they make."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InputError
from weft.model.codec import from_json
from weft.searches.prng.catalogue import catalogue
from weft.searches.prng.families import FAMILIES
from weft.searches.prng.generate import generate
from weft.searches.prng.history import read_history
from weft.searches.prng.hypothesis import Hypothesis, Skips
from weft.searches.prng.planting import make_history

JAVA_42 = [30, 63, 48, 84, 70]  # new Random(42).nextInt(100)


def weft(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "weft.main", "prng", *words]
    return subprocess.run(command, capture_output=True, text=True)


def told(*words: str) -> dict[str, Any]:
    result = weft(*words, "--json")
    assert result.returncode == 0, result.stderr
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def test_generate_writes_a_history_that_is_read_again() -> None:
    result = weft("generate", "java", "--seed", "42", "--modulus", "100", "-n", "5")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["draw", *map(str, JAVA_42)]
    assert list(read_history(result.stdout.encode(), "stdin").draws) == JAVA_42


def test_generate_with_everything_is_the_recorded_truth() -> None:
    words = ["generate", "php_mt", "--seed", "0x2a", "--skip", "1:4", "--start", "30", "-n", "200"]
    words += ["--output", "bounded", "--modulus", "50", "--corrupt", "0.1", "--corrupt-seed", "9"]
    answer = told(*words)
    truth = from_json(Hypothesis, answer["hypothesis"])
    right = generate(truth, 200)
    differ = [at for at, value in enumerate(answer["draws"]) if value != right[at]]
    assert truth.seed == 42
    assert truth.start == 30
    assert len(truth.skips.listed) == 199
    assert set(truth.skips.listed) == {1, 2, 3, 4}
    assert differ == answer["wrong"]
    assert len(differ) == 20
    assert told(*words) == answer


def test_generate_from_a_state_goes_on_from_there() -> None:
    state = FAMILIES[0].state_text(FAMILIES[0].seeding(42))
    answer = told("generate", "java", "--state", state, "--modulus", "100", "-n", "5")
    assert answer["draws"] == JAVA_42


def test_generate_raw_is_not_below_the_modulus() -> None:
    answer = told("generate", "xorshift64", "--seed", "1", "--output", "raw", "-n", "50")
    assert max(answer["draws"]) > 2**60


def test_families_lists_every_generator_for_people_and_programs() -> None:
    result = weft("families")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    named = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert named == [family.name for family in FAMILIES]
    assert max(map(len, lines)) <= 100
    listed = told("families")["families"]
    assert [entry["name"] for entry in listed] == [family.name for family in FAMILIES]
    assert {"lanes", "brute"} <= {offer["attack"] for offer in listed[0]["attacks"]}


def test_families_with_coverage_lists_calls_in_the_words_of_users() -> None:
    result = weft("families", "--coverage")
    assert result.returncode == 0, result.stderr
    assert max(map(len, (result.stdout + result.stderr).splitlines())) <= 100
    for call in ("PHP >= 7.1 mt_rand(a, b)", "Ruby rand(m)", "Java Random.nextInt(m)"):
        assert call in result.stdout
    assert "renewed by: python -m benchmarks prngcoverage" in " ".join(result.stderr.split())


def test_catalogue_promises_something_for_every_generator() -> None:
    for entry in catalogue():
        assert entry.offers, entry.family.name
        assert all(set(offer.outputs) <= set(entry.family.outputs) for offer in entry.offers)


@settings(max_examples=60)
@given(
    modulus=st.sampled_from([2, 10, 1000, 2**31 - 1]),
    count=st.integers(1, 60),
    share=st.integers(0, 100),
    seed=st.integers(0, 2**64 - 1),
)
def test_planted_rows_wrong_are_those_that_are_told(
    modulus: int, count: int, share: int, seed: int
) -> None:
    truth = Hypothesis("glibc", "mod", modulus, 5)
    history = make_history(truth, count, count * share // 100, seed)
    right = generate(truth, count)
    assert [at for at in range(count) if history.draws[at] != right[at]] == list(history.wrong)
    assert len(history.wrong) == count * share // 100
    assert all(0 <= draw < modulus for draw in history.draws)


@settings(max_examples=30)
@given(seed=st.integers(0, 2**64 - 1), wrong=st.integers(0, 40))
def test_planted_raw_rows_wrong_stay_words(seed: int, wrong: int) -> None:
    truth = Hypothesis("xorshift32", "raw", 2, 77, None, Skips((0, 3)))
    history = make_history(truth, 40, wrong, seed)
    assert all(0 <= draw < 2**32 for draw in history.draws)
    assert len(history.wrong) == wrong


def test_planted_history_of_an_unknown_map_is_refused() -> None:
    with pytest.raises(InputError, match="no output map"):
        make_history(Hypothesis("java", "low", 10, 1), 5, 0, 0)
