"""`weft prng`: finds the generator and seed behind a sequence of draws and predicts the next ones.

    history    draws, parsed and checked           family      definition of a generator
    hypothesis one possible origin of the draws    families/   one module per generator
    generate   hypothesis → draws                  statistics  significance of a match
    intake     files of any form → draws           library     the Python interface

`from weft.searches.prng import analyse, recover, Generator` is the library. Attacks, planner,
verdict and pipeline build on these modules. A search only decides; all expensive computation
happens in tasks, and all arithmetic on results uses integers.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["Analysis", "Generator", "analyse", "recover"]


def __getattr__(name: str) -> Any:
    """Load the library on first use; code that a search decides with must not import it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("weft.searches.prng.library"), name)
