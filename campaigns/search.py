"""The search: every case is a command, in the order of the rows; the ledger records the cases."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import weft
from weft.model.tasks import SearchBody

HERE = str(Path(__file__).resolve().parents[1])
"""The checkout of this package; `root` is the checkout whose tests are run."""
TIMEOUT_S = 4 * 3600.0
RESULT = "result.json"
VARIABLES = ("PATH", "HOME", "LANG")
"""Environment variables given to cases."""
OPTIONAL = ("WEFT_PRNG_ZOO",)
"""Environment variables given to cases if they are set."""


def read_result(run: Any) -> Any:
    """Return the result of a case without seconds, which differ from run to run."""
    result = json.loads(Path(run.out_dir, RESULT).read_text("utf-8"))
    for row in result["figures"]:
        row.pop("seconds", None)
    return result


@weft.search(version=1)
def faults(
    *,
    root: str,
    commit: str,
    cases: Sequence[dict[str, Any]],
    variables: Sequence[str] = VARIABLES,
) -> SearchBody:
    """Try all `cases` at a commit; the answer counts their outcomes."""
    results = yield weft.round([run_case(root, case, variables) for case in cases])
    ended: dict[str, int] = {}
    for result in results:
        outcome = "failed" if result.error else result.value["outcome"]
        ended[outcome] = ended.get(outcome, 0) + 1
    return {"commit": commit, **dict(sorted(ended.items()))}


def run_case(root: str, case: dict[str, Any], variables: Sequence[str] = VARIABLES) -> Any:
    """Return a case as a command in the root of the checkout."""
    words = [case["test"], str(case["part"]), str(case["parts"])]
    return weft.command(
        ["{python}", "-m", "campaigns.case", "{test}", "{part}", "{parts}", "{out_dir}/" + RESULT],
        args=dict(zip(("test", "part", "parts"), words, strict=True)),
        cwd=root, timeout_s=TIMEOUT_S, collect=read_result,
        env={"PYTHONPATH": HERE}, env_from=list(variables),
    )  # fmt: skip
