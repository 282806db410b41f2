"""`--without`: leaves out parts by name, refuses other names, and is bound into the run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.arcruns import TINY, Here, ambiguous, solved, write_tasks
from tests.support.arctasks import options
from weft.errors import UsageError
from weft.searches.arc.confidence import SURE
from weft.searches.arc.recorded import read_run
from weft.searches.arc.request import ArcRequest
from weft.searches.arc.synthesis.ablation import FITTED, PARTS, parse_without
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.phases import shallow
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid

pytestmark = pytest.mark.xdist_group("arc-runs")


def test_parts_are_read_sorted_and_once() -> None:
    assert parse_without("") == ()
    assert parse_without("pruning,checks,pruning") == ("checks", "pruning")
    with pytest.raises(UsageError, match=r"--without takes fitted, .*, not 'luck'"):
        parse_without("checks,luck")


def test_request_without_a_part_binds_it() -> None:
    plain = ArcRequest(()).options()
    bare = ArcRequest((), without=("checks", "pruning")).options()
    assert plain["without"] == []
    assert plain["margin_millibits"] is None
    assert plain["needed_permille"] == SURE
    assert bare["without"] == ["checks", "pruning"]
    assert bare["prune"] == []
    assert bare["margin_millibits"] is None
    assert ArcRequest((), margin_bits=7, without=("checks",)).options()["margin_millibits"] == 7000
    by_price = ArcRequest((), without=("confidence",)).options()
    assert by_price["margin_millibits"] == 4000


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"without": ("luck",)}, "--without takes fitted, .*, not 'luck'"),
        ({"no_prune": ("luck",)}, "--no-prune takes shape, .*, not 'luck'"),
        ({"slices": 0}, "--slices must be 1 to 1024, not 0"),
        ({"min_permille": 1001}, "--min-confidence must be 0 to 1000 permille: 1001"),
    ],
)
def test_request_that_cannot_be_is_refused_when_it_is_made(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        ArcRequest((), **wrong)


def test_search_without_fitted_operators_tries_none() -> None:
    pairs = tuple(Pair(Grid.of([[1, a]]), Grid.of([[2, a]])) for a in (3, 4, 5))
    task = ArcTask("map", pairs, (Grid.of([[1, 6]]),))
    with_rules = shallow(EncodedTask(task), options("mirror_rows"))
    without = shallow(EncodedTask(task), replace(options("mirror_rows"), without=(FITTED,)))
    assert any(candidate.program.fitted == "colour_map" for candidate in with_rules.candidates)
    assert without.candidates == ()
    assert without.counts.fits_tried == 0


def test_command_names_what_can_be_left_out(tmp_path: Path, weft: Here) -> None:
    data = write_tasks(tmp_path / "data", [solved(), ambiguous()])
    words = ("arc", "solve", "--data", data, *TINY, "--out", tmp_path / "run")
    weft(*words, "--without", "luck").check_one_line(2, "--without", *PARTS)
    assert not (tmp_path / "run").exists()
    assert weft(*words, "--without", "checks,pruning").code == 0
    genesis = json.loads((tmp_path / "run" / "ledger.jsonl").read_text().splitlines()[0])
    options = genesis["body"]["config"]["args"]["options"]
    assert options["without"] == ["checks", "pruning"]
    run = read_run(tmp_path / "run")
    outcomes = {item.task.name: item.outcome for item in run.items}
    assert outcomes == {"plain": "SOLVED", "torn": "UNKNOWN/ambiguous"}
    assert all(g["evidence"] is None for item in run.items for g in (item.answer or {})["groups"])


def test_help_names_every_part(weft: Here) -> None:
    text = "".join(weft("arc", "solve", "--help").out.split())
    assert ",".join(PARTS) in text
