"""Run one case in a separate process and write its result: `python -m campaigns.case`.

    python -m campaigns.case TEST PART PARTS RESULT

A failing test is a result, not an error: the campaign continues and its page names the test. A case
of `campaigns/bugs.py` plants a bug: it passes if the test fails (`campaigns.planting`).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from campaigns.bugs import PREFIX
from campaigns.output import tail_of
from campaigns.planting import run_planted
from campaigns.rows import is_shared
from weft.model.slots import VISIBLE_DEVICES

PASSED, FAILED = 0, 1
OUTCOMES = {PASSED: "passed", FAILED: "failed"}


def main(argv: list[str]) -> int:
    """Run the case and write its result as JSON."""
    test, part, parts, result = argv
    with tempfile.TemporaryDirectory(prefix="wc") as folder:
        if test.startswith(PREFIX):
            value = run_planted(test, int(part), Path.cwd(), Path(folder))
        else:
            value = run_test(test, f"{part}/{parts}", Path(folder))
        Path(result).write_text(json.dumps(value), "utf-8")
    return 0


def run_test(test: str, part: str, folder: Path) -> dict[str, Any]:
    """Run one part of a full test, with `folder` for all its files."""
    figures = folder / "figures.jsonl"
    environment = {name: text for name, text in os.environ.items() if name not in VISIBLE_DEVICES}
    environment |= {"WEFT_FIGURES": str(figures), "WEFT_PART": part}
    words = ["--chaos", "-s", "--timeout=0", "-q", "-rs", "-p", "no:cacheprovider"]
    words += ["-o", "tmp_path_retention_policy=none", f"--basetemp={folder}/t"]
    words += ["-p", "campaigns.share"] if is_shared(test) else []
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *words, test],
        check=False, env=environment, text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    sys.stdout.write(result.stdout)
    value = found(result, figures)
    counts_tests = "::" not in test or is_shared(test) or not value["figures"]
    if counts_tests and value["outcome"] == "passed":
        value["figures"].append({"campaign": test, "tests": passed_tests(result.stdout)})
    return value


def passed_tests(text: str) -> int:
    """Return the number of passed tests according to pytest."""
    match = re.search(r"(\d+) passed", text.rstrip().rpartition("\n")[2])
    return int(match[1]) if match else 0


def found(done: subprocess.CompletedProcess[str], figures: Path) -> dict[str, Any]:
    """Return a test's outcome and figures, and the end of its output unless it passed."""
    outcome = OUTCOMES.get(done.returncode, "broken")
    last = done.stdout.rstrip().rpartition("\n")[2]
    if outcome == "passed" and "passed" not in last:
        outcome = "skipped"
    rows = figures.read_text("utf-8").splitlines() if figures.exists() else []
    words = "" if outcome == "passed" else tail_of(done.stdout, Path.cwd())
    return {"outcome": outcome, "figures": [json.loads(row) for row in rows], "said": words}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
