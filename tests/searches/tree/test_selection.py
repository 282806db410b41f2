"""Gate, rank and selection on recorded values alone: exact decimals, no process, no file."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from tests.searches.tree.conftest import CONFIG, Wood
from weft.searches.tree.config import Idea, MetricObjective, Stage, TreeConfig
from weft.searches.tree.decide import gain_rules, gate, ranked
from weft.searches.tree.history import Eval, TreeHistory, TreeNode
from weft.searches.tree.objectives import pareto_front
from weft.searches.tree.results import Candidate, StageResult, read_stage
from weft.searches.tree.scorings import first_round, median_of, settled
from weft.searches.tree.selection import select

pytestmark = pytest.mark.xdist_group("tree")
PLAIN = TreeConfig({"score": Stage(("true",))})
TWO = replace(
    PLAIN, objectives=(MetricObjective("mem", "min"), MetricObjective("deep.ms", "min", "0.5"))
)


def scored(score: str, **more: Any) -> StageResult:
    return read_stage(StageResult, {"score": score, "seal": "s", **more})


def node(score: str, number: int = 0, **more: Any) -> TreeNode:
    return TreeNode(number, "c", "t", 0, (), scored(score, **more))


def make_eval(
    number: int, score: str, parent: TreeNode | None = None, files: tuple[str, ...] = ("a",),
    **more: Any,
) -> Eval:  # fmt: skip
    item = Eval(number, parent or node("0"), Idea(f"i{number}", "patch", "d"), 1)
    item.candidate = Candidate({}, f"t{number}", f"c{number}", files)
    item.result = scored(score, **more)
    return item


def refusal(result: StageResult, parent: TreeNode, config: TreeConfig, band: str = "0") -> str:
    rules = gain_rules(result, parent, config, Decimal(band))
    return next((rule.name for rule in rules if not rule.passed), "")


@pytest.mark.parametrize(
    ("score", "fields", "verdict"),
    [
        ("10", {}, "no-gain"),
        ("10.000000000000000000000000000000000000001", {}, ""),
        ("9.999999999999999999999999999999999999999", {}, "regressed"),
        ("10", {"min_gain": "0"}, ""),
        ("10.1", {"min_gain": "0.1"}, ""),
        ("10.0999999999999999999999999999999999999", {"min_gain": "0.1"}, "no-gain"),
        ("10.3", {"min_relative_gain": "0.03"}, ""),
        ("10.29", {"min_relative_gain": "0.03"}, "no-gain"),
        ("10.3", {"min_relative_gain": "0.03", "min_gain": "0.31"}, "no-gain"),
        ("9.7", {"min_relative_gain": "0.03", "direction": "min"}, ""),
        ("9.71", {"min_relative_gain": "0.03", "direction": "min"}, "no-gain"),
    ],
)
def test_gain_over_the_parent_is_judged_to_the_last_digit(
    score: str, fields: dict[str, Any], verdict: str
) -> None:
    assert refusal(scored(score), node("10"), replace(PLAIN, **fields)) == verdict


def test_relative_gain_is_a_share_of_the_size_of_a_negative_score() -> None:
    config = replace(PLAIN, min_relative_gain="0.1")
    assert refusal(scored("-9"), node("-10"), config) == ""
    assert refusal(scored("-9.1"), node("-10"), config) == "no-gain"
    assert refusal(scored("10.5"), node("10"), PLAIN, band="0.5") == "within-noise"


@pytest.mark.parametrize(
    ("sweep", "score", "verdict"),
    [((4, 4), (2, 2), ""), ((3, 4), (2, 2), "incomplete"), ((4, 4), (1, 2), "incomplete")],
)
def test_rows_of_sweep_and_score_must_both_be_complete(
    sweep: tuple[int, int], score: tuple[int, int], verdict: str
) -> None:
    item = make_eval(1, "5", rows={"ok": score[0], "expected": score[1]})
    item.sweep = read_stage(StageResult, {"rows": {"ok": sweep[0], "expected": sweep[1]}})
    rules = gate(item, PLAIN, TreeHistory())
    assert next((rule.name for rule in rules if not rule.passed), "") == verdict
    assert [rule.detail.split(":")[0] for rule in rules if rule.name == "incomplete"] == [
        "sweep",
        "score",
    ]


def test_siblings_with_one_score_take_one_place_and_cousins_keep_theirs() -> None:
    first, second = node("0", 1), node("0", 2)
    evals = [make_eval(1, "5", first), make_eval(2, "5.0", first), make_eval(3, "5", second)]
    chosen = select(ranked(evals, PLAIN), PLAIN)
    assert [e.eval_id for e in chosen] == [1, 3]
    assert evals[1].verdict == "same score as e1"
    everyone = replace(PLAIN, equal_siblings="all")
    for item in evals:
        item.passed_over = ""
    assert [e.eval_id for e in select(ranked(evals, everyone), everyone)] == [1, 2, 3]


def test_parent_has_no_more_children_than_allowed_and_others_move_up() -> None:
    first, second = node("0", 1), node("0", 2)
    evals = [make_eval(n, str(9 - n), first) for n in (1, 2, 3)] + [make_eval(4, "1", second)]
    config = replace(PLAIN, max_children_per_parent=2)
    assert [e.eval_id for e in select(ranked(evals, config), config)] == [1, 2, 4]
    assert evals[2].verdict == "max_children_per_parent"


def test_novelty_prefers_files_that_nobody_before_changes_and_then_fills_up() -> None:
    files = [("a",), ("a",), ("a", "b"), ("a", "b")]
    evals = [make_eval(n, str(9 - n), files=names) for n, names in enumerate(files, 1)]
    config = replace(PLAIN, novelty="files", beam_width=2)
    assert [e.eval_id for e in select(evals, config)] == [1, 3]
    assert [e.eval_id for e in select(evals, replace(config, beam_width=3))] == [1, 2, 3]
    assert [e.eval_id for e in select(evals, PLAIN)] == [1, 2, 3]


def metrics(mem: str, ms: str) -> dict[str, Any]:
    return {"metrics": {"mem": mem, "deep": {"ms": ms}}}


def test_pareto_ranks_by_fronts_and_objectives_take_turns_within_one() -> None:
    evals = [
        make_eval(1, "9", **metrics("9", "9")),
        make_eval(2, "8", **metrics("5", "9")),
        make_eval(3, "1", **metrics("9", "1")),
        make_eval(4, "8", **metrics("6", "9")),  # dominated by 2
        make_eval(5, "8.5", **metrics("7", "5")),
    ]
    assert [e.eval_id for e in ranked(evals, TWO)] == [1, 2, 3, 5, 4]
    nodes = [
        replace_node(n, e) for n, e in enumerate(evals)
    ]  # fmt: skip
    assert [n.node_id for n in pareto_front(nodes, TWO)] == [0, 1, 2, 4]


def replace_node(number: int, item: Eval) -> TreeNode:
    return TreeNode(number, "c", "t", 1, (), item.result)


@pytest.mark.parametrize(
    ("score", "mem", "ms", "verdict"),
    [
        ("10", "5", "5", "dominated"),
        ("9", "4.9", "9", ""),
        ("9", "5", "4.5", ""),
        ("9", "5", "4.51", "dominated"),
        ("11", "9", "9", ""),
        ("11", "no number", "9", "metric-missing"),
    ],
)
def test_pareto_gate_asks_for_a_gain_in_one_objective(
    score: str, mem: str, ms: str, verdict: str
) -> None:
    parent = node("10", **metrics("5", "5"))
    assert refusal(scored(score, **metrics(mem, ms)), parent, TWO) == verdict


# -- repeats ------------------------------------------------------------------------------------


def never(_: StageResult) -> bool:
    return False


def score_of(result: StageResult | None) -> str | None:
    return None if result is None else result.score


@pytest.mark.parametrize(
    ("scores", "median"),
    [
        (["3", "3"], "3"),  # two of three agree: the third cannot move the median
        (["3", "4"], None),
        (["3", "4", "9"], "4"),
        (["3", "4", "3.0"], "3"),
    ],
)
def test_median_of_three_is_known_as_soon_as_the_rest_cannot_change_it(
    scores: list[str], median: str | None
) -> None:
    assert score_of(settled([scored(s) for s in scores], 3, "max", never)) == median


def test_candidate_that_cannot_pass_any_more_is_not_scored_again() -> None:
    scorings = [scored("3"), scored("4"), scored("5")]

    def below_six(result: StageResult) -> bool:
        return result.decimal < 6

    assert score_of(settled(scorings, 5, "max", below_six)) == "5"  # the best possible median
    assert settled([*scorings[:2], scored("7")], 5, "max", below_six) is None
    assert settled(scorings[:2], 5, "max", below_six) is None
    broken = scored("9", rows={"ok": 1, "expected": 2})
    assert settled([scorings[0], broken], 5, "max", never) is broken


def test_first_round_and_median_of_the_root() -> None:
    assert [first_round(n) for n in (1, 3, 5, 7)] == [1, 2, 3, 4]
    assert median_of([scored(s) for s in ("1", "9", "2", "8")], "max").score == "8"
    assert median_of([scored(s) for s in ("1", "9", "2")], "min").score == "2"


# -- with a run ---------------------------------------------------------------------------------

NOISY = """
import json, os
body = json.load(open("params.json"))
noise = int(os.environ["WEFT_SEED"][-1]) % 2 if body["b"] == 7 else 0
print(json.dumps({"score": body["a"] * 10 + body["b"] + noise, "metrics": {"b": body["b"]}}))
"""


def count(wood: Wood, out: str) -> dict[str, int]:
    return {e.idea.name: len(e.scorings) for e in wood.load(out).history.at(1)}


def test_repeats_score_what_is_open_again_with_one_ledger_for_any_parallelism(wood: Wood) -> None:
    wood.plant(CONFIG.replace("max_depth = 1", "max_depth = 2"), NOISY)
    for number in (1, 2):
        words = ("--set", "repeats=5", "--max-parallel-evals", str(number))
        assert wood.run(f"r{number}", *words).code == 0
    assert wood.ledger("r1") == wood.ledger("r2")
    counts = count(wood, "r1")
    assert counts["up-a.md"] == 3
    assert counts["down-b.md"] == 3
    assert "scored 3 times: 52, 52, 52; 52 counts" in wood.weft("tree", "why", "r1", "e2").out
    assert [len(wood.load("r1").history.root_scores)] == [5]


def test_target_and_patience_end_a_search_with_their_reason(wood: Wood) -> None:
    wood.plant()
    words = ("--max-depth", "3", "--json", "--set")
    answer = wood.run("t", *words, "target_score=52").json["answer"]
    assert answer["stopped"] == "target-score: n1 has 52"
    assert (answer["best_score"], answer["depth"]) == ("52", 1)
    reached = wood.run("u", *words, "target_score=12")
    assert (reached.code, reached.json["answer"]["detail"]["evals"]) == (1, 0)
    wood.write("start/params.json", '{\n  "a": 1,\n  "b": 2,\n  "c": 0\n}\n')
    table = '[[parameters]]\nfile = "params.json"\nkey = "c"\nvalues = [1, 2, 3]\n'
    wood.write("tree.toml", "min_gain = 0\nbeam_width = 1\n" + CONFIG + table)
    answer = wood.run("p", "--max-depth", "9", "--json", "--set", "patience=2").json["answer"]
    assert answer["stopped"] == "patience: no better score in 2 depths"
    assert (answer["best_score"], answer["depth"]) == ("52", 3)


def test_pareto_run_names_its_front_and_a_root_without_the_metric_is_reported(wood: Wood) -> None:
    objectives = '[[objectives]]\nmetric = "b"\ndirection = "min"\n'
    wood.plant(CONFIG + objectives, NOISY)
    result = wood.run("r", "--json")
    assert result.json["answer"]["pareto"] == ["n1", "n2"]
    verdicts = wood.verdicts("r")
    assert (verdicts["up-a.md"], verdicts["down-b.md"]) == ("promoted n1", "promoted n2")
    wood.write("tree.toml", CONFIG + objectives.replace('"b"', '"none"'))
    result = wood.run("s", "--json")
    assert result.code == 4
    assert "metric-missing: n0 reports no none" in result.json["answer"]["detail"]["stopped"]


def test_several_roots_are_expanded_and_the_best_of_them_is_the_one_to_beat(wood: Wood) -> None:
    wood.plant(CONFIG.replace('files = "start"', 'files = ["start", "other"]'))
    wood.write("other/params.json", '{\n  "a": 1,\n  "b": 5\n}\n')
    wood.write("other/score.py", (wood.folder / "start/score.py").read_text())
    for number in (1, 2):
        result = wood.run(f"r{number}", "--json", "--max-parallel-evals", str(number))
        assert result.code == 0, result
    assert wood.ledger("r1") == wood.ledger("r2")
    answer = result.json["answer"]
    assert (answer["root_score"], answer["best_score"], answer["path"]) == ("15", "55", ["up-a.md"])
    assert wood.weft("tree", "export", "r1", "--repo", "made").code == 0
    assert '"b": 5' in (wood.folder / "made" / "params.json").read_text()
    plan = wood.weft("tree", "plan", "tree.toml", "--json").json
    assert [e["parent_node_id"] for e in plan["evals"]] == [0, 0, 0, 1, 1, 1]
    wood.write("other/score.py", "print(1)\n")
    result = wood.run("r3")
    assert (result.code, "n1 has a different score.py" in result.err) == (3, True)


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("repeats=2", "an odd number from 1 to 999"),
        ("repeats=0", "greater than or equal to 1"),
        ("min_gain=-1", "not negative"),
        ("min_gain=0.5", "a decimal in quotes"),
        ('min_relative_gain="1.5"', "a share from"),
        ("patience=0", "greater than or equal to 1"),
        ("max_children_per_parent=0", "greater than or equal to 1"),
        ('novelty="words"', "'off' or 'files'"),
        ('merge="ours"', "'three-way' or 'off'"),
        ('target_score="inf"', "must be a whole number"),
        ('equal_siblings="none"', "'once' or 'all'"),
        ('objectives=[{metric="a", direction="min"}, {metric="a", direction="max"}]', "twice"),
        ('submodules="all"', "'refuse' or 'empty'"),
        ("files=[]", "at least 1"),
    ],
)
def test_value_that_makes_no_sense_is_refused_with_its_range(
    wood: Wood, setting: str, problem: str
) -> None:
    wood.plant()
    result = wood.run("r", "--set", setting)
    assert result.code in (2, 3), result
    assert problem in result.err
    assert len(result.err.strip().splitlines()) <= 2
    assert not (wood.folder / "r").exists()
