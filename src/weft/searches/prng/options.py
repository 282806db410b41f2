"""Options of `weft prng analyse` and `generate`, their validation and conversion to requests."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

import typer

from weft.console import options
from weft.errors import UsageError
from weft.lazy_imports import lazy_imports

with lazy_imports():
    from weft.searches.prng import drawforms, intake, planting
    from weft.searches.prng import history as histories
    from weft.searches.prng import hypothesis as hypotheses
    from weft.searches.prng import request as requests
    from weft.searches.prng import run as analyses

MAX_SKIP = 100_000
MAX_START = 10_000_000
MAX_MODULUS = 1 << 32
"""A modulus is a word in the generators' arithmetic."""
MAX_DRAWS = 10_000_000
MAX_CALLS = 10**10
MAX_SEED = 2**64 - 1
MAX_PREDICTED = 10_000
EFFORTS_MS = {"quick": 5_000, "standard": 120_000, "all": None}
"""Budget by effort: the estimated milliseconds on one core of all attacks, likeliest first. All
efforts except `quick` also try every 32-bit seed of common calls, outside the budget."""

Modulus = Annotated[int, options.decision("M", "Draws are from 0 to M-1.")]
ShowCoverage = Annotated[
    bool,
    typer.Option(
        "--coverage",
        help="List calls: what is searched, draws needed, seconds here, planted ones recovered.",
    ),
]

# -- analyse ----------------------------------------------------------------------------------

