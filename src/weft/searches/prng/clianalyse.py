"""`weft prng analyse`: which generator made these draws? Parses, calls one function, renders."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from weft.console import options, render
from weft.console.progress import resumable, watching
from weft.errors import Interrupted, UsageError
from weft.model.tasks import Unknown
from weft.searches.prng.lazy import lazy
from weft.searches.prng.options import MAX_SKIP, MAX_START, Modulus, check_modulus, read_range

if TYPE_CHECKING:
    from weft.runs.outcome import Run
    from weft.searches.prng import answer as answers
    from weft.searches.prng import request as requests
    from weft.searches.prng import run as prngrun
    from weft.searches.prng import words
else:
    answers, requests = lazy("weft.searches.prng.answer"), lazy("weft.searches.prng.request")
    words, prngrun = lazy("weft.searches.prng.words"), lazy("weft.searches.prng.run")

EFFORTS_MS = {"quick": 5_000, "standard": 300_000, "all": None}
"""Milliseconds of one core that one attack may be estimated to cost; what is rare gets less."""

Draws = Annotated[
    str,
    typer.Argument(metavar="DRAWS", help="CSV, JSON or bare integers, oldest first; - for stdin."),
]
Families = Annotated[
    str, options.decision("NAME,…", "Generators to try; weft prng families lists them.")
]
Outputs = Annotated[
    str, options.decision("MAP,…", "How outputs become draws: mod, bounded, scaled, high, raw, …")
]
SkipRange = Annotated[
    str, options.decision("LO:HI", "Calls that may have been skipped before each draw.")
]
StartRange = Annotated[
    str, options.decision("LO:HI", "Calls that may have come before the first draw.")
]
Corrupt = Annotated[
    float, options.decision("SHARE", "Share of the draws that may be wrong, 0 to 0.3.")
]
Effort = Annotated[
    str,
    options.decision(
        "quick|standard|all", "What an attack may cost of one core: 5 s, 5 minutes, or anything."
    ),
]
Predict = Annotated[int, options.decision("N", "How many next draws to predict.")]
OutOrNone = Annotated[
    Path | None, options.runtime("DIR", "The run's folder; without it nothing is saved.")
]
Device = Annotated[
    str, options.runtime("auto|cpu|gpu", "Where brute force runs; it finds the same.")
]


def analyse(
    draws: Draws,
    modulus: Modulus = 1000,
    families: Families = "all",
    outputs: Outputs = "all",
    skips: SkipRange = "0:500",
    starts: StartRange = "0:1000",
    corrupt: Corrupt = 0.1,
    effort: Effort = "standard",
    predict: Predict = 100,
    out: OutOrNone = None,
    workers: options.Workers = None,
    backend: options.Backend = None,
    ray_address: options.RayAddress = None,
    nodes: options.Nodes = None,
    simulate_nodes: options.SimulateNodes = False,
    placement: options.Placement = None,
    device: Device = "auto",
    accept: options.Accept = [],  # noqa: B006 - typer copies it
    wall_limit: options.WallLimit = None,
    sign_key: options.SignKey = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Find the generator, the seed and the skips behind draws, or say that there is no signal.

    Exit code 0 with a signal, 1 without one.
    """
    execution = options.execution(
        backend=backend,
        address=ray_address,
        nodes=nodes,
        simulate=simulate_nodes,
        placement=placement,
        accept=accept,
        wall_limit=wall_limit,
        sign_key=sign_key,
    )
    execution |= {"workers": workers, "backend": backend or "local", "device": device}
    request = _request(modulus, families, outputs, skips, starts, corrupt, effort, predict)

    history, where = prngrun.load_history(draws)
    prngrun.check(history, where, request)
    prngrun.check_device(device, backend)
    with _folder(out, quiet) as folder:
        with watching(quiet, verbose) as watcher, resumable(folder):
            done = prngrun.execute(
                history,
                request,
                {**execution, "out": folder, "watcher": watcher},
            )
        _show(done, len(history), as_json=as_json, saved=out is not None)
    raise typer.Exit(done.exit_code)


@contextmanager
def _folder(out: Path | None, quiet: bool) -> Iterator[Path]:
    """Yield the run's folder: the one asked for, or one that is gone afterwards."""
    if out is not None:
        yield out
        return
    if not quiet:
        render.message("this run is not saved; --out DIR saves it, with proof")
    with tempfile.TemporaryDirectory(prefix="weft-") as place:
        try:
            yield Path(place) / "run"
        except Interrupted as error:  # its hint names a folder that is about to go
            reason = error.message.partition(";")[0]
            raise Interrupted(reason, hint="nothing is saved without --out DIR") from None


def _request(
    modulus: int,
    families: str,
    outputs: str,
    skips: str,
    starts: str,
    corrupt: float,
    effort: str,
    predict: int,
) -> requests.AnalyseRequest:
    check_modulus(modulus)
    if not 0 <= corrupt <= 0.3:
        raise UsageError(f"--corrupt is a share from 0 to 0.3, not {corrupt}")
    if effort not in EFFORTS_MS:
        raise UsageError(f"--effort must be one of {', '.join(EFFORTS_MS)}, not {effort!r}")
    if not 0 <= predict <= 10_000:
        raise UsageError(f"--predict must be 0 to 10000, not {predict}")
    return requests.AnalyseRequest(
        modulus=modulus,
        families=_names("--families", families),
        outputs=_names("--outputs", outputs),
        skips=read_range("--skips", skips, MAX_SKIP),
        starts=read_range("--starts", starts, MAX_START),
        corrupt_percent=round(100 * corrupt),
        max_cost_ms=EFFORTS_MS[effort],
        predict=predict,
    )


def _names(option: str, text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise UsageError(
            f"{option} {text[:40]!r} names nothing", hint=f"leave {option} out for all"
        )
    return () if "all" in names else names


def _show(done: Run, draws: int, *, as_json: bool, saved: bool) -> None:
    raw = done.answer.detail if isinstance(done.answer, Unknown) else done.answer
    if as_json:
        render.show_run(done, as_json=True)
        return
    if isinstance(raw, dict):
        _show_verdict(cast("answers.AnswerRecord", raw), draws)
    else:
        render.show_answer(done)
    if saved:
        render.show_end(done)


def _show_verdict(raw: answers.AnswerRecord, draws: int) -> None:
    answer = answers.AnalyseAnswer.from_dict(raw)
    for line in words.verdict_lines(answer, draws):
        render.out(line)
    if answer.candidates:
        render.out("")
        render.table(words.table_rows(answer))
