"""Compare `weft prng` with programs that each recover one kind of generator, on one machine.

    python -m benchmarks prngrivals --rivals DIR    a section of docs/benchmarks/prng.md

DIR contains checkouts that you have built: php_mt_seed, untwister, Python-random-module-cracker,
v8-randomness-predictor (needs z3 in --rival-python) and randcrack (randcrack_st). A missing one is
reported as not measured. Histories come from the real runtimes. The programs alternate; each must
give the right answer, and its time ends when it prints it. CPU seconds are those of the whole
command, including the start of the interpreter.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.prngseeds import cpu_name
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.search import VERSION

PAGES = Path(__file__).parents[1] / "docs" / "benchmarks"
FIGURES = PAGES / "prng-rivals.json"
HEADING = "## Compared with other programs"
TURNS = 3
LONG_S = 10
PHP_SEED = 666_013_337
JAVA_SEED = 271_828_182_845_904
MT_SEEDS = 200_003, 3_000_017
"""A seed that both programs try at once, and one before which weft tries other seeds."""
PLAIN = ("--skips", "0", "--starts", "0", "--corrupt", "0", "--workers", "1", "-q", "--json")
V8_DRIVER = """
import re, sys
program, values = open(sys.argv[1]).read(), ", ".join(sys.argv[2:])
exec(re.sub(r"(?ms)^sequence = \\[.*?\\]", f"sequence = [{values}]", program, count=1))
"""
RANDCRACK_DRIVER = """
import sys
sys.path.insert(0, sys.argv[1])
from randcrack import RandCrack
cracker = RandCrack()
for line in open(sys.argv[2]).readlines()[:624]:
    cracker.submit(int(line))
print(*(cracker.predict_getrandbits(32) for _ in range(100)))
"""


OURS_AS_LIBRARY = """
import json, sys, time
begin_s = time.process_time()
from weft.searches.prng import recover
imported_s = time.process_time() - begin_s
families, given, turns = [sys.argv[1]], int(sys.argv[2]), []
for draws in json.load(sys.stdin):
    begin_s = time.process_time()
    generator = recover(draws[:given], modulus=1 << 32, families=families, workers=1)
    predicted = generator.take(len(draws) - given)
    turns.append(time.process_time() - begin_s)
    assert predicted == [int(x * 2**32) if isinstance(x, float) else x for x in draws[given:]]
print(json.dumps([imported_s, *turns]))
"""
CRACKER_AS_LIBRARY = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
begin_s = time.process_time()
from randcrack import RandCrack
imported_s, turns = time.process_time() - begin_s, []
for draws in json.load(sys.stdin):
    begin_s = time.process_time()
    cracker = RandCrack()
    for draw in draws[:624]:
        cracker.submit(draw)
    predicted = [cracker.predict_getrandbits(32) for _ in draws[624:]]
    turns.append(time.process_time() - begin_s)
    assert predicted == draws[624:]
print(json.dumps([imported_s, *turns]))
"""
V8_AS_LIBRARY = """
import contextlib, io, json, re, sys, time
begin_s = time.process_time()
import z3
imported_s, turns = time.process_time() - begin_s, []
program = open(sys.argv[1] + "/main.py").read()
for draws in json.load(sys.stdin):
    values = ", ".join(map(repr, draws[:5]))
    text = re.sub(r"(?ms)^sequence = \\[.*?\\]", f"sequence = [{values}]", program, count=1)
    code = compile(text, "main.py", "exec")
    shown, begin_s = io.StringIO(), time.process_time()
    with contextlib.redirect_stdout(shown):
        exec(code, {"__name__": "__main__"})
    turns.append(time.process_time() - begin_s)
    assert repr(draws[5]) in shown.getvalue()
print(json.dumps([imported_s, *turns]))
"""
LIBRARY_TURNS = 7


