"""The long campaigns of `weft prng`, side by side on as many cores as there are.

    python -m tests.searches.prng.campaign make FILE          histories of the zoo, random seeds
    python -m tests.searches.prng.campaign zoo FILE OUT       searches them with the call named
    python -m tests.searches.prng.campaign random OUT 0:2000  random histories: no signal
    python -m tests.searches.prng.campaign default OUT 0:16   the same with default settings
    python -m tests.searches.prng.campaign hostile OUT [0:30] hostile ones, or some: no claim
    python -m tests.searches.prng.campaign compile            kernels, before any of these

All but `make` take `--cores N` and `--minutes M`; what is not reached is listed. `make` needs the
runtimes of the zoo, the others nothing but weft; they use a GPU if there is one. OUT is JSON;
beside it, OUT with an `l` added has each outcome as it comes. The same command goes on with what
that file does not have.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.searches.prng.hostile import (
    NAMES,
    RANDOM_MODULI,
    default_request,
    hostile,
    hostile_request,
    random_history,
    random_request,
    verdict_of,
)
from tests.searches.prng.zoo.exhibits import ENTRIES, named_request
from tests.searches.prng.zoo.fresh import FreshHistory, make_history, predicted
from weft.runs.execution import Execution
from weft.searches.prng.families import SINGLE, family_named
from weft.searches.prng.generate import generate_array
from weft.searches.prng.history import History
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.kernels import cuda
from weft.searches.prng.run import estimate_s
from weft.searches.prng.search import VERSION

WORKERS_EACH = 4
BY_NAME = {entry.name: entry for entry in ENTRIES}


class OutcomeLog:
    """Outcomes in a file, appended line by line; those of earlier sessions are included."""

    def __init__(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        self._outcomes: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
        self._path = path
        self._lock = threading.Lock()

    def add(self, outcome: dict[str, Any]) -> None:
        """Append an outcome; safe to call from any thread."""
        outcome |= {"version": VERSION}
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(outcome) + "\n")
            self._outcomes.append(outcome)

    def by_name(self, key: str) -> dict[Any, dict[str, Any]]:
        """Return the outcomes by their value of `key`."""
        return {outcome[key]: outcome for outcome in self._outcomes}


def make(path: Path) -> None:
    """Write one history for each entry of the zoo, with a random seed."""
    with tempfile.TemporaryDirectory() as folder, path.open("w") as file:
        for entry in ENTRIES:
            file.write(make_history(entry, Path(folder)).to_line())


def search_entry(text: str, workers: int) -> dict[str, Any]:
    """Search one history and return the outcome."""
    history, begin_s = FreshHistory.of_line(text), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        execution = Execution(Path(folder) / "run", workers)
        exact = predicted(BY_NAME[history.entry], history, execution) == history.next
    wall_s = round(time.monotonic() - begin_s, 1)
    return {"entry": history.entry, "seed": history.seed, "found": exact, "wall_s": wall_s}


def zoo(path: Path, cores: int, deadline_s: float, log: OutcomeLog) -> dict[str, Any]:
    """Search all histories of a file, those with the cheapest plans first."""
    lines = [json.loads(text) for text in path.read_text().splitlines()]
    remaining = [line for line in lines if line["entry"] not in log.by_name("entry")]
    remaining.sort(key=planned_s)
    with ThreadPoolExecutor(max(1, cores // WORKERS_EACH)) as pool:
        list(pool.map(lambda line: in_process(line, cores, deadline_s, log), remaining))
    outcomes = log.by_name("entry")
    return {
        "entries": len(lines),
        "searched": len(outcomes),
        "found": sum(outcome["found"] for outcome in outcomes.values()),
        "outcomes": list(outcomes.values()),
        "not_reached": [line["entry"] for line in lines if line["entry"] not in outcomes],
    }


def planned_s(line: dict[str, Any]) -> int:
    """Return the planned cost of a search, in seconds of one core."""
    return estimate_s(History(tuple(line["draws"])), named_request(BY_NAME[line["entry"]]))


def in_process(line: dict[str, Any], cores: int, deadline_s: float, log: OutcomeLog) -> None:
    """Search a history in a separate process, unless time runs out."""
    left_s = deadline_s - time.monotonic()
    if left_s < 5:
        return
    words = [sys.executable, "-m", __spec__.name, "one", str(min(WORKERS_EACH, cores))]
    try:
        result = subprocess.run(
            words, input=json.dumps(line), capture_output=True, text=True, timeout=left_s
        )
    except subprocess.TimeoutExpired:
        return
    if result.returncode:
        log.add({"entry": line["entry"], "seed": line["seed"], "found": False,
                 "error": result.stderr[-400:]})  # fmt: skip
    else:
        log.add(json.loads(result.stdout.splitlines()[-1]))


# -- histories without a generator -----------------------------------------------------------------


def compile_map(pair: tuple[str, str]) -> None:
    """Compile what every analysis needs of an output map, into the kernel folder."""
    family, output = pair
    modulus = 1 << family_named(family).word_bits if output == "raw" else 1000
    generate_array(Hypothesis(family, output, min(modulus, 1 << 32), seed=1), 2)


def claim_of(name: str | int) -> tuple[str | int, str]:
    """Return a history's name and what is claimed about it, empty if nothing is."""
    if isinstance(name, int):
        draws, modulus = random_history(name)
        answer = verdict_of(draws, random_request(modulus))
    else:
        draws, modulus = hostile(name, 200)
        answer = verdict_of(draws, hostile_request(modulus))
    return name, str(answer.found[0]) if answer.is_signal else ""


