"""--validate-only: what is checked, with which outcome, and what it leaves behind."""

from __future__ import annotations

from typing import Any

import pytest

from tests.searches.tree.conftest import CONFIG, UNCONFINED, Wood
from tests.searches.tree.test_parity import COUNTING
from tests.searches.tree.test_runs import fingerprint
from weft.model.codec import from_json
from weft.searches.tree.checks import trial_checks
from weft.searches.tree.validation import RootTrial

pytestmark = pytest.mark.xdist_group("tree-validation")


def validate(wood: Wood, *words: str) -> tuple[int, dict[tuple[str, str], str]]:
    result = wood.weft("tree", "run", "tree.toml", "--validate-only", "--json", *words)
    checks = {(c["check"], c["outcome"]): c["detail"] for c in result.json["checks"]}
    return result.code, checks


def test_sound_config_is_checked_in_full_and_leaves_one_file_in_out(wood: Wood) -> None:
    wood.plant()
    before = fingerprint(wood.folder)
    code, checks = validate(wood)
    assert code == 0
    assert fingerprint(wood.folder) == before
    assert checks["score", "ok"] == "score 12, 1 of 1 rows"
    assert checks["same score", "ok"] == "2 scorings of the root agree"
    assert checks["ideas", "ok"] == "3 of 3 fit the root"
    assert checks["protected", "ok"] == "score.py: 1 file"
    assert validate(wood, "--out", "r")[0] == 0
    [file] = (wood.folder / "r").iterdir()
    assert "| same score | ok | 2 scorings of the root agree |" in file.read_text("utf-8")
    assert wood.run("r").code == 0, "a run may begin where it was checked"
    text = file.read_text("utf-8")
    assert "| score | ok | score 12, 1 of 1 rows |" in text
    assert "same score" not in text, "this run scored its root once"


def test_score_that_changes_breaks_the_promise_to_be_deterministic(wood: Wood) -> None:
    wood.plant(UNCONFINED, COUNTING.format(place=wood.folder / "count"))
    code, checks = validate(wood)
    assert code == 4
    assert "(scores 1, 2), and the config says deterministic" in checks["same score", "failed"]


@pytest.mark.parametrize(
    ("scorer", "reason"),
    [
        ("import sys; sys.exit(3)", "it printed nothing"),
        ("print(1)\nraise ValueError('no rows')", "ValueError: no rows"),
        ("print('score 3')", 'no score: print {"score": 1.5} as the last line of stdout'),
    ],
)
def test_scorer_that_fails_on_the_root_is_named_with_its_reason(
    wood: Wood, scorer: str, reason: str
) -> None:
    wood.plant(score=scorer)
    code, checks = validate(wood)
    assert code == 4
    assert checks["score", "failed"].startswith(f"fails on the root: score-invalid: {reason}")


def scored(score: str, ok: int = 1, **more: Any) -> dict[str, Any]:
    return {"score": score, "rows": {"ok": ok, "expected": 1}, **more}


@pytest.mark.parametrize(
    ("told", "check"),
    [
        ([scored("1", 0)] * 2, ("score", "failed")),
        ([scored("1"), scored("2")], ("same score", "warning")),
        ([scored("1", metrics={"a": "1"}), scored("1", metrics={})], ("same score", "warning")),
        ([scored("1"), scored("1")], ("same score", "ok")),
        ([{"error": "timeout"}, scored("1")], ("score", "failed")),
    ],
)
def test_scorings_of_the_root_are_judged(
    told: list[dict[str, Any]], check: tuple[str, str]
) -> None:
    answer = {"score": told, "sweep": [], "applied": {}}
    checks = trial_checks(from_json(RootTrial, answer), deterministic=False)
    assert check in [(c.check, c.outcome) for c in checks]


def test_what_looks_wrong_but_may_be_meant_is_a_warning(wood: Wood) -> None:
    wood.plant(CONFIG.replace('["score.py"]', '["tests/*.py"]'))
    wood.write("ideas/zz.md", (wood.folder / "ideas" / "up-a.md").read_text("utf-8"))
    wood.write("ideas/later.md", "FILE: none\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n")
    result = wood.weft("tree", "run", "tree.toml", "--validate-only")
    assert result.code == 0
    assert "warning protected   tests/*.py: no file of the root matches" in result.out
    assert "warning protected   score.py: part of the scorer, and ideas may change it" in result.out
    assert "warning ideas       same text as another: zz.md" in result.out
    assert "4 of 5 fit the root; these may fit later: later.md (apply-conflict)" in result.out


def test_missing_script_of_a_command_is_named_and_agents_are_not_run(wood: Wood) -> None:
    table = '[implement]\nargv = ["{python}", "{work_dir}/agent.py"]\n'
    wood.plant(CONFIG + table)
    code, checks = validate(wood)
    assert (code, checks["[implement]", "failed"]) == (4, "there is no agent.py")
    wood.write("agent.py", "raise SystemExit('it was run')")
    code, checks = validate(wood)
    assert code == 0
    assert "not run" in checks["[implement]", "ok"]