@dataclass(frozen=True, slots=True)
class Rival:
    """A program, a history that it was made for, and the answer that it must print.

    `folder` is the checkout under DIR, `program` the file in it that must exist. `argv` is built
    from that file, the draws and the file of the draws; `answer` from all the draws.
    """

    folder: str
    program: str
    call: str
    covers: str
    draws: Callable[[], list[str]]
    argv: Callable[[str, list[str], str], list[str]]
    answer: Callable[[list[str]], str]
    given: int
    weft: tuple[str, ...]
    kind: str = "a program in C"
    """What the program is, and how it is run as a command or called as a library."""


def output_of(*argv: str) -> list[str]:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.split()


def php_draws() -> list[str]:
    code = f"mt_srand({PHP_SEED}); for ($i = 0; $i < 80; $i++) echo mt_rand(0, 999), ' ';"
    return output_of("php", "-r", code)


def node_draws() -> list[str]:
    code = "for (let i = 0; i < 60; i++) console.log(Math.random())"
    return output_of("node", "-e", code)


def java_draws() -> list[str]:
    code = (
        "public class Draws { public static void main(String[] a) {"
        f" var r = new java.util.Random({JAVA_SEED}L);"
        " for (int i = 0; i < 80; i++) System.out.println(r.nextInt(1000)); } }"
    )
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "Draws.java"
        source.write_text(code)
        return output_of("java", str(source))


def python_draws(turn: int = 0) -> list[str]:
    source = random.Random(f"a state that no 32-bit seed gives {turn or ''}")
    return [str(source.getrandbits(32)) for _ in range(733)]


def twister_draws(seed: int) -> list[str]:
    truth = Hypothesis("mt19937", "raw", 1 << 32, seed=seed)
    return [str(draw) for draw in generate(truth, 80)]


def php_argv(program: str, draws: list[str], _: str) -> list[str]:
    return [program, *(part for draw in draws[:20] for part in (draw, draw, "0", "999"))]


def untwister(seed: int) -> Rival:
    """Return the entry for a seed; untwister gets twice the seed as its bound."""
    return Rival(
        "untwister", "untwister",
        f"MT19937 words, seed {seed:,}; untwister given the bound {2 * seed:,}",
        "glibc, MT19937, PHP, Ruby, Java by seed and depth; some states from whole words",
        lambda: twister_draws(seed),
        lambda program, _, file: [
            program, "-i", file, "-r", "mt19937", "-t", "1", "-d", "60", "-b",
            "-s", "0", "-S", str(2 * seed),
        ],
        lambda _: f"Found seed {seed} ",
        60, ("--families", "mt19937", "--outputs", "raw", "--modulus", str(1 << 32)),
        "a program in C++",
    )  # fmt: skip


RIVALS = (
    Rival(
        "php_mt_seed", "php_mt_seed",
        f"PHP `mt_rand(0, 999)`, seed {PHP_SEED:,}",
        "PHP's `mt_rand` by seed, three versions in turn, ranges and gaps, from one draw on",
        php_draws, php_argv, lambda _: f"seed = 0x{PHP_SEED:08x} = {PHP_SEED} (PHP 7.1.0+)",
        60, ("--families", "php_mt", "--outputs", "bounded"),
    ),
    *map(untwister, MT_SEEDS),
    Rival(
        "Python-random-module-cracker", "randcrack/randcrack.py",
        "CPython `getrandbits(32)`, any state, from 624 words (weft: 633)",
        "MT19937's state from exactly 624 whole words",
        python_draws,
        lambda program, _, file: [
            "PYTHON", "-c", RANDCRACK_DRIVER, str(Path(program).parents[1]), file,
        ],
        lambda draws: " ".join(draws[624:720]),
        633, ("--families", "cpython", "--modulus", str(1 << 32)),
        "a library in Python, without a command: as one, a script of seven lines",
    ),
    Rival(
        "v8-randomness-predictor", "main.py",
        "Node `Math.random()`, from 5 values (weft: 10)",
        "the next `Math.random()` of V8 within one block of 64, from whole fractions",
        node_draws,
        lambda program, draws, _: ["PYTHON", "-c", V8_DRIVER, program, *draws[:5]],
        lambda draws: draws[5],
        10, ("--families", "v8"),
        "a script in Python around Z3, the values edited in: as a call, the script compiled",
    ),
    Rival(
        "randcrack", "randcrack_st",
        f"Java `nextInt(1000)`, 48-bit seed {JAVA_SEED:,}",
        "java.util.Random: `nextInt()`, `nextInt(n)` of even n, shuffles; a few missing values",
        java_draws,
        lambda program, draws, _: [
            program, "-method", "nextIntn", "-probn", "1000", "-next", "30",
            "-values", ",".join(draws[:25]),
        ],
        lambda draws: "\n".join(draws[1:31]),
        60, ("--families", "java", "--outputs", "bounded"),
        "a program in Go",
    ),
)  # fmt: skip


