"""Kernels are compiled once per machine, not once per process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest

from weft.compiled import Kernels
from weft.searches.prng.families import FAMILIES, mt19937, php
from weft.searches.prng.kernels.compiled import step_kernel

FILL = """
import numpy as np
from weft.searches.prng.families import family_named
from weft.searches.prng.kernels.bulk import rows, rows_kernel
one, java = np.ones(1, np.int64), family_named("java")
rows(java, "bounded", 1000, one, one, one, 5)
stats = rows_kernel(java, "bounded").stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


COMPARED = """
import sys
from itertools import islice
import numpy as np
from weft.searches.prng.families import family_named
from weft.searches.prng.generate import draws
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.kernels import bulk
for call in sys.argv[1:]:
    name, output = call.split(".")
    family, gaps = family_named(name), np.zeros(700, np.int64)
    filled = bulk.fill(family, output, family.seeding(12345), 1000, gaps).tolist()
    assert filled == list(islice(draws(Hypothesis(name, output, 1000, seed=12345)), 700)), call
"""


def test_second_process_takes_a_loop_around_a_step_from_the_disk(tmp_path: Path) -> None:
    around = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    results = [
        subprocess.run([sys.executable, "-c", FILL], env=around, capture_output=True, check=True)
        for _ in range(2)
    ]
    assert [result.stdout.split() for result in results] == [[b"0", b"1"], [b"1", b"0"]]


def test_kernel_that_closes_over_something_is_refused(tmp_path: Path) -> None:
    step = np.uint64(3)

    def loop(count: int) -> int:
        return int(count * step)

    with pytest.raises(AssertionError, match="loop closes over something"):
        Kernels("tested", tmp_path).entry(loop)


WITHOUT_KERNELS = """
import sys
from weft.searches.prng import planning, search
from weft.searches.prng.attack import Units
from weft.searches.prng.attacks import attack_named
from weft.searches.prng.families import family_named
from weft.searches.prng.generate import generate
from weft.searches.prng.history import History
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.request import AnalyseRequest

for name, output, count in (("cpython", "raw", 633), ("v8", "scaled", 10)):
    draws = generate(Hypothesis(name, output, 1 << 32, seed=2**40 + 1), count)
    request = AnalyseRequest(1 << 32, (name,), skips=(0, 0), starts=(0, 0), corrupt_percent=0)
    plans, _ = planning.make_plans(History(tuple(draws)), request)
    number, lo, hi = planning.waves(plans)[0][0]
    plan = plans[number].plan
    case = request.case(draws)
    matches = attack_named(plan.attack).run(case, plan, Units(lo, hi))
    assert generate(matches[0].hypothesis, count) == draws, (name, plan)
print([module for module in ("numpy", "numba") if module in sys.modules])
"""


def test_states_read_off_few_draws_need_neither_numpy_nor_compiled_code() -> None:
    """Loading them takes longer than the whole attack."""
    argv = [sys.executable, "-c", WITHOUT_KERNELS]
    child = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (child.stdout, child.returncode) == ("[]\n", 0), child.stderr


def test_numba_is_loaded_without_what_it_only_looks_for() -> None:
    code = "import sys, weft.compiled; print([m for m in ('scipy', 'cffi') if m in sys.modules])"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert child.stdout == "[]\n"


def test_functions_that_close_over_other_parts_have_other_names() -> None:
    """Cached code is linked by name: PHP 5.2.1's twist was once called in place of PHP 7.1's."""
    assert kernel_name(php.step_legacy) != kernel_name(mt19937.step)
    functions = [f for family in FAMILIES for f in (family.step, *family.outputs.values())]
    by_name: dict[str, set[object]] = {}
    for function in functions:
        by_name.setdefault(kernel_name(function), set()).add(parts_of(function))
    assert [name for name, parts in by_name.items() if len(parts) > 1] == []


def kernel_name(function: object) -> str:
    return str(step_kernel(function).py_func.__qualname__)  # type: ignore[arg-type]


def parts_of(function: object) -> tuple[object, ...]:
    """The code of a function and, recursively, of everything that it closes over."""
    assert isinstance(function, FunctionType)
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    closed = [parts_of(part) if isinstance(part, FunctionType) else part for part in cells]
    return (function.__code__, function.__module__, *closed)


@pytest.mark.slow
def test_kernels_that_two_processes_compiled_work_together_in_a_third(tmp_path: Path) -> None:
    calls = ["php_mt.mod", "php_mt_legacy.mod"]
    for group in ([calls[0]], [calls[1]], calls, calls[::-1]):
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
        subprocess.run([sys.executable, "-c", COMPARED, *group], check=True, env=environment)
