"""Why a search ended: every stop is named after the limit that ended the search."""

from __future__ import annotations

import pytest

from tests.searches.tree.conftest import CONFIG, Wood
from weft.searches.tree.history import STOPS

pytestmark = pytest.mark.xdist_group("tree-stops")
DEEP = CONFIG.replace("max_depth = 1", "max_depth = 3")
COSTLY = """
import json, os
cost = {"usd": 0.5, "input_tokens": 10, "output_tokens": 5}
open(os.environ["WEFT_RESULT_FILE"], "w").write(json.dumps({"cost": cost}))
"""


REVIEW = ("--set", "review.argv=['{python}', '{work_dir}/cost.py']")
ONE = ("--set", 'ideas="one"')


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("--max-depth", "1", "--dry-run"), "max-depth"),
        (("--max-total-evals", "3", "--dry-run"), "max-total-evals"),
        (("--max-total-evals", "2", "--dry-run"), "max-total-evals"),
        (("--max-total-evals", "2", "--max-depth", "1", "--dry-run"), "max-total-evals"),
        (("--dry-run", *ONE), "no-ideas"),
        (("--set", 'direction="min"', *ONE), "empty-frontier"),
        (("--strict-fail-depth", "--set", 'ideas="broken"'), "strict-fail-depth"),
        (("--set", 'max_usd="0.5"', *REVIEW, *ONE), "max-usd"),
        (("--set", "max_tokens=15", *REVIEW, *ONE), "max-tokens"),
        (("--set", "score.argv=['/bin/false']"), "root-unscored"),
    ],
)
def test_search_that_ends_names_what_ended_it(
    wood: Wood, words: tuple[str, ...], name: str
) -> None:
    wood.plant(DEEP)
    wood.write("cost.py", COSTLY)
    wood.write("one/up.md", (wood.folder / "ideas/up-a.md").read_text())
    wood.write("broken/x.patch", "--- a/none\n+++ b/none\n@@ -1 +1 @@\n-a\n+b\n")
    result = wood.run("r", *words, "--json")
    answer = result.json["answer"]
    stopped = answer.get("detail", answer)["stopped"]
    assert stopped.partition(":")[0] == name
    assert wood.load("r").history.stopped == stopped
    assert stopped in (wood.folder / "r" / "TREE_SUMMARY.md").read_text()
    assert name in STOPS


def test_no_ideas_are_paid_for_when_no_eval_may_follow(wood: Wood) -> None:
    wood.plant(DEEP + '[propose]\nargv = ["{python}", "{work_dir}/propose.py"]\n')
    wood.write(
        "propose.py",
        "import os, pathlib, time\n"
        "pathlib.Path(os.environ['WEFT_IDEAS_DIR'], f'{time.time_ns()}.json').write_text("
        '\'{"file": "params.json", "values": {"b": 9}}\')\n',
    )
    result = wood.run("r", "--max-total-evals", "4", "--json")
    assert result.json["answer"]["stopped"].startswith("max-total-evals: ")
    tasks = wood.weft("status", "r", "--json").json["counts"]["completed"]
    assert tasks == 1 + 1 + 4 + 4, "the root, one proposal, four evals of two stages"