def main(options: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks prngrivals")
    parser.add_argument("--rivals", type=Path, required=True, help="folder of built checkouts")
    parser.add_argument("--rival-python", default="python3", help="runs rivals in Python")
    parser.add_argument("--only", help="renew one row: the name of its folder")
    args = parser.parse_args(options or [])
    chosen = [rival for rival in RIVALS if args.only in (None, rival.folder)]
    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_STATE_HOME"] = place
        os.environ["PYTHONPYCACHEPREFIX"] = f"{place}/bytecode"  # as installed programs have it
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        body = {"date": time.strftime("%Y-%m-%d"), "cpu": cpu_name()}
        body |= {"import_s": import_s("weft.searches.prng.search"), "numpy_s": import_s("numpy")}
        body |= {
            "typer_s": import_s("typer"),
            "libraries": libraries(args.rivals, args.rival_python),
        }
        for rival in chosen:  # written row by row, so that no measurement is lost
            row = compare(rival, args.rivals, args.rival_python, Path(place))
            FIGURES.write_text(json.dumps({**body, "rows": merged(row)}, indent=1) + "\n")
    page = PAGES / "prng.md"
    page.write_text(with_section(page.read_text()))
    print(section(json.loads(FIGURES.read_text())))


def merged(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all rows so far, including those of earlier runs, with this one, in order."""
    before = json.loads(FIGURES.read_text())["rows"] if FIGURES.is_file() else []
    by_call = {item["call"]: item for item in (*before, row)}
    return [by_call[rival.call] for rival in RIVALS if rival.call in by_call]


def compare(rival: Rival, rivals: Path, python: str, place: Path) -> dict[str, Any]:
    """Run both programs alternately, after a run of ours that compiles; check every answer."""
    draws = rival.draws()
    file = place / f"{rival.folder}.txt"
    file.write_text("".join(f"{draw}\n" for draw in draws[: rival.given]))
    program = rivals / rival.folder / rival.program
    row: dict[str, Any] = {"rival": rival.folder, "call": rival.call, "covers": rival.covers}
    row |= {"commit": commit(program.parent), "version": VERSION, "theirs": [], "ours": []}
    weft = [sys.executable, "-m", "weft", "prng", "analyse", str(file), *rival.weft, *PLAIN]
    argv = rival.argv(str(program.resolve()), draws, str(file))
    argv = [python if part == "PYTHON" else part for part in argv]
    slowest_s, *_ = until(weft, None, draws[rival.given :])
    for turn in range(TURNS):
        if turn == 0 or slowest_s <= LONG_S:
            row["ours"].append(until(weft, None, draws[rival.given :]))
            row["theirs"] += [until(argv, rival.answer(draws))] if program.is_file() else []
            slowest_s = max(turn[0] for turn in (*row["ours"], *row["theirs"]))
    print(line(row), flush=True)
    return row


def import_s(module: str) -> float:
    """Return the CPU seconds of a process that imports a module and exits."""
    argv = [sys.executable, "-c", f"import {module}"]
    return statistics.median(cpu_of(argv) for _ in range(1 + 2 * TURNS))


def libraries(rivals: Path, python: str) -> list[dict[str, Any]]:
    """Return the CPU seconds of the import and of each call, on a new history per call."""
    words = [[int(x) for x in python_draws(turn)] for turn in range(LIBRARY_TURNS)]
    values = [[float(x) for x in node_draws()[:20]] for _ in range(LIBRARY_TURNS)]
    cracker, predictor = "Python-random-module-cracker", "v8-randomness-predictor"
    python_words, node_values = ["cpython", "633"], ["v8", "10"]
    compared = (
        ("624 words of CPython (weft: 633)", cracker, CRACKER_AS_LIBRARY, words, python_words),
        ("5 values of Node (weft: 10)", predictor, V8_AS_LIBRARY, values, node_values),
    )
    return [
        {"call": call, "rival": rival}
        | {
            side: warmed(argv, histories)
            for side, argv in (
                ("theirs", [python, "-c", code, str((rivals / rival).resolve())]),
                ("ours", [sys.executable, "-c", OURS_AS_LIBRARY, *ours]),
            )
        }
        for call, rival, code, histories, ours in compared
    ]


def warmed(argv: list[str], histories: list[list[Any]]) -> list[float]:
    """Return the seconds of a process; a similar one first compiles the modules it imports."""
    in_process(argv, histories[:2])
    return in_process(argv, histories)


def in_process(argv: list[str], histories: list[list[Any]]) -> list[float]:
    result = subprocess.run(argv, check=True, capture_output=True, text=True,
                            input=json.dumps(histories))  # fmt: skip
    seconds: list[float] = json.loads(result.stdout)
    return seconds


def cpu_of(argv: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def commit(folder: Path) -> str:
    argv = ["git", "-C", str(folder), "rev-parse", "--short=7", "HEAD"]
    return subprocess.run(argv, check=False, capture_output=True, text=True).stdout.strip()


def until(argv: list[str], answer: str | None, following: list[str] | None = None) -> list[float]:
    """Run until the answer is printed, or to the end; return CPU and wall seconds."""
    argv = ["stdbuf", "-oL", *argv]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    begin_s, text = time.perf_counter(), ""
    with subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            text += line
            if answer is not None and answer in text:
                os.kill(process.pid, signal.SIGKILL)  # `kill` would reap one that has ended
                break
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
    if answer is not None:
        assert answer in text, f"{argv[2]} did not find {answer[:60]!r}: {text[-500:]}"
    else:
        check_prediction(json.loads(text), following or [])
    return [usage.ru_utime + usage.ru_stime, time.perf_counter() - begin_s]


def check_prediction(run: dict[str, Any], following: list[str]) -> None:
    """Assert that the predicted draws are those that the runtime produced next."""
    predicted = run["answer"]["found"][0]["next"][: len(following)]
    truth = [int(float(x) * 2**32) if "." in x else int(x) for x in following]
    assert predicted == truth, f"predicted {predicted[:5]}, not {truth[:5]}"


def with_section(page: str, published: str = "") -> str:
    """Return the page with this section, if its figures exist, and the sections after it.

    These are taken from `published`, or from the page itself if that is empty.
    """
    before = page.partition(f"\n{HEADING}\n")[0]
    rest = (published or page).partition(f"\n{HEADING}\n")[2]
    after = "".join(rest.partition("\n## ")[1:])
    if not FIGURES.is_file():
        return f"{before.rstrip()}\n{after}"
    return f"{before.rstrip()}\n\n{section(json.loads(FIGURES.read_text())).rstrip()}\n{after}"


def section(body: dict[str, Any]) -> str:
    rows = "\n".join(map(line, body["rows"]))
    kinds = {rival.folder: rival.kind for rival in RIVALS}
    programs = [
        f"| {row['rival']} {row['commit']} | {kinds[row['rival']]} | {row['covers']} |"
        for row in body["rows"]
    ]
    covered = "\n".join(dict.fromkeys(programs))
    return f"""\
{HEADING}

`python -m benchmarks prngrivals --rivals DIR`, {body["date"]}, {body["cpu"]}. Each
program runs on the problem it was made for, alternating with weft. This table compares commands,
the next one library calls; the last one describes each program. Figures are CPU seconds of the
whole command up to the answer, with one thread or worker: medians over the number of repeats in the
table (wall seconds in brackets, on a machine with other load). Histories come from real runtimes,
MT19937's words from the reference implementation, and every answer was checked. weft is told the
generator, as the other programs are; the version is that of its search.

| history | program | its CPU s | weft's CPU s | repeats | version | weft takes |
|---|---|---|---|---|---|---|
{rows}

{_start_up(body)}\
php_mt_seed has no option for the version of PHP: it tries the seeding of PHP up to 5.2.0 first.
Seeds per second are compared in [prng-seeds.md](prng-seeds.md). untwister's first seed is small, so
the time to load Numba dominates there.{body.get("note", "")}

| program, commit | what it is | what it covers |
|---|---|---|
{covered}
| weft prng | a command and a library in Python | [its generators](../prng.md) by seed or state,\
 with skips, starts, wrong rows |
"""


def _start_up(body: dict[str, Any]) -> str:
    """State what start-up costs; empty for older figures, which lack some of it."""
    if "libraries" not in body:
        return ""
    rows = "\n".join(map(library_line, body["libraries"]))
    return f"""\
As a command weft is slower than the state crackers because of its start-up: a process that imports
its search and exits takes {body["import_s"]:.2f} CPU s;
one that imports typer, which parses its command line, takes
{body["typer_s"]:.2f}; one that imports NumPy, which is not needed there, {body["numpy_s"]:.2f}.
Workers fork from the command. weft also holds out some draws, predicts them, and writes a ledger;
so it needs more draws than the state crackers, which hold out none.

Library calls compare the attacks themselves: {LIBRARY_TURNS} histories
one after another in one process, each with a different state; CPU milliseconds of the first call
and the median of the others (`from weft.searches.prng import recover`). Every prediction was
checked: for words 100 draws, for Node the next value of the predictor and the next ten of weft.

| history | program | import | first | next | weft: import | first | next | weft takes |
|---|---|---|---|---|---|---|---|---|
{rows}

"""


def library_line(row: dict[str, Any]) -> str:
    theirs, ours = (statistics.median(row[side][2:]) for side in ("theirs", "ours"))
    cells = [f"{1000 * s:.1f}" for s in (*row["theirs"][:2], theirs, *row["ours"][:2], ours)]
    return f"| {row['call']} | {row['rival']} | {' | '.join(cells)} | {ours / theirs:.2g} × |"


def line(row: dict[str, Any]) -> str:
    ours = median(row["ours"])
    if not row["theirs"]:
        figures = f"not measured | {shown(ours)} | {len(row['ours'])} | {row['version']} |"
        return f"| {row['call']} | {row['rival']} | {figures} |"
    theirs = median(row["theirs"])
    ratio = statistics.median(a[0] / b[0] for a, b in zip(row["ours"], row["theirs"], strict=True))
    figures = f"{shown(theirs)} | {shown(ours)} | {len(row['ours'])} | {row['version']}"
    return f"| {row['call']} | {row['rival']} | {figures} | {ratio:.2g} × |"


def median(turns: list[list[float]]) -> list[float]:
    return [statistics.median(turn[at] for turn in turns) for at in (0, 1)]


def shown(seconds: list[float]) -> str:
    return f"{seconds[0]:.2f} ({seconds[1]:.1f})"
