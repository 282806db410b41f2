"""`weft prng analyse` as one function: from draws and settings to a finished run."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weft.errors import FileInvalid, InputError, UsageError
from weft.prng.analyse import analyse
from weft.prng.families import ALL as FAMILIES
from weft.prng.families import family_named
from weft.prng.history import History, read_history
from weft.prng.planning import Settings
from weft.prng.scoring import split
from weft.prng.statistics import hits_needed
from weft.wiring.outcome import Run
from weft.wiring.run import run

FEWEST_TRIED = 2**32
"""What the smallest search worth the name tries: every 32-bit seed of one generator."""
MOST_DRAWS_ASKED = 10_000


def load_history(source: str) -> tuple[History, str]:
    """Read draws from a file, or from standard input when `source` is `-`; with its name."""
    if source == "-":
        return read_history(sys.stdin.buffer.read(), "standard input"), "standard input"
    path = Path(source)
    try:
        return read_history(path.read_bytes(), source), source
    except FileNotFoundError:
        raise FileInvalid(f"{source}: there is no such file") from None
    except IsADirectoryError:
        raise FileInvalid(f"{source}: is a folder; name the file with the draws") from None


def check(history: History, where: str, settings: Settings) -> None:
    """Refuse settings that contradict themselves or the draws, and draws that are too few."""
    chosen = [family_named(name) for name in settings.families] or list(FAMILIES)
    known = [output for family in chosen for output in family.outputs]
    for output in settings.outputs:
        if output not in known:
            raise UsageError(f"none of the generators has an output map {output!r}")
    if settings.modulus < 2:
        raise UsageError(f"--modulus must be 2 or more, not {settings.modulus}")
    for row, draw in enumerate(history.draws, 1):
        if draw >= settings.modulus:
            raise FileInvalid(
                f"{where}: draw {row} is {draw}, not below the modulus {settings.modulus}",
                hint=f"weft prng analyse {where} --modulus {max(history.draws) + 1}",
            )
    needed = draws_needed(settings)
    if len(history) < needed:
        raise InputError(
            f"{where}: {len(history)} draws below {settings.modulus} identify no generator;"
            f" at least {needed} are needed"
        )


def draws_needed(settings: Settings) -> int:
    """Return the fewest draws that could prove a 32-bit seed, in training and in the holdout."""
    for count in range(1, MOST_DRAWS_ASKED):
        train, held = split((0,) * count)
        m, alpha = settings.modulus, settings.alpha_evidence
        if hits_needed(len(train), m, FEWEST_TRIED, alpha) is None:
            continue
        if hits_needed(len(held), m, 1, alpha) is not None:
            return count
    return MOST_DRAWS_ASKED


def carry_out(history: History, settings: Settings, execution: Mapping[str, Any]) -> Run:
    """Run the search; `execution` are the options of `weft.run` that decide nothing."""
    inputs = {"history": history.canonical()}
    return run(analyse(settings.to_dict()), inputs=inputs, **execution)
