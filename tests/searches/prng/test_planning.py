"""The plan: likelihood per cost, promises that hold, and what an earlier run has excluded."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.searches.prng.planted import chance
from tests.support.commands import COMMAND
from weft.errors import RunMismatch
from weft.runs.execution import Execution
from weft.runs.outcome import Run
from weft.searches.prng import planning
from weft.searches.prng.attacks.brute import window_of
from weft.searches.prng.generate import generate
from weft.searches.prng.history import History
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.options import EFFORTS_MS
from weft.searches.prng.planning import PlanLimits, Range, StreamPlan
from weft.searches.prng.request import AnalyseRequest, ExcludedPart
from weft.searches.prng.run import execute, take_over
from weft.searches.prng.verdict import conclude
from weft.searches.prng.words import uncovered_lines

DRAWS = History(tuple(at * 2654435761 % 1000 for at in range(100)))
PLAIN = [
    ("php_mt", "bounded"), ("php_mt", "mod"), ("php_mt_legacy", "bounded"), ("go", "bounded"),
    ("go", "scaled"), ("mt19937", "bounded"), ("mt19937", "mod"), ("java", "bounded"),
    ("java", "scaled"), ("glibc", "mod"), ("cpython", "bounded"), ("dotnet", "bounded"),
]  # fmt: skip
"""Calls for which every 32-bit seed is tried by default."""


def default(**changes: object) -> AnalyseRequest:
    values = {"max_cost_ms": EFFORTS_MS["standard"], **changes}
    return AnalyseRequest(1000, **values)  # type: ignore[arg-type]


def planned(request: AnalyseRequest) -> tuple[list[StreamPlan], list[Range]]:
    plans, _ = planning.make_plans(DRAWS, request)
    waves = planning.waves(plans, PlanLimits.of(request))
    return plans, [item for wave in waves for item in wave]


def units(plans: list[StreamPlan], ranges: list[Range], attack: str, call: object) -> int:
    return sum(
        hi - lo
        for number, lo, hi in ranges
        for plan in [plans[number].plan]
        if plan.attack == attack and call in plan.calls
    )


def test_default_plan_tries_all_seeds_of_usual_calls_and_costs_what_the_guide_says() -> None:
    plans, ranges = planned(default())
    for call in PLAIN:
        (whole,) = [p.plan for p in plans if p.plan.attack == "brute" and call in p.plan.calls]
        assert units(plans, ranges, "brute", call) == whole.units, call
    assert planning.cost_ms(plans, ranges) < 25 * 60_000


def test_calls_with_one_seeding_are_one_plan_that_counts_all_of_their_hypotheses() -> None:
    plans, _ = planned(default())
    (plan,) = [p.plan for p in plans if p.plan.attack == "brute" and
               ("php_mt", "bounded") in p.plan.calls]  # fmt: skip
    shared = {("php_mt_legacy", "bounded"), ("mt19937", "masked"), ("mt19937", "scaled")}
    assert shared <= set(plan.calls)
    assert plan.tried == len(plan.calls) << 32
    alone, _ = planned(default(families=("php_mt",), outputs=("bounded",)))
    (single,) = [p.plan for p in alone if p.plan.attack == "brute"]
    assert single.calls == (("php_mt", "bounded"),)
    assert single.cost_ms < plan.cost_ms < len(plan.calls) * single.cost_ms // 3


def test_call_of_a_shared_seeding_that_an_earlier_run_excluded_is_left_out() -> None:
    plans, _ = planned(default())
    (plan,) = [p.plan for p in plans if p.plan.attack == "brute" and
               ("php_mt", "bounded") in p.plan.calls]  # fmt: skip
    part = ExcludedPart("", "brute", "php_mt", "bounded", plan.covers, plan.units, plan.units)
    later, ranges = planned(default(excluded=(part,), after="head"))
    assert units(later, ranges, "brute", ("php_mt", "bounded")) == 0
    assert units(later, ranges, "brute", ("php_mt", "mod")) == plan.units


def test_cheap_states_come_before_seeds_and_seeds_before_the_exotic() -> None:
    plans, ranges = planned(default())
    order = [(plans[n].plan.attack, plans[n].plan.family, plans[n].plan.output) for n, *_ in ranges]
    assert order.index(("lanes", "java", "bounded")) < 40
    (php,) = {o for n, o in zip([n for n, *_ in ranges], order, strict=True)
              if o[0] == "brute" and ("php_mt", "bounded") in plans[n].plan.calls}  # fmt: skip
    last_of_php = len(order) - order[::-1].index(php)
    before = ranges[:last_of_php]
    exotic = planning.cost_ms(plans, [r for r in before if plans[r[0]].weight >= 256])
    assert exotic < planning.cost_ms(plans, before) // 20


@pytest.mark.parametrize("call", [("php_mt_52", "mod"), ("xorshift128", "high"), ("dotnet", "mod")])
def test_named_call_is_tried_with_all_its_seeds(call: tuple[str, str]) -> None:
    family, output = call
    plans, ranges = planned(default(families=(family,), outputs=(output,), max_cost_ms=1_000))
    (whole,) = [p.plan for p in plans if p.plan.attack == "brute"]
    assert units(plans, ranges, "brute", call) == whole.units


def test_parts_that_an_earlier_run_excluded_are_not_planned_again() -> None:
    plans, _ = planned(default())
    (plan,) = [p.plan for p in plans if p.plan.attack == "brute" and
               ("go", "bounded") in p.plan.calls]  # fmt: skip
    part = ExcludedPart("", plan.attack, plan.family, plan.output, plan.covers, plan.units, 1000)
    later, rest = planned(default(excluded=(part,), after="head"))
    assert units(later, rest, "brute", ("go", "bounded")) == plan.units - 1000
    other = ExcludedPart("", plan.attack, plan.family, plan.output, "else", plan.units, 1000)
    assert units(*planned(default(excluded=(other,))), "brute", ("go", "bounded")) == plan.units


def test_what_is_not_covered_is_said_in_the_words_of_calls() -> None:
    request = default(all_seeds=False, max_cost_ms=1_000)
    plans, gaps = planning.make_plans(DRAWS, request)
    _, ranges = planned(request)
    lines = uncovered_lines(conclude(request, plans, ranges, gaps, (), ()))
    text = "\n".join(lines)
    assert "Go rand.Intn(m): 0 % of the seeds were tried; --families go --outputs bounded" in text
    assert "Python random.randrange(m): 0 % of the seeds were tried" in text
    assert "output maps that no library offers: --effort all" in text
    assert "--after RUN" in text


def test_run_after_another_takes_over_what_it_excluded(tmp_path: Path) -> None:
    request = AnalyseRequest(
        1000, ("minstd",), ("mod",), (0, 1), (0, 1), max_cost_ms=300, all_seeds=False
    )
    first = execute(DRAWS, request, Execution(tmp_path / "first", backend="serial"))
    head = json.loads((tmp_path / "first" / "ledger.jsonl").read_text().splitlines()[0])
    assert head["body"]["config"]["args"]["settings"]["after"] == ""
    later = take_over(tmp_path / "first", DRAWS, request)
    assert later.after == first.head
    second = execute(DRAWS, later, Execution(tmp_path / "second", backend="serial"))
    before, after = (covered_ranges(tmp_path / name) for name in ("first", "second"))
    assert before
    assert after
    assert not before & after
    assert done_units(second) > done_units(first)
    with pytest.raises(RunMismatch, match="other draws"):
        take_over(tmp_path / "first", History(DRAWS.draws[1:]), request)
    with pytest.raises(RunMismatch, match="below 1000"):
        take_over(tmp_path / "first", DRAWS, AnalyseRequest(999))


def covered_ranges(run: Path) -> set[str]:
    """Return the ranges that the tasks of a run covered."""
    records = [json.loads(line)["body"] for line in (run / "ledger.jsonl").read_text().splitlines()]
    tasks = [body for body in records if body.get("function") == "prng.cover"]
    names = ("planned", "lo", "hi")
    return {json.dumps([body["args"][name] for name in names], sort_keys=True) for body in tasks}


def done_units(run: Run) -> int:
    answer = run.answer.detail
    return sum(item["done"] for item in (*answer["covered"], *answer["in_part"]))


@pytest.mark.slow
@pytest.mark.parametrize("call", PLAIN[:6])
def test_plain_31_bit_seed_of_a_usual_call_is_found_by_default(
    call: tuple[str, str], tmp_path: Path
) -> None:
    generated = generate(Hypothesis(*call, 1000, seed=1_815_492_673), 150)
    (tmp_path / "draws").write_text("".join(f"{draw}\n" for draw in generated[:100]))
    words = [*COMMAND, "prng", "analyse", str(tmp_path / "draws"), "--json", "-q"]
    result = subprocess.run([*words, "--workers", "2"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-500:] + result.stderr
    best = json.loads(result.stdout)["answer"]["found"][0]
    assert best["next"][:50] == generated[100:]


def test_named_generator_may_begin_with_more_wrong_draws_than_one_among_all() -> None:
    draws = tuple(at * at * 7919 % 1000 for at in range(100))
    quick, thorough = (window_of(r.case(draws)) for r in (default(), default(families=("java",))))
    assert quick is not None
    assert thorough is not None
    assert quick.sieved_wrong < thorough.sieved_wrong
    (among_all, *_), (named, *_) = (
        [p.plan for p in planned(request)[0] if (p.plan.attack, p.plan.family) == ("brute", "java")]
        for request in (default(), default(families=("java",)))
    )
    assert among_all.covers != named.covers  # what one has excluded, the other tries again


def test_usual_call_that_costs_too_much_has_likely_seeds_tried_and_is_named_as_left() -> None:
    plans, ranges = planned(default())
    (whole,) = [p.plan for p in plans if p.plan.attack == "brute"
                and ("lua54", "bounded") in p.plan.calls]  # fmt: skip
    assert 0 < units(plans, ranges, "brute", ("lua54", "bounded")) < whole.units


@pytest.mark.parametrize(
    ("draws", "modulus", "attack", "call", "units"),
    [
        (150, 10, "lanes", ("java", "bounded"), 4),
        (9500, 1000, "twister-rejection", ("mt19937", "masked"), 1),
        (9500, 1000, "twister-state", ("php_mt", "mod"), 3),
    ],
)
def test_states_are_promised_at_small_skips(
    draws: int, modulus: int, attack: str, call: tuple[str, str], units: int
) -> None:
    request = AnalyseRequest(modulus, max_cost_ms=0)
    plans, _ = planning.make_plans(History(chance(draws, modulus, 1)), request)
    of_plan = [(planned.plan.attack, planned.plan.calls[0]) for planned in plans]
    covered = [item for wave in planning.waves(plans, PlanLimits.of(request)) for item in wave]
    assert max(hi for number, _, hi in covered if of_plan[number] == (attack, call)) >= units
