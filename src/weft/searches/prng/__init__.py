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

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.searches.prng.library import Analysis, Generator, analyse, recover

__all__ = ["Analysis", "Generator", "analyse", "recover"]


def __getattr__(name: str) -> Any:
    """Load the library when it is first used: workers and `--help` need none of it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from weft.searches.prng import library  # noqa: PLC0415

    return getattr(library, name)
