"""`weft prng` from Python: analyse draws, recover a generator, continue its draws.

from weft.searches.prng import analyse, recover

generator = recover([582, 17, …], modulus=1000, families=["java"])
generator.take(5)       # the next draws
generator.rewind(10)    # back by ten draws
generator.program("c")  # a C program that produces them
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from weft.errors import InputError, UsageError
from weft.lazy_imports import lazy_imports
from weft.model.codec import from_json
from weft.model.tasks import Unknown
from weft.model.values import Object
from weft.searches.prng import intake, options
from weft.searches.prng.answer import SIGNAL, AnalyseAnswer, ScoredCandidate
from weft.searches.prng.backtest import continued
from weft.searches.prng.checks import check
from weft.searches.prng.generate import draws as drawn
from weft.searches.prng.history import History
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.records import Records
from weft.searches.prng.request import AnalyseRequest
from weft.searches.prng.search import NAME, found_at_once

with lazy_imports():  # unnecessary for the attacks that take milliseconds
    from weft.inspect.report import view
    from weft.runs import execution as executions
    from weft.searches.prng import programs, report
    from weft.searches.prng import run as analyses

Draws: TypeAlias = Sequence[int] | Sequence[float] | Sequence[str] | str | Path
"""Draws as a list, or the name of a file that contains them."""
GOES_ON = 10_000
"""Number of draws for which a generator with varying skips continues with its most usual skip."""


class Generator:
    """A generator at a position in its stream of draws; `recover` returns one after the last draw.

    It produces the draws of a `hypothesis`, from draw number `position` on. It is an iterator:
    `next(generator)` returns the next draw.
    """

    def __init__(self, hypothesis: Hypothesis, position: int = 0) -> None:
        self._hypothesis = hypothesis
        self._position = 0
        self._stream = drawn(hypothesis)
        self.seek(position)

    @classmethod
    def of_run(cls, path: str | Path) -> Generator:
        """Return the generator that the finished run at `path` found, after its last draw."""
        best, history = found_in(Path(path))
        return _after(best, history)

    @property
    def hypothesis(self) -> Hypothesis:
        """Family, output map, seed or state, skips and start."""
        return self._hypothesis

    @property
    def position(self) -> int:
        """The number of the next draw, counted from 0."""
        return self._position

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        value = next(self._stream)
        self._position += 1
        return value

    def take(self, count: int) -> list[int]:
        """Return the next `count` draws, or fewer if skips vary and later ones are unknown."""
        values = list(islice(self._stream, count))
        self._position += len(values)
        return values

    def seek(self, position: int) -> None:
        """Go to draw number `position`; 0 is the first of the history."""
        if position < 0:
            raise UsageError(f"there is no draw {position}; the first is draw 0")
        if position < self._position:
            self._stream, self._position = drawn(self._hypothesis), 0
        self.take(position - self._position)

    def rewind(self, count: int) -> None:
        """Go back by `count` draws."""
        self.seek(self._position - count)

    def program(self, language: str = "python") -> str:
        """Return a program in a `language` (python, c or java) that produces all draws."""
        return programs.program(self._hypothesis, language)

    def __repr__(self) -> str:
        about = self._hypothesis
        source = f"seed {about.seed}" if about.seed is not None else f"state 0x{about.state:.16}"
        call = f"{about.family}.{about.output}({about.modulus})"
        return f"<Generator {call}, {source}, draw {self.position}>"


@dataclass(frozen=True, slots=True)
class Analysis:
    """What an analysis concluded about a history."""

    answer: AnalyseAnswer
    """Verdict, candidates with their scores, what was covered and what was not."""
    history: History
    """The draws, as read."""
    head: str
    """The head of the run, as `weft verify` prints it."""

    @property
    def verdict(self) -> str:
        """`signal`, `partial signal`, `structure` or `no signal`."""
        return self.answer.verdict

    @property
    def next(self) -> list[str]:
        """The next draws in the form of the history; empty if they cannot be predicted."""
        return self.history.texts(self.answer.found[0].next) if self.answer.is_signal else []

    @property
    def generator(self) -> Generator | None:
        """The generator that explains the draws, positioned after the last; None without signal."""
        return _after(self.answer.found[0], self.history) if self.answer.is_signal else None


def analyse(
    draws: Sequence[int] | Sequence[float] | Sequence[str] | str | Path,
    *,
    modulus: int | None = None,
    low: int | None = None,
    form: str = intake.AUTO,
    families: Sequence[str] = (),
    outputs: Sequence[str] = (),
    skips: str = "0:500",
    starts: str = "0:1000",
    corrupt: float = 0.1,
    effort: str = "standard",
    predict: int = 100,
    out: str | Path | None = None,
    workers: int | None = None,
) -> Analysis:
    """Find the generator behind `draws`, a list or a file, as `weft prng analyse` does.

    Draws are from `low` to `low + modulus - 1`; `form` names another form of draws.
    `families` and `outputs` are those to try, all if empty. `skips` and `starts` are ranges `LO:HI`
    of unrecorded calls before each draw and before the first. A share `corrupt` of the draws may
    be wrong. `effort` is quick, standard or all; `predict` is the number of draws to predict. With
    `out`, the run is saved there, and the same call resumes it if it was interrupted; `workers` is
    the number of processes.
    """
    settings = options.AnalyseOptions(
        modulus=modulus, low=low, form=form, families=",".join(families) or "all",
        outputs=",".join(outputs) or "all", skips=skips, starts=starts, corrupt=corrupt,
        effort=effort, predict=predict,
    )  # fmt: skip
    return _analysis(_question(draws, settings), out, workers)


def recover(
    draws: Sequence[int] | Sequence[float] | Sequence[str] | str | Path,
    *,
    modulus: int | None = None,
    form: str = intake.AUTO,
    families: Sequence[str] = (),
    outputs: Sequence[str] = (),
    effort: str = "standard",
    workers: int | None = None,
) -> Generator | None:
    """Return the generator behind `draws`, positioned after the last; None without a full signal.

    `modulus`, `form`, `families`, `outputs`, `effort` and `workers` are as in `analyse`. Attacks
    that take milliseconds (a state from full outputs) are tried first, in this process.
    """
    settings = options.AnalyseOptions(
        modulus=modulus, form=form, families=",".join(families) or "all",
        outputs=",".join(outputs) or "all", effort=effort,
    )  # fmt: skip
    question = _question(draws, settings)
    at_once = found_at_once(question.history, question.request)
    if at_once is not None:
        return _after(at_once, question.history)
    result = _analysis(question, None, workers)
    return result.generator if result.verdict == SIGNAL else None


@dataclass(frozen=True, slots=True)
class _Question:
    """Draws and the request to analyse them."""

    history: History
    request: AnalyseRequest


def _question(draws: Draws, asked: options.AnalyseOptions) -> _Question:
    """Read draws from a list or a file and validate the request."""
    if isinstance(draws, str | Path):
        history, size, where = asked.history(str(draws))
    else:
        history, size, where = *asked.ranged(_listed(draws, asked.form), "draws"), "draws"
    request = asked.request(size, history.form)
    check(history, where, request)
    return _Question(history, request)


def _analysis(question: _Question, out: str | Path | None, workers: int | None) -> Analysis:
    """Run the search, in a temporary folder unless one is named."""
    with tempfile.TemporaryDirectory(prefix="weft-") as place:
        execution = executions.Execution(Path(out) if out else Path(place) / "run", workers=workers)
        result = analyses.execute(question.history, question.request, execution)
    raw = result.answer.detail if isinstance(result.answer, Unknown) else result.answer
    return Analysis(from_json(AnalyseAnswer, raw), question.history, result.head)


def found_in(path: Path) -> tuple[ScoredCandidate, History]:
    """Return the best candidate of a finished run, and its history.

    Raises InputError if the run is not finished or found no generator.
    """
    run = view.view_of(path, NAME, "weft prng analyse")
    answer = report.answer_of(run)
    if answer is None:
        raise InputError(f"{path} is not finished", hint=f"weft resume {path}")
    if not answer.is_signal:
        raise InputError(f"{path} found no generator", hint=f"weft report {path}")
    history = History.from_canonical(run.read(Object(run.genesis()["inputs"]["history"])))
    return answer.found[0], history


def _after(best: ScoredCandidate, history: History) -> Generator:
    """Return the generator of a candidate, positioned after the last draw of its stream."""
    stream = history.streams()[best.stream]
    return Generator(continued(best.hypothesis, stream, GOES_ON), len(stream))


def _listed(draws: Sequence[object], form: str) -> History:
    """Build a history from a list: whole numbers unchanged, other values by their form."""
    if not draws:
        raise InputError("there are no draws")
    whole = all(isinstance(draw, int) and not isinstance(draw, bool) for draw in draws)
    if whole and form == intake.AUTO and min(draws) >= 0:  # type: ignore[type-var, operator]
        return History(tuple(int(str(draw)) for draw in draws))
    texts = [repr(draw) if isinstance(draw, float) else str(draw) for draw in draws]
    return intake.read_listed(Records("draws", ("draw",), tuple((text,) for text in texts)), form)
