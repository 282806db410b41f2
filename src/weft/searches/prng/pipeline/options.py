"""Options of `weft prng pipeline`, checked, and what they change of a request."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from weft.console import options
from weft.errors import InputError, UsageError
from weft.lazy_imports import lazy_imports
from weft.searches.prng.options import read_range
from weft.searches.prng.pipeline.steps import DECIDED, STEPS

with lazy_imports():
    from weft.searches.prng.pipeline import request as requests

EXTRA = ("lightgbm", "optuna", "polars", "sklearn", "xgboost")

DrawsOrNone = Annotated[
    str | None,
    typer.Argument(
        metavar="[DRAWS]",
        help="CSV, JSON or bare integers, oldest first; - for stdin. Not needed with --from.",
    ),
]
ModulusOrNone = Annotated[int | None, options.decision("M", "Draws are from 0 to M-1 (1000).")]
Family = Annotated[str | None, options.decision("NAME", "The generator to sieve (java).")]
Output = Annotated[
    str | None, options.decision("MAP", "How its outputs become draws (its first map).")
]
Seeds = Annotated[
    str | None, options.decision("N|LO:HI", "Seeds 0 to N-1, or LO to HI-1 (100000).")
]
SkipsOrNone = Annotated[
    str | None, options.decision("LO:HI", "Calls skipped before each draw (0:5).")
]
StartsOrNone = Annotated[
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineOptions:
    """What decides a run; None is what the earlier run had, or what is usual."""

    modulus: ModulusOrNone = None
    family: Family = None
    output: Output = None
    seeds: Seeds = None
    skips: SkipsOrNone = None
    starts: StartsOrNone = None
    window_trials: WindowTrials = None
    scorer_trials: ScorerTrials = None
    model_trials: ModelTrials = None
    model: Model = None
    net: Net = None
    top_k: TopK = None
    nulls: Nulls = None

    def changes(self) -> requests.PipelineChanges:
        """Return what was given of a request."""
        return requests.PipelineChanges(
            modulus=self.modulus,
            family=self.family,
            output=self.output,
            seeds=None if self.seeds is None else _read_seeds(self.seeds),
            skips=_read_range("--skips", self.skips, requests.MAX_SKIP),
            starts=_read_range("--starts", self.starts, requests.MAX_START),
            window_trials=self.window_trials,
            scorer_trials=self.scorer_trials,
            model_trials=self.model_trials,
            model=self.model,
            net=self.net,
            top_k=self.top_k,
            nulls=self.nulls,
        )

    def check_installed(self) -> None:
        """Name what to install when the extra that the pipeline needs is not there."""
        check_extra(*(("torch",) if self.net == "torch" else ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOptions:
    """The steps at which a run begins and pauses."""

    from_: From = None
    to: To = None

    def check(self, given: Sequence[str]) -> None:
        """Refuse steps that are none, an end before the beginning, options of steps left out."""
        first = _place("--from", STEPS[0] if self.from_ is None else self.from_[0])
        if self.to is not None and _place("--to", self.to) < first:
            raise UsageError(
                f"--to {self.to} lies before --from {STEPS[first]}", hint="leave one of them out"
            )
        for name in given:
            if first > STEPS.index(DECIDED[name]):
                raise UsageError(
                    f"--{name.replace('_', '-')} belongs to step {DECIDED[name]}, which is over at"
                    f" --from {STEPS[first]}",
                    hint=f"leave it out, or begin at step {DECIDED[name]}",
                )

    def pause_at(self) -> str | None:
        """Return the step before which to pause, when a run goes to a step and no further."""
        return None if self.to in (None, STEPS[-1]) else STEPS[STEPS.index(self.to) + 1]


def _place(option: str, step: str) -> int:
    if step not in STEPS:
        raise UsageError(f"{option}: there is no step {step[:40]!r}; steps are {', '.join(STEPS)}")
    return STEPS.index(step)


def check_extra(*more: str) -> None:
    """Name what to install when an extra is not there."""
    missing = [name for name in (*EXTRA, *more) if importlib.util.find_spec(name) is None]
    if missing:
        extra = "torch" if missing == ["torch"] else "ml"
        raise InputError(
            f"the pipeline needs {', '.join(missing)}, not installed",
            hint=f"pip install 'weft[{extra}]'",
        )


def _read_range(option: str, text: str | None, most: int) -> tuple[int, int] | None:
    """Read a range that may be left out."""
    return None if text is None else read_range(option, text, most)


def _read_seeds(text: str) -> tuple[int, int]:
    """Read `N`, the seeds below it, or `LO:HI`, those from one to below the other."""
    match = re.fullmatch(r"(?:([0-9]{1,20}):)?([0-9]{1,20})", text, re.ASCII)
    if match is None:
        raise UsageError(f"--seeds takes N or LO:HI, not {text[:40]!r}")
    least, end = int(match[1] or 0), int(match[2])
    if least >= end:
        raise UsageError(f"--seeds {text} is empty: LO:HI are the seeds from LO to HI - 1")
    return least, end
