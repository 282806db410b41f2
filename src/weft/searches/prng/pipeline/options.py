"""Options of `weft prng pipeline`, their validation, and how they change a request."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from weft.console import options
from weft.errors import UsageError
from weft.lazy_imports import lazy_imports, require
from weft.model.codec import from_json, to_json
from weft.model.values import Value
from weft.searches.prng.options import read_range
from weft.searches.prng.pipeline.steps import DECIDED, STEPS

with lazy_imports():
    from weft.searches.prng import families
    from weft.searches.prng.pipeline import request as requests

DrawsOrNone = Annotated[
    str | None,
    typer.Argument(
        metavar="DRAWS",
        help="CSV, JSON or bare integers, oldest first; - for stdin. Not needed with --from.",
    ),
]
Seeds = Annotated[
    str | None, options.decision("N|LO:HI", "Seeds 0 to N-1, or LO to HI-1 (100000).")
]
Params = Annotated[
    Path | None,
    options.decision("FILE", "Training parameters for step 4, from adapt --apply."),
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
    """The options that decide a run; None means the earlier run's value, or the default."""

    modulus: Annotated[int | None, options.decision("M", "Draws are from 0 to M-1 (1000).")] = None
    family: Annotated[str | None, options.decision("NAME", "The generator to sieve (java).")] = None
    output: Annotated[
        str | None, options.decision("MAP", "How its outputs become draws (its first map).")
    ] = None
    seeds: Seeds = None
    skips: Annotated[
        str | None, options.decision("LO:HI", "Calls skipped before each draw (0:5).")
    ] = None
    starts: Annotated[
        str | None, options.decision("LO:HI", "Calls before a window's first draw (0:200).")
    ] = None
    window_trials: Annotated[int | None, options.decision("N", "Trials of step 1 (8).")] = None
    scorer_trials: Annotated[int | None, options.decision("N", "Trials of step 2.5 (8).")] = None
    model_trials: Annotated[
        int | None, options.decision("N", "Trials of step 5 per kind of model (4).")
    ] = None
    model: Annotated[
        str | None,
        options.decision(
            "auto|neural_net|xgboost|lightgbm|random_forest",
            "The kind of model; auto compares all four (auto).",
        ),
    ] = None
    net: Annotated[
        str | None,
        options.decision(
            "sklearn|torch", "Library that trains the neural net; torch is an extra (sklearn)."
        ),
    ] = None
    top_k: Annotated[int | None, options.decision("N", "Survivors of a stream that vote (20).")] = (
        None
    )
    nulls: Annotated[
        int | None, options.decision("N", "Reruns on histories without signal, 99 or more (99).")
    ] = None

    def given(self) -> list[str]:
        """Return the names of the given options, in declaration order."""
        return [name for name in self.__slots__ if getattr(self, name) is not None]

    def applied(self, base: requests.PipelineRequest) -> requests.PipelineRequest:
        """Return a request with the given options; a family's output map defaults to its first."""
        values: dict[str, Value] = {name: getattr(self, name) for name in self.given()}
        if self.seeds is not None:
            values["seeds"] = list(_read_seeds(self.seeds))
        if self.skips is not None:
            values["skips"] = list(read_range("--skips", self.skips, requests.MAX_SKIP))
        if self.starts is not None:
            values["starts"] = list(read_range("--starts", self.starts, requests.MAX_START))
        if self.family is not None:
            known = families.family_named(self.family)
            values |= {"family": known.name, "output": self.output or next(iter(known.outputs))}
        return from_json(requests.PipelineRequest, {**to_json(base), **values})

    def check_installed(self) -> None:
        """Raise an error that names what to install if a required extra is missing."""
        require("weft prng pipeline", "ml", *(("torch",) if self.net == "torch" else ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOptions:
    """The steps at which a run begins and pauses."""

    from_: Annotated[
        tuple[str, str] | None,
        options.decision(
            "STEP RUN",
            "Start a new run at a step, with the artifacts of an earlier run.",
            "--from",
        ),
    ] = None
    to: Annotated[
        str | None, options.runtime("STEP", "Pause after a step: 1, 2.5, 3, 4, 5 or 6.", "--to")
    ] = None

    def check(self, given: Sequence[str]) -> None:
        """Refuse unknown steps, a --to before --from, and options of omitted steps."""
        first = _place("--from", STEPS[0] if self.from_ is None else self.from_[0])
        if self.to is not None and _place("--to", self.to) < first:
            raise UsageError(
                f"--to {self.to} is before --from {STEPS[first]}", hint="leave one of them out"
            )
        for name in given:
            if first > STEPS.index(DECIDED[name]):
                raise UsageError(
                    f"--{name.replace('_', '-')} belongs to step {DECIDED[name]}, which is before"
                    f" --from {STEPS[first]}",
                    hint=f"leave it out, or start at step {DECIDED[name]}",
                )

    def pause_at(self) -> str | None:
        """Return the step before which to pause; None if the run goes to the end."""
        return None if self.to in (None, STEPS[-1]) else STEPS[STEPS.index(self.to) + 1]


def _place(option: str, step: str) -> int:
    if step not in STEPS:
        raise UsageError(f"{option}: there is no step {step[:40]!r}; steps are {', '.join(STEPS)}")
    return STEPS.index(step)


def _read_seeds(text: str) -> tuple[int, int]:
    """Parse `N` (seeds 0 to N-1) or `LO:HI` (seeds LO to HI-1); return first and end."""
    match = re.fullmatch(r"(?:([0-9]{1,20}):)?([0-9]{1,20})", text, re.ASCII)
    if match is None:
        raise UsageError(f"--seeds takes N or LO:HI, not {text[:40]!r}")
    least, end = int(match[1] or 0), int(match[2])
    if least >= end:
        raise UsageError(f"--seeds {text} is empty: LO:HI are the seeds from LO to HI - 1")
    return least, end