Draws = Annotated[
    str,
    typer.Argument(
        metavar="DRAWS", help="CSV, JSON, JSON lines or text, also .gz, oldest first; - for stdin."
    ),
]
Column = Annotated[
    str | None, typer.Option("--column", metavar="NAME", help="The column with the draws.")
]
OutOrNone = Annotated[
    Path | None, options.runtime("DIR", "The run's folder; without it nothing is saved.")
]
Device = Annotated[
    str, options.runtime("auto|cpu|gpu", "Where brute force runs; the result is the same.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyseOptions:
    """The options that decide an analysis, apart from the draws."""

    modulus: Annotated[
        int | None,
        options.decision(
            "M", "Draws are from 0 to M-1 (1000, or the range evident from the draws)."
        ),
    ] = None
    low: Annotated[int | None, options.decision("N", "The smallest possible draw, if not 0.")] = (
        None
    )
    form: Annotated[
        str, options.decision("NAME", "The form of the draws; see weft prng guess FILE.")
    ] = "auto"
    column: Annotated[str | None, options.decision("NAME", "The column with the draws.")] = None
    alphabet: Annotated[
        str | None, options.decision("CHARS", "Characters that strings are drawn from, in order.")
    ] = None
    families: Annotated[
        str, options.decision("NAME,…", "Generators to try; weft prng families lists them.")
    ] = "all"
    outputs: Annotated[
        str,
        options.decision("MAP,…", "How outputs become draws: mod, bounded, scaled, high, raw, …"),
    ] = "all"
    skips: Annotated[str, options.decision("LO:HI", "Unrecorded calls before each draw.")] = "0:500"
    starts: Annotated[str, options.decision("LO:HI", "Calls before the first draw.")] = "0:1000"
    corrupt: Annotated[
        float, options.decision("SHARE", "Share of the draws that may be wrong, 0 to 0.3.")
    ] = 0.1
    effort: Annotated[
        str,
        options.decision(
            "quick|standard|all",
            "Five seconds of one core; all 32-bit seeds of usual calls and 2 minutes; or all.",
        ),
    ] = "standard"
    predict: Annotated[int, options.decision("N", "How many next draws to predict.")] = 100
    after: Annotated[
        Path | None, options.decision("RUN", "Skip what a finished run has ruled out.")
    ] = None

    def continuing(self, source: str, run: Path) -> str:
        """Return the command that tries what a run on the same draws has not covered."""
        settings = {item.name: getattr(self, item.name) for item in fields(self)
                    if getattr(self, item.name) != item.default}  # fmt: skip
        settings |= {"after": run, "effort": "all"}
        words = [word for name, value in settings.items() for word in (f"--{name}", str(value))]
        folder = f"{run}-all"
        return shlex.join(["weft", "prng", "analyse", source, *words, "--out", folder])

    def history(self, source: str) -> tuple[histories.History, int, str]:
        """Read the draws; return the history, its modulus and the name of its source."""
        if self.modulus is not None:
            check_modulus(self.modulus)
        if self.alphabet is not None:
            _check_alphabet(self.alphabet)
        history, where = analyses.load_draws(source, self.form, self.column, self.alphabet)
        return *self.ranged(history, where), where

    def ranged(self, history: histories.History, where: str) -> tuple[histories.History, int]:
        """Return the history shifted to begin at 0, and its modulus, given or inferred."""
        if self.modulus is None and self.low is None:
            return intake.with_range(history)
        return intake.in_range(history, where, self.modulus, self.low or 0)

    def request(self, modulus: int, form: drawforms.DrawForm | None) -> requests.AnalyseRequest:
        """Return the request. Raises UsageError for invalid values.

        Output maps that the form of the draws implies are the default.
        """
        if not 0 <= self.corrupt <= 0.3:
            raise UsageError(f"--corrupt is a share from 0 to 0.3, not {self.corrupt}")
        if self.effort not in EFFORTS_MS:
            names = ", ".join(EFFORTS_MS)
            raise UsageError(f"--effort must be one of {names}, not {self.effort!r}")
        if not 0 <= self.predict <= MAX_PREDICTED:
            raise UsageError(f"--predict must be 0 to {MAX_PREDICTED}, not {self.predict}")
        return requests.AnalyseRequest(
            modulus=modulus,
            families=_names("--families", self.families),
            outputs=_names("--outputs", self.outputs) or (form.outputs if form else ()),
            row_maps=form.row_maps if form else (),
            skips=read_range("--skips", self.skips, MAX_SKIP),
            starts=read_range("--starts", self.starts, MAX_START),
            corrupt_percent=round(100 * self.corrupt),
            max_cost_ms=EFFORTS_MS[self.effort],
            all_seeds=self.effort != "quick",
            predict=self.predict,
        )


def _check_alphabet(alphabet: str) -> None:
    repeated = next((character for character in alphabet if alphabet.count(character) > 1), None)
    if len(alphabet) < 2 or repeated is not None:
        why = "it has fewer than two" if repeated is None else f"{repeated!r} is in it twice"
        raise UsageError(f"--alphabet {alphabet[:40]!r}: characters in order, each once; {why}")


def _names(option: str, text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise UsageError(f"{option} {text[:40]!r} is empty", hint=f"omit {option} to use all")
    return () if "all" in names else names


Language = Annotated[
    str, typer.Option("--language", metavar="python|c|java", help="The language of the program.")
]
Count = Annotated[
    int, typer.Option("-n", "--count", metavar="N", help="Draws the program prints by default.")
]


def check_count(count: int) -> None:
    """Refuse a number of draws that is out of range."""
    if not 1 <= count <= MAX_DRAWS:
        raise UsageError(f"-n (--count) must be 1 to {MAX_DRAWS}, not {count}")


# -- generate ---------------------------------------------------------------------------------

FamilyName = Annotated[
    str, typer.Argument(metavar="FAMILY", help="A generator; weft prng families lists them.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedOptions:
    """The options that decide a planted history, apart from the family."""

    seed: Annotated[
        str | None,
        options.decision("N", "The generator's seed, 0 to 2^64-1, decimal or 0x….", "--seed"),
    ] = None
    state: Annotated[
        str | None, options.decision("HEX", "A full state instead of a seed.", "--state")
    ] = None
    skip: Annotated[
        str,
        options.decision(
            "K|LO:HI", "Calls skipped before each draw except the first: always K, or LO to HI."
        ),
    ] = "0"
    start: Annotated[int, options.decision("N", "Calls before the first draw.")] = 0
    modulus: Modulus = 1000
    count: Annotated[int, options.decision("N", "How many draws.", "-n", "--count")] = 1000
    output: Annotated[
        str | None,
        options.decision(
            "MAP", "How outputs become draws. Default: the generator's usual map.", "--output"
        ),
    ] = None
    corrupt: Annotated[float, options.decision("SHARE", "Share of wrong draws, 0 to 1.")] = 0.0
    corrupt_seed: Annotated[
        int, options.decision("N", "Seed for wrong rows and varying skips.")
    ] = 0

    def truth(self, family: str) -> hypotheses.Hypothesis:
        """Return the hypothesis that generates the draws. Raises UsageError for invalid values."""
        self._check_counts()
        skips = read_range("--skip", self.skip, MAX_SKIP)
        if self.start + self.count * (skips[1] + 1) > MAX_CALLS:
            raise UsageError(f"these are more than {MAX_CALLS:,} calls; take fewer draws or skips")
        if (self.seed is None) == (self.state is None):
            raise UsageError("give either the generator's --seed N or its --state HEX")
        return planting.make_truth(
            family,
            self.output,
            self.modulus,
            None if self.seed is None else _read_seed(self.seed),
            None if self.state is None else _read_state(self.state),
            hypotheses.Skips(skips),
            self.start,
        )

    def _check_counts(self) -> None:
        if not 0 <= self.start <= MAX_START:
            raise UsageError(f"--start must be 0 to {MAX_START}, not {self.start}")
        check_modulus(self.modulus)
        check_count(self.count)
        if not 0 <= self.corrupt <= 1:
            raise UsageError(f"--corrupt is a share from 0 to 1, not {self.corrupt}")
        if not 0 <= self.corrupt_seed <= MAX_SEED:
            raise UsageError(f"--corrupt-seed must be 0 to 2^64-1, not {self.corrupt_seed}")


def _read_seed(text: str) -> int:
    try:
        seed = int(text, 0)
    except ValueError:
        raise UsageError(f"--seed {text[:40]!r} is not an integer") from None
    if not 0 <= seed <= MAX_SEED:
        raise UsageError(
            f"--seed must be 0 to 2^64-1, not {text[:40]}",
            hint="write a negative seed modulo 2^64; for cpython, drop the sign",
        )
    return seed


def _read_state(text: str) -> str:
    try:
        return bytes.fromhex(text).hex()
    except ValueError:
        raise UsageError(f"--state {text[:40]!r} is not a hexadecimal number") from None


# -- values that several commands read --------------------------------------------------------


def check_modulus(modulus: int) -> None:
    """Refuse a modulus that no generator supports."""
    if not 2 <= modulus <= MAX_MODULUS:
        raise UsageError(f"--modulus must be 2 to {MAX_MODULUS}, not {modulus}")


def read_range(option: str, text: str, most: int) -> tuple[int, int]:
    """Parse `LO:HI`, with both ends included, or a single number."""
    match = re.fullmatch(r"(-?[0-9]{1,20})(?::(-?[0-9]{1,20}))?", text, re.ASCII)
    if match is None:
        raise UsageError(f"{option} takes LO:HI or a number, not {text[:40]!r}")
    least, greatest = int(match[1]), int(match[2] or match[1])
    if not 0 <= least <= greatest <= most:
        raise UsageError(f"{option} must be an ascending range within 0:{most}, not {text!r}")
    return least, greatest
