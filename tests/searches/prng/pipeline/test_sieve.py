"""The sieve keeps what both plain passes keep, reports its parameters, never loses the truth."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests.searches.prng.pipeline.planted import plan, planted, worked
from weft.errors import BugError
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis, Skips
from weft.searches.prng.pipeline import sieve as module
from weft.searches.prng.pipeline import table, window
from weft.searches.prng.pipeline.request import PipelineRequest
from weft.searches.prng.pipeline.sieve import SieveRequest, plain_sieve, sieve
from weft.searches.prng.pipeline.streams import split_history

FAMILIES = [("java", "bounded"), ("java", "mod"), ("mt19937", "mod")]


def kernel_set(found: Any, window_at: int, seeds: Any) -> list[tuple[int, int, int, int]]:
    own = found[found[:, 1] == window_at]
    return sorted((int(seeds[r]), int(s), int(t), int(h)) for r, _, s, t, h in own)


@pytest.mark.parametrize(("family", "output"), FAMILIES)
def test_sieve_equals_both_plain_passes(family: str, output: str) -> None:
    modulus, seeds = 10, np.arange(40, 52, dtype=np.uint64)
    hypothesis = Hypothesis(family, output, modulus, 45, skips=Skips.constant(2), start=3)
    draws = generate(hypothesis, 12)
    request = SieveRequest(12, (1, 3), (2, 6), 4, 5)
    other = [(d + 1) % modulus for d in draws]
    survivors = sieve(family, output, modulus, seeds, [draws, other], request)
    for at, span in enumerate((draws, other)):
        expected = plain_sieve(family, output, modulus, [int(s) for s in seeds], span, request)
        assert kernel_set(survivors, at, seeds) == sorted(
            (s, k, t, forward) for s, k, t, forward, _ in expected
        )
        assert all(forward == reverse for *_, forward, reverse in expected)
    assert (45, 2, 3, 12) in kernel_set(survivors, 0, seeds)


def test_late_window_is_found_from_a_seed_that_was_set_once() -> None:
    """Equals the plain sieve with starts counted from the stream's first draw."""
    seeds = np.arange(40, 52, dtype=np.uint64)
    once = Hypothesis("java", "bounded", 10, 45, skips=Skips.constant(2), start=3)
    draws, begins = generate(once, 112), [100, 60]
    request = SieveRequest(12, (1, 3), (2, 6), 4, 5)
    windows = [draws[begin : begin + 12] for begin in begins]
    survivors = sieve("java", "bounded", 10, seeds, windows, request, begins)
    for at, begin in enumerate(begins):
        plain = set()
        for skip in range(1, 4):
            for lead in (0, begin * (skip + 1)):
                shifted = replace(request, skips=(skip, skip), starts=(2 + lead, 6 + lead))
                expected = plain_sieve("java", "bounded", 10, range(40, 52), windows[at], shifted)
                plain |= {(seed, s, start, hits) for seed, s, start, hits, _ in expected}
        assert kernel_set(survivors, at, seeds) == sorted(plain)
        assert (45, 2, 3 + 3 * begin, 12) in plain


def test_far_windows_are_reached_with_fewer_skips_or_not_at_all() -> None:
    request = SieveRequest(40, (0, 5), (0, 200), 4, 5)
    assert request.seeded_once(1_000) == request
    assert replace(request, skips=(0, 1)) == request.seeded_once(8_000)
    assert request.seeded_once(50_000) is None
    assert replace(request, skips=(3, 5)).seeded_once(8_000) is None


def test_reverse_pass_over_reversed_draws_would_lose_the_truth() -> None:
    """The mistake is to run the generator forward over reversed draws: it rejects the true seed."""
    draws = generate(Hypothesis("java", "bounded", 1000, 7), 20)
    request = SieveRequest(20, (0, 0), (0, 0), 10, 10)
    [(*_, forward, reverse)] = plain_sieve("java", "bounded", 1000, [7], draws, request)
    assert forward == reverse == 20
    assert plain_sieve("java", "bounded", 1000, [7], draws[::-1], request) == []


