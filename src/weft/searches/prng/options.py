"""Options that commands of `weft prng` share, those of the pipeline, and readers of ranges."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from weft.console import options
from weft.errors import UsageError

MAX_SKIP = 100_000
MAX_START = 10_000_000
MAX_MODULUS = 1 << 32
"""A modulus is a word of the generators' arithmetic."""

Modulus = Annotated[int, options.decision("M", "Draws are from 0 to M-1.")]

DrawsOrNone = Annotated[
    str | None,
    typer.Argument(
        metavar="[DRAWS]",
        help="CSV, JSON or bare integers, oldest first; - for stdin. Not needed with --from.",
    ),
]
PlanModulus = Annotated[int | None, options.decision("M", "Draws are from 0 to M-1 (1000).")]
Family = Annotated[str | None, options.decision("NAME", "The generator to sieve (java).")]
Output = Annotated[
    str | None, options.decision("MAP", "How its outputs become draws (its first map).")
]
Seeds = Annotated[
    str | None, options.decision("N|LO:HI", "Seeds 0 to N-1, or LO to HI-1 (100000).")
]
PlanSkips = Annotated[
    str | None, options.decision("LO:HI", "Calls skipped before each draw (0:5).")
]
PlanStarts = Annotated[
    str | None, options.decision("LO:HI", "Calls before a window's first draw (0:200).")
]
WindowTrials = Annotated[int | None, options.decision("N", "Trials of step 1 (8).")]
ScorerTrials = Annotated[int | None, options.decision("N", "Trials of step 2.5 (8).")]
ModelTrials = Annotated[
    int | None, options.decision("N", "Trials of step 5 per kind of model (4).")
]
Model = Annotated[
    str | None,
    options.decision(
        "auto|neural_net|xgboost|lightgbm|random_forest",
        "The kind of model; auto compares all four (auto).",
    ),
]
Net = Annotated[
    str | None,
    options.decision("sklearn|torch", "Who trains the neural net; torch is an extra (sklearn)."),
]
TopK = Annotated[int | None, options.decision("N", "Survivors of a stream that vote (20).")]
Nulls = Annotated[
    int | None, options.decision("N", "Reruns on histories without signal, 99 or more (99).")
]
Params = Annotated[
    Path | None,
    options.decision("FILE", "Training parameters for step 4, as adapt --apply writes them."),
]
To = Annotated[
    str | None, options.runtime("STEP", "Pause after a step: 1, 2.5, 3, 4, 5 or 6.", "--to")
]
From = Annotated[
    tuple[str, str] | None,
    options.decision(
        "STEP RUN", "Begin a new run at a step, with what an earlier run left before it.", "--from"
    ),
]
JsonExport = Annotated[
    bool,
    options.output(
        None,
        "Also write survivors_with_scores.json and train_history.json into the run.",
        "--json-export",
    ),
]


def check_modulus(modulus: int) -> None:
    """Refuse a modulus that no generator can have."""
    if not 2 <= modulus <= MAX_MODULUS:
        raise UsageError(f"--modulus must be 2 to {MAX_MODULUS}, not {modulus}")


def read_range(option: str, text: str, most: int) -> tuple[int, int]:
    """Read `LO:HI` or one number; both ends count."""
    match = re.fullmatch(r"(-?[0-9]{1,20})(?::(-?[0-9]{1,20}))?", text, re.ASCII)
    if match is None:
        raise UsageError(f"{option} takes LO:HI or a number, not {text[:40]!r}")
    least, greatest = int(match[1]), int(match[2] or match[1])
    if not 0 <= least <= greatest <= most:
        raise UsageError(f"{option} must lie within 0:{most} and rise, not {text!r}")
    return least, greatest


def read_range_or_none(option: str, text: str | None, most: int) -> tuple[int, int] | None:
    """Read a range that may be left out."""
    return None if text is None else read_range(option, text, most)


def read_seeds(text: str) -> tuple[int, int]:
    """Read `N`, the seeds below it, or `LO:HI`, those from one to below the other."""
    match = re.fullmatch(r"(?:([0-9]{1,20}):)?([0-9]{1,20})", text, re.ASCII)
    if match is None:
        raise UsageError(f"--seeds takes N or LO:HI, not {text[:40]!r}")
    least, end = int(match[1] or 0), int(match[2])
    if least >= end:
        raise UsageError(f"--seeds {text} is empty: LO:HI are the seeds from LO to HI - 1")
    return least, end
