"""Plant a bug of `campaigns.bugs` in a copy of the checkout and run the row's test there.

The copy has its own virtual environment, which finds the copied `src` and then the packages
installed here: everything that the test starts, in any environment, runs the bug. A test that fails
has noticed it; a test that hangs reaches its time limit, which is a failure too.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any

from campaigns.bugs import CONTROL, CONTROL_PARTS, PREFIX, Bug, all_tests, bug_named
from campaigns.output import tail_of

HANG_S = 600
"""Time limit of a test of a planted bug; a loaded machine takes minutes."""
COPIED = ("benchmarks", "campaigns", "docs", "examples", "src", "tests", "tools")
"""Folders of the copy, in addition to the files in the checkout's root."""
PASSED, FAILED = 0, 1
COMMAND = "import sys\nfrom weft.__main__ import main\nsys.exit(main())\n"


def run_planted(test: str, part: int, root: Path, folder: Path) -> dict[str, Any]:
    """Run the case of a planted bug; return its result for `campaigns.case`."""
    name = test.removeprefix(PREFIX)
    copy = copy_checkout(root, folder / "w")
    python = make_environment(copy, folder / "v")
    if name == CONTROL:
        result = run_tests(python, copy, all_tests(part, CONTROL_PARTS), folder)
        outcome = {PASSED: "passed", FAILED: "failed"}.get(result.returncode, "broken")
    else:
        bug = bug_named(name)
        plant(bug, copy)
        result = run_tests(python, copy, [bug.test], folder)
        outcome = {PASSED: "failed", FAILED: "passed"}.get(result.returncode, "broken")
        if outcome == "passed" and not has_failed(result.stdout):
            outcome = "broken"
    sys.stdout.write(result.stdout)
    why = "not noticed\n" if result.returncode == PASSED else ""
    words = "" if outcome == "passed" else why + tail_of(result.stdout, copy)
    return {"outcome": outcome, "figures": [], "said": words}


def has_failed(text: str) -> bool:
    """Whether pytest reports a failure; Python ends with the same code if pytest is missing."""
    return re.search(r"\d+ (failed|error)", text.rstrip().rpartition("\n")[2]) is not None


def copy_checkout(root: Path, copy: Path) -> Path:
    """Copy the files that tests need, without the git repository, builds and runs."""
    copy.mkdir()
    for name in COPIED:
        shutil.copytree(root / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in sorted(root.iterdir()):
        if path.is_file():
            shutil.copy2(path, copy / path.name)
    return copy


def plant(bug: Bug, root: Path) -> None:
    """Plant a bug in the source below `root`; raises ValueError unless its text occurs once."""
    path = root / bug.path
    text = path.read_text("utf-8")
    if text.count(bug.old) != 1:
        raise ValueError(f"{bug.path}: the text that {bug.name} replaces must be there once")
    path.write_text(text.replace(bug.old, bug.new), "utf-8")


def make_environment(copy: Path, folder: Path) -> Path:
    """Create a virtual environment in which `weft` is the copy; return its interpreter."""
    venv.create(folder, symlinks=True, with_pip=False)
    python = folder / "bin" / "python"
    own = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    paths = (copy / "src", sysconfig.get_path("purelib"))
    (own / "planted.pth").write_text("".join(f"{path}\n" for path in paths), "utf-8")
    command = python.with_name("weft")
    command.write_text(f"#!{python}\n{COMMAND}", "utf-8")
    command.chmod(0o755)
    return python


def run_tests(
    python: Path, copy: Path, tests: list[str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run tests in a copy, up to the first failure."""
    words = ["--chaos", "-x", "-q", f"--timeout={HANG_S}", "-p", "no:cacheprovider"]
    words += ["-o", "tmp_path_retention_policy=none", f"--basetemp={folder}/t"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    environment["PATH"] = os.pathsep.join((str(python.parent), environment.get("PATH", "")))
    return subprocess.run(
        [python, "-m", "pytest", *words, *tests],
        check=False, cwd=copy, env=environment, text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
