"""`weft prng`: finds the generator and the seed that produced some draws, and what comes next.

    history    draws as read and checked           family      what a generator is
    hypothesis one way the draws may have arisen   families/   one module per generator
    generate   hypothesis → draws                  statistics  how surprising a match is
    intake     files of any form → draws           library     all of it from Python

`from weft.searches.prng import analyse, recover, Generator` is the library. Attacks, planner,
verdict and pipeline build on these. A search only decides; every number that costs time is
computed in tasks, and all arithmetic on results is done with integers.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["Analysis", "Generator", "analyse", "recover"]


def __getattr__(name: str) -> Any:
    """Load the library when it is first used; what a search decides with must not import it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("weft.searches.prng.library"), name)
