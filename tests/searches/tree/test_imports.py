"""--import-from: a new run reuses completed evals and executes none of them again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.searches.tree.conftest import SCORE, UNCONFINED, Wood, blocks
from tests.searches.tree.test_refusals import check_refused
from tests.searches.tree.test_runs import git

pytestmark = pytest.mark.xdist_group("tree-imports")
COUNTED = SCORE + "open('{place}', 'a').write(os.environ['WEFT_EVAL_ID'] + ' ')\n"


def plant(wood: Wood, config: str = UNCONFINED) -> Path:
    place = wood.folder / "scored"
    wood.plant(config, COUNTED.replace("{place}", str(place)))
    return place


def genesis(wood: Wood, out: str) -> Any:
    line = (wood.folder / out / "ledger.jsonl").read_text("utf-8").splitlines()[0]
    return json.loads(line)["body"]


def test_completed_evals_are_taken_over_and_only_new_ones_are_executed(wood: Wood) -> None:
    scored = plant(wood)
    old = wood.run("old", "--max-depth", "2", "--json").json
    ran_before = len(scored.read_text().split())
    wood.write("ideas/aa-new.md", blocks("b", 2, 9))  # changes the number of every eval
    result = wood.run(
        "new", "--max-depth", "2", "--beam-width", "2", "--import-from", "old", "--json"
    )
    assert result.code == 0, result
    executed = scored.read_text().split()[ran_before:]
    own = [f"e{e['eval_id']}" for e in result.json["evals"] if not e["imported"]]
    assert executed == ["root", *(name for name in own if name in executed)]
    imported = [e for e in result.json["evals"] if e["imported"]]
    assert {(e["depth"], e["idea_path"]) for e in imported} >= {
        (1, "up-a.md"), (1, "up-b.md"), (1, "down-b.md"), (2, "up-b.md"),
    }  # fmt: skip
    assert not {f"e{e['eval_id']}" for e in imported} & set(executed)
    assert result.json["answer"]["best_score"] == "59"
    assert f"from the run with the head {old['head']}" in wood.summary("new")
    bound = genesis(wood, "new")["config"]["args"]["imported"]
    assert (bound["head"], bound["size"]) == (old["head"], old["size"])


def test_imported_evals_lead_to_what_executing_them_would_for_any_number_and_after_a_stop(
    wood: Wood,
) -> None:
    plant(wood)
    assert wood.run("old").code == 0
    plain = wood.run("plain", "--max-depth", "2", "--json").json
    words = ("--max-depth", "2", "--import-from", "old")
    imported = wood.run("n1", *words, "--json").json
    assert imported["answer"] == plain["answer"]
    verdicts = [
        [(e["verdict"], e["score"], e["commit"], e["rank"]) for e in run["evals"]]
        for run in (plain, imported)
    ]
    assert verdicts[0] == verdicts[1]
    assert wood.weft("tree", "export", "n1", "--repo", "made").code == 0
    assert git(wood.folder / "made", "log", "--format=%s").split() == ["up-b.md", "up-a.md", "root"]
    assert wood.weft("verify", "n1").code == 0
    assert wood.run("n3", *words, "--max-parallel-evals", "3").code == 0
    assert wood.ledger("n1") == wood.ledger("n3")
    assert wood.run("cut", *words, "--wall-limit", "0.1").code == 130
    (wood.folder / "old").rename(wood.folder / "gone")  # resume reads only its own copies
    assert wood.weft("resume", "cut", "-q").code == 0
    assert wood.ledger("cut") == wood.ledger("n1")


def test_unfinished_run_is_imported_as_far_as_it_came(wood: Wood) -> None:
    plant(wood, UNCONFINED + '[sweep]\nargv = ["./not-there"]\n')
    assert wood.run("old").code == 130
    wood.write("tree.toml", UNCONFINED)
    result = wood.run("new", "--import-from", "old", "--json")
    assert result.code == 0, result
    assert [e["imported"] for e in result.json["evals"]] == [False, False, False]


def test_import_of_what_cannot_be_compared_is_refused(wood: Wood) -> None:
    plant(wood)
    assert wood.run("old").code == 0
    for change, reason in (
        (UNCONFINED.replace('"-I", ', '"-E", "-s", '), "score.argv is different"),
        (UNCONFINED.replace('["score.py"]', "[]"), "protected is different"),
    ):
        wood.write("tree.toml", change)
        check_refused(wood, 3, ["old cannot be imported", reason], "--import-from", "old")
    wood.write("tree.toml", UNCONFINED)
    check_refused(wood, 3, ["nowhere is not a run folder"], "--import-from", "nowhere")
    ledger = wood.folder / "old" / "ledger.jsonl"
    ledger.chmod(0o644)
    ledger.write_text(ledger.read_text("utf-8").replace('"52"', '"99"'), "utf-8")
    check_refused(wood, 5, ["record"], "--import-from", "old")
