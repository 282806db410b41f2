"""`weft prng analyse` as functions: from draws and a request to a finished run.

load_draws  reads the draws               take_over  adds what an earlier run has excluded
estimate_s  estimates the cost of a plan  execute    starts or resumes the run
"""

from __future__ import annotations

import hashlib
import shlex
import sys
from dataclasses import replace
from pathlib import Path

from weft.errors import FileInvalid, InputError, RunMismatch
from weft.lazy_imports import lazy_imports
from weft.model.codec import to_json
from weft.runs.execution import Execution
from weft.runs.outcome import Run
from weft.runs.run import Watcher, real_place, run_search
from weft.searches.prng import planning
from weft.searches.prng.devices import has_gpu
from weft.searches.prng.history import MAX_BYTES, History, read_history
from weft.searches.prng.intake import AUTO, read_draws
from weft.searches.prng.records import advised, unpacked
from weft.searches.prng.request import AnalyseRequest, ExcludedPart
from weft.searches.prng.search import NAME, analyse

with lazy_imports():
    from weft.inspect import verify
    from weft.inspect.report import view
    from weft.searches.prng import report


def load_history(source: str) -> tuple[History, str]:
    """Read whole numbers from a file, or from standard input if `source` is `-`."""
    data, where = load_bytes(source)
    with advised("draws are one whole number per row, oldest first, as CSV, JSON or text"):
        return read_history(unpacked(data, where), where), where


def load_draws(
    source: str, form: str = AUTO, column: str | None = None, alphabet: str | None = None
) -> tuple[History, str]:
    """Return draws of any form, and the name of their source."""
    data, where = load_bytes(source)
    with advised(f"weft prng guess {shlex.quote(source)} says what can be read"):
        return read_draws(data, where, form, column, alphabet), where


def load_bytes(source: str) -> tuple[bytes, str]:
    """Return the bytes of a file, or of standard input if `source` is `-`, and its name."""
    if source == "-":
        return sys.stdin.buffer.read(MAX_BYTES + 1), "standard input"
    try:
        with Path(source).open("rb") as file:  # not read_bytes: a device may be endless
            return file.read(MAX_BYTES + 1), source
    except FileNotFoundError:
        raise FileInvalid(
            f"{source}: there is no such file", hint="name a file of draws, or - for standard input"
        ) from None
    except IsADirectoryError:
        raise FileInvalid(f"{source or '.'}: is a folder; name the file with the draws") from None


def check_device(execution: Execution) -> None:
    """Refuse `--device gpu` without a usable GPU, except on a cluster, whose nodes may have one."""
    if execution.device == "gpu" and execution.backend != "ray" and not has_gpu():
        raise InputError(
            "--device gpu: this machine has no GPU that CuPy can use",
            hint="leave it out, or pip install 'weft[gpu]' where there is one",
        )


def take_over(path: Path, history: History, request: AnalyseRequest) -> AnalyseRequest:
    """Add to the request what a finished run on the same draws has excluded, and its head.

    Raises InputError if the run is not finished, RunMismatch if its draws or modulus differ.
    """
    earlier = view.view_of(path, NAME, "weft prng analyse")
    checked = verify.verify(path, real_place().heads)
    answer = report.answer_of(earlier)
    if answer is None:
        raise InputError(f"{path} is not finished", hint=f"weft resume {path}")
    if earlier.genesis()["inputs"]["history"] != hashlib.sha256(history.canonical()).hexdigest():
        raise RunMismatch(f"--after {path}: that run was on other draws", hint="leave it out")
    if answer.modulus != request.modulus:
        raise RunMismatch(
            f"--after {path}: that run was on draws below {answer.modulus}",
            hint=f"give --modulus {answer.modulus}",
        )
    excluded = tuple(
        ExcludedPart(i.stream, i.attack, i.family, i.output, i.covers, i.units, i.done)
        for i in (*answer.covered, *answer.in_part)
    )
    return replace(request, after=checked.root, excluded=excluded)


def estimate_s(history: History, request: AnalyseRequest) -> int:
    """Return the estimated maximum cost of the plan, in seconds on one core."""
    plans, _ = planning.make_plans(history, request)
    waves = planning.waves(plans, planning.PlanLimits.of(request))
    return -(-planning.cost_ms(plans, [item for wave in waves for item in wave]) // 1000)


def execute(
    history: History, request: AnalyseRequest, execution: Execution, watcher: Watcher | None = None
) -> Run:
    """Run the search with the given execution."""
    inputs = {"history": history.canonical()}
    return run_search(analyse(to_json(request)), execution, inputs=inputs, watcher=watcher)
