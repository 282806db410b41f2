"""The environment of the processes that run tasks and decide about them.

Nothing in it decides what is recorded. It says where the node keeps things, which devices a
command may see, and the secrets that a command asks for by name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "POLARS_MAX_THREADS",
)
"""Sums in BLAS depend on the number of threads; one thread keeps them the same."""


def environment() -> Mapping[str, str]:
    """Return the variables of this process."""
    return os.environ  # noqa: TID251 - the one place where it is read on a node


def set_environment(variables: Mapping[str, str]) -> None:
    """Give this process the variables that a process of its own would have started with."""
    os.environ.clear()  # noqa: TID251
    os.environ.update(variables)  # noqa: TID251


def use_one_thread() -> None:
    """Have the libraries that this process loads from now on compute in one thread."""
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))  # noqa: TID251
