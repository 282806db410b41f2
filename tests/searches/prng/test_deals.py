"""The rest of a deck after a deal is what its seed's shuffle has after the cards dealt."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from weft.inspect.report.view import view_of
from weft.searches.prng import analyse, report, words
from weft.searches.prng.answer import AnalyseAnswer, ScoredCandidate, StreamCandidate
from weft.searches.prng.deals import rest_of_deck
from weft.searches.prng.families import FAMILIES
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis, Skips
from weft.searches.prng.intake import read_draws
from weft.searches.prng.request import AnalyseRequest
from weft.searches.prng.rowreaders import DECK
from weft.searches.prng.verdict import conclude, score_all

SHUFFLING = [f.name for f in FAMILIES if f.rows and {"shuffle", "deal6"} <= set(f.outputs)]


@pytest.mark.parametrize("family", SHUFFLING)
@pytest.mark.parametrize("deals", [1, 3])
def test_rest_of_the_last_deal_completes_its_deck(family: str, deals: int) -> None:
    dealt = Hypothesis(family, "deal20", 52, seed=77)
    whole = generate(Hypothesis(family, "shuffle", 52, seed=77), 52 * deals)[-52:]
    assert rest_of_deck(dealt, 20 * deals) == whole[20:]
    assert whole[:20] == generate(dealt, 20 * deals)[-20:]


@pytest.mark.parametrize(
    ("hypothesis", "draws"),
    [
        (Hypothesis("cpython_rows", "deal20", 52, seed=77), 30),
        (Hypothesis("cpython_rows", "deal20", 52, seed=77), 0),
        (Hypothesis("cpython_rows", "deal20", 52, seed=77, start=20), 20),
        (Hypothesis("cpython_rows", "deal20", 52, seed=77, skips=Skips.constant(1)), 20),
        (Hypothesis("cpython_rows", "sample20", 52, seed=77), 20),
        (Hypothesis("cpython_rows", "shuffle", 52, seed=77), 52),
        (Hypothesis("java", "bounded", 52, seed=77), 20),
    ],
)
def test_nothing_is_left_where_no_deal_has_ended(hypothesis: Hypothesis, draws: int) -> None:
    assert rest_of_deck(hypothesis, draws) == []


def test_answer_names_the_cards_that_are_left_in_the_deck_of_cpython() -> None:
    deck = list(DECK)
    random.Random(4242).shuffle(deck)
    history = read_draws(" ".join(deck[:30]).encode(), "hand")
    truth = Hypothesis("cpython_rows", "deal30", 52, seed=4242)
    lines = list(words.verdict_lines(_answer(truth, history.draws), history))
    at = next(number for number, line in enumerate(lines) if "left of the last deck" in line)
    assert lines[at].endswith("in order (22):")
    assert lines[at + 1].split() == deck[30:]


def test_answer_about_lottery_numbers_does_not_name_those_that_were_not_drawn() -> None:
    truth = Hypothesis("cpython_rows", "deal6", 49, seed=4242)
    draws = generate(truth, 60)
    rows = "\n".join(" ".join(map(str, draws[at : at + 6])) for at in range(0, 60, 6))
    history = read_draws(rows.encode(), "lottery", "row-all")
    answer = _answer(truth, tuple(draws))
    assert answer.is_signal
    assert rest_of_deck(truth, 60)
    assert not any("left of the last deck" in line for line in words.verdict_lines(answer, history))


def _answer(truth: Hypothesis, draws: tuple[int, ...]) -> AnalyseAnswer:
    request = AnalyseRequest(truth.modulus, row_maps=(truth.output,))
    candidate = StreamCandidate("", truth, tried=1)
    ranked: list[ScoredCandidate] = score_all([candidate], {"": draws}, request)
    return conclude(request, (), (), (), ranked, ())


def test_report_shows_the_rest_of_the_deck_and_one_bar_for_each_card(tmp_path: Path) -> None:
    deck = list(DECK)
    random.Random(7).shuffle(deck)
    answer = analyse(
        [" ".join(deck[:30])], form="cards", families=["cpython_rows"], outputs=["deal30"],
        skips="0:0", starts="0:0", corrupt=0, effort="quick", out=tmp_path / "run", workers=1,
    )  # fmt: skip
    assert answer.verdict == "signal"
    [page] = report.pages(view_of(tmp_path / "run", "prng.analyse", "weft prng analyse"))
    assert " ".join(deck[30:]) in page.html
    assert "remainder modulo 52" in page.html
    assert "if this continues" not in page.html