def test_sieve_with_more_survivors_than_room_keeps_all() -> None:
    draws = generate(Hypothesis("java", "bounded", 2, 7), 8)
    request = SieveRequest(8, (0, 3), (0, 40), 2, 2)
    seeds = np.arange(64, dtype=np.uint64)
    survivors = sieve("java", "bounded", 2, seeds, [draws], request)
    expected = plain_sieve("java", "bounded", 2, range(64), draws, request)
    assert len(survivors) == len(expected) > 5000


def test_seeds_of_64_bits_reach_the_kernel() -> None:
    seed = 2**48 - 3
    draws = generate(Hypothesis("java", "bounded", 1000, seed), 16)
    survivors = sieve(
        "java",
        "bounded",
        1000,
        np.array([seed], np.uint64),
        [draws],
        SieveRequest(16, (0, 0), (0, 0), 8, 8),
    )
    assert survivors.tolist() == [[0, 0, 0, 0, 16]]


def test_seeds_of_64_bits_survive_a_table() -> None:
    top = 2**64 - 1
    numbers = {"stream": 0, "cut": 9, "first": 0, "skip": 0, "base": -5, "hits": 3}
    columns = {name: np.array([number]) for name, number in numbers.items()}
    rows = table.frame({**columns, "seed": np.array([top], np.uint64)})
    assert table.from_parquet(table.to_parquet(rows))["seed"].to_list() == [top]


def test_sieve_that_uses_other_parameters_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    real = module.sieve_kernel

    def deaf(*args: Any) -> int:
        return int(real(*args[:6], args[6] + 1, *args[7:]))  # the requested start is not used

    monkeypatch.setattr(module, "sieve_kernel", deaf)
    with pytest.raises(BugError, match="asked for start_min 2 and used 3"):
        sieve("java", "bounded", 10, np.arange(2, dtype=np.uint64), [[1] * 8],
              SieveRequest(8, (0, 1), (2, 6), 3, 3))  # fmt: skip


def test_range_sieved_with_other_parameters_is_refused() -> None:
    params = worked()[2]
    window.check_same(params, params)
    with pytest.raises(BugError, match="window"):
        window.check_same(params, replace(params, window=params.window + 1))


def test_planted_segments_survive_and_lead_every_cut() -> None:
    truth, split, params, _, rows = worked()
    for at, stream in enumerate(split.mode(params.sessions)):
        for cut in stream.cuts:
            begin = params.begin(cut)
            active = truth.active(stream.name, begin)
            if active != truth.active(stream.name, cut - 1):
                continue  # reseeded within the window
            own = window.in_window(rows, at, cut)
            best = own[int(own["hits"].arg_max())].row(0, named=True)
            assert (best["seed"], best["skip"], best["first"]) == (
                active.seed, active.skip, active.first,
            )  # fmt: skip


def test_loose_threshold_gains_nothing_in_the_objective() -> None:
    """A count of survivors would reward it; evidence on disjoint draws does not."""
    _truth, split, params, scorer, _ = worked()
    strict = replace(params, forward_need=12, reverse_need=12)
    judged = {}
    for name, choice in (("loose", params), ("strict", strict)):
        survivors = window.merged(
            [window.survivors(scorer.request, split, choice, np.arange(5000, dtype=np.uint64))]
        )
        judged[name] = window.judge(scorer.request, split, choice, survivors, 2)
    assert judged["loose"].survivors > 20 * judged["strict"].survivors
    assert judged["loose"].evidence <= judged["strict"].evidence


def test_two_streams_merged_into_one_carry_no_evidence() -> None:
    truth, known = planted(), plan()
    split = split_history(truth.history.draws, truth.history.sessions, 1000)
    worth = {}
    for sessions in split.modes():
        defaults = {n: s["default"] for n, s in window.space(known, split).items()}
        params = window.WindowParams.of(
            window.WindowChoice(**{**defaults, "sessions": sessions}), known
        )
        survivors = window.merged(
            [window.survivors(known, split, params, np.arange(5000, dtype=np.uint64))]
        )
        worth[sessions] = window.judge(known, split, params, survivors, 2).evidence
    assert worth["each"] > 100_000
    assert worth["merged"] < 10_000


def test_ranges_tile_the_seeds_exactly() -> None:
    own = PipelineRequest(seeds=(7, 200_000))
    ranges = own.ranges()
    assert ranges[0][0] == 7
    assert ranges[-1][1] == 200_000
    assert all(a[1] == b[0] for a, b in pairwise(ranges))