def default_claim_of(number: int) -> tuple[int, str]:
    """Do the same for a random history with the default settings of the command."""
    draws, modulus = random_history(number)
    answer = verdict_of(draws, default_request(modulus), "auto")
    return number, str(answer.found[0]) if answer.is_signal else ""


def compile_all(cores: int) -> None:
    """Compile what every analysis needs, so that parallel campaigns do not repeat it."""
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        pairs = [(family.name, output) for family in SINGLE for output in family.outputs]
        pool.map(compile_map, pairs, chunksize=1)
        list(pool.imap_unordered(claim_of, range(len(RANDOM_MODULI))))
    print(f"compiled {len(pairs)} maps", flush=True)


def claims(
    names: Sequence[str | int],
    judge: Callable[[Any], tuple[str | int, str]],
    cores: int,
    deadline_s: float,
    log: OutcomeLog,
) -> dict[str, Any]:
    """Analyse histories until time runs out; list those about which something is claimed."""
    remaining = [name for name in names if name not in log.by_name("history")]
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        for name, claim in until(pool.imap_unordered(judge, remaining), deadline_s):
            log.add({"history": name, "claim": claim})
        pool.terminate()
    outcomes = log.by_name("history")
    return {
        "histories": len(names),
        "analysed": sum(name in outcomes for name in names),
        "claimed": [outcome for outcome in outcomes.values() if outcome["claim"]],
        "not_reached": [name for name in names if name not in outcomes],
    }


def until(results: Any, deadline_s: float) -> Iterable[tuple[str | int, str]]:
    """Yield results until they end or time runs out."""
    while True:
        try:
            yield results.next(timeout=max(0.1, deadline_s - time.monotonic()))
        except (StopIteration, multiprocessing.TimeoutError):
            return


def bounds(text: str) -> tuple[int, int]:
    """Parse FIRST:END."""
    first, _, end = text.partition(":")
    return int(first), int(end)


def campaign(what: str, rest: list[str], cores: int, deadline_s: float) -> dict[str, Any]:
    """Run one of the campaigns that write an outcome."""
    out = Path(rest[1] if what == "zoo" else rest[0])
    log = OutcomeLog(Path(f"{out}l"))
    if what == "zoo":
        outcome = zoo(Path(rest[0]), cores, deadline_s, log)
    elif what == "hostile":
        names = NAMES[slice(*bounds((rest[1:] or ["0:1000"])[0]))]
        outcome = claims(names, claim_of, cores, deadline_s, log)
    else:
        judge = claim_of if what == "random" else default_claim_of
        outcome = claims(range(*bounds(rest[1])), judge, cores, deadline_s, log)
    outcome |= {"version": VERSION, "cores": cores, "date": time.strftime("%Y-%m-%d"),
                "gpu": cuda.is_available()}  # fmt: skip
    out.write_text(json.dumps(outcome, indent=1) + "\n")
    return outcome


def main() -> None:
    """Run the action named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    verbs = ["make", "compile", "zoo", "random", "default", "hostile", "one"]
    parser.add_argument("what", choices=verbs)
    parser.add_argument("rest", nargs="*")
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=7)
    args = parser.parse_args()
    if args.what == "make":
        make(Path(args.rest[0]))
    elif args.what == "compile":
        compile_all(args.cores)
    elif args.what == "one":
        print(json.dumps(search_entry(sys.stdin.read(), int(args.rest[0]))))
    else:
        begin_s = time.monotonic()
        deadline_s = begin_s + 60 * args.minutes
        outcome = campaign(args.what, args.rest, args.cores, deadline_s)
        summary = {key: value for key, value in outcome.items() if not isinstance(value, list)}
        print(args.what, summary, f"{(time.monotonic() - begin_s) / 60:.1f} minutes", flush=True)


if __name__ == "__main__":
    main()
