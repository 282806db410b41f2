"""The environment variables of workers and coordinators.

None of them affects what is recorded. They specify the node's folders, the devices that a command
may see, and the secrets that a command requests by name.
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
"""Sums in BLAS depend on the number of threads; a single thread makes them reproducible."""


def environment() -> Mapping[str, str]:
    """Return the variables of this process."""
    return os.environ  # noqa: TID251 - the one place where it is read on a node


def set_environment(variables: Mapping[str, str]) -> None:
    """Replace this process's variables by those that a newly started one would have."""
    os.environ.clear()  # noqa: TID251
    os.environ.update(variables)  # noqa: TID251


def use_one_thread() -> None:
    """Make libraries that this process loads from now on compute in one thread."""
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))  # noqa: TID251
