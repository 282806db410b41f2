"""The environment of the process that runs tasks: of a worker, or of a node's actor.

Nothing in it decides what is recorded. It says where the node keeps things, which devices a
command may see, and the secrets that a command asks for by name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping


def environment() -> Mapping[str, str]:
    """Return the variables of this process."""
    return os.environ  # noqa: TID251 - the one place where it is read on a node


def set_environment(variables: Mapping[str, str]) -> None:
    """Give this process the variables that a process of its own would have started with."""
    os.environ.clear()  # noqa: TID251
    os.environ.update(variables)  # noqa: TID251
