"""Options that several commands share, and functions that parse their values.

Values are checked here, before anything is imported or written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from weft.errors import FileInvalid, UsageError
from weft.model import strictjson
from weft.model.values import JsonValue

DECISION = "Decision (bound into the ledger)"
EXECUTION = "Execution"
MAX_ARGS_BYTES = 16 * 2**20
ARGS_EXAMPLE = """write it like --args '{"size": 40}'"""


def _option(panel: str, metavar: str | None, words: str, *names: str, **more: Any) -> Any:
    """Declare an option; a flag has no metavar."""
    return typer.Option(*names, metavar=metavar, help=words, rich_help_panel=panel, **more)


decision = partial(_option, DECISION)
"""Declares an option that can change the outcome."""
runtime = partial(_option, EXECUTION)
"""Declares an option that controls how a run is executed."""
output = partial(_option, "Output")
"""Declares an option that controls what is printed."""

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run's folder.")]
KeyArgument = Annotated[
    str, typer.Argument(metavar="KEY", help="A task's key, its first digits, or LANE:ROUND:INDEX.")
]

Args = Annotated[str, decision("JSON", "The search's arguments as a JSON object, or @FILE.")]
Seed = Annotated[int, decision("N", "The run's seed.")]
Inputs = Annotated[
    list[str] | None,
    decision("NAME=PATH", "A file the search reads; copied into the run. Repeatable.", "--input"),
]
Budgets = Annotated[
    list[str] | None, decision("NAME=N", "A count the search may spend. Repeatable.", "--budget")
]
Retries = Annotated[int, decision("N", "Extra attempts after a timeout or weft.Temporary.")]
Timeout = Annotated[float | None, decision("S", "Time limit of one attempt, in seconds.")]
Strict = Annotated[
    bool,
    decision(
        None, "Treat a failed task as if its value had been used: its search ends.", "--strict"
    ),
]
Out = Annotated[Path, runtime("DIR", "The run's folder.")]
Workers = Annotated[
    int | None,
    runtime("N", "Worker processes. Default: one per usable core; on resume, as before."),
]
Backend = Annotated[
    str | None,
    runtime(
        "serial|local|ray",
        "Where tasks run: one worker, workers on this machine, or a Ray cluster.",
    ),
]
Nodes = Annotated[Path | None, runtime("FILE", "Nodes and their slots (TOML or JSON).")]
RayAddress = Annotated[
    str | None,
    runtime(
        "HOST:PORT",
        "Address of the Ray cluster; local starts one for this run. Default: from weft nodes up.",
    ),
]
SimulateNodes = Annotated[
    bool,
    runtime(
        None, "Run the slots of all nodes on this machine, in this folder.", "--simulate-nodes"
    ),
]
Stagger = Annotated[
    float | None, runtime("S", "Seconds between the starts of workers on one node.")
]
Placement = Annotated[
    str | None,
    runtime(
        "greedy|static",
        "Next task to the first free slot, or planned in advance."
        " Default: greedy; on resume, as before.",
    ),
]
Accept = Annotated[
    list[str],
    runtime(
        "WHAT",
        "Continue despite: code (changed, or stored in the run), copy (of a run that exists"
        " elsewhere), rollback (an older state), sandbox (no longer available here)."
        " Repeatable.",
    ),
]
WallLimit = Annotated[float | None, runtime("S", "Interrupt the run after S seconds.")]
SignKey = Annotated[
    Path | None, runtime("FILE", "Ed25519 private key (PEM) that signs every checkpoint.")
]
GroupCap = Annotated[
    int | None, runtime("N", "Most tasks of one group (weft.task(group=…)) at a time.")
]
PauseAt = Annotated[str | None, runtime("NAME", "Pause at this milestone of the search.")]
Tags = Annotated[
    list[str] | None,
    runtime("TEXT", "A label shown by weft status. Repeatable.", "--tag"),
]
SearchPath = Annotated[Path | None, runtime("DIR", "Where to import the search from.", "--path")]
AsJson = Annotated[bool, output(None, "Print one JSON object.", "--json")]
AsJsonLines = Annotated[bool, output(None, "Print one JSON object per line.", "--json")]
QUIET_HELP = "Only results and errors: no progress, messages or warnings."
Quiet = Annotated[bool, output(None, QUIET_HELP, "-q", "--quiet")]
Verbose = Annotated[
    int,
    output(
        "",
        "Progress lines even without a terminal; -vv shows tracebacks.",
        "-v",
        "--verbose",
        count=True,
        show_default=False,
    ),
]


def read_args(text: str) -> dict[str, JsonValue]:
    """Parse `--args`: a JSON object, or `@FILE` that contains one."""
    data: str | bytes = text
    where, hint = "--args", ARGS_EXAMPLE
    if text.startswith("@"):
        where, hint = f"--args {text}", strictjson.CORRECT_IT
        data = read_file(Path(text[1:]), where)
    value: JsonValue = strictjson.loads(data, where=where, max_bytes=MAX_ARGS_BYTES, hint=hint)
    if not isinstance(value, dict):
        raise FileInvalid(f"{where}: a JSON {_json_name(value)}, not an object", hint=ARGS_EXAMPLE)
    return value


def read_inputs(items: Sequence[str] | None) -> dict[str, Path]:
    """Parse `--input NAME=PATH`; a name may contain `=` if a later `=` is followed by a file."""
    return {n: Path(path) for n, path in _pairs("--input", "PATH", items or (), _input_parts)}


def read_budgets(items: Sequence[str] | None) -> dict[str, int]:
    """Parse `--budget NAME=N`."""
    return {name: _count(name, text) for name, text in _pairs("--budget", "N", items or ())}


def check_seconds(option: str, value: float | None) -> None:
    """Refuse a time that is not positive and finite."""
    if value is not None and not 0 < value < float("inf"):
        raise UsageError(f"{option} must be above 0 seconds, not {value}")


def check_stagger(value: float | None) -> None:
    """Refuse a stagger outside 0 to 3600 seconds."""
    if value is not None and not 0 <= value <= 3600:
        raise UsageError(f"--stagger must be 0 to 3600 seconds, not {value}")


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):  # too long, or with a NUL
        return False


def _input_parts(item: str) -> tuple[str, str]:
    """Split at the first `=` that is followed by an existing file, or else at the first `=`."""
    places = [at for at, letter in enumerate(item) if letter == "="]
    existing = (at for at in places if _is_file(item[at + 1 :]))
    at = next(existing, places[0] if places else len(item))
    return item[:at], item[at + 1 :]


def _parts(item: str) -> tuple[str, str]:
    name, _, value = item.partition("=")
    return name, value


def _pairs(
    option: str,
    what: str,
    items: Sequence[str],
    parts: Callable[[str], tuple[str, str]] = _parts,
) -> list[tuple[str, str]]:
    pairs, names = [], set()
    for item in items:
        name, value = parts(item)
        if not value:
            raise UsageError(f"{option} {item[:80]!r} is not NAME={what}")
        if not name or not name.isprintable():
            raise UsageError(f"{option} {item[:80]!r}: a name is printable text")
        if name in names:
            raise UsageError(f"{option} {name} is given twice")
        names.add(name)
        pairs.append((name, value))
    return pairs


def _count(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise UsageError(f"--budget {name}={text[:80]!r} is not a count (0 to 999999999999999)")
    return int(text)


def read_file(path: Path, where: str) -> bytes:
    """Return the bytes of a regular file of at most MAX_ARGS_BYTES."""
    try:
        if not path.is_file():
            what = "is not a regular file" if path.exists() else "does not exist"
            raise FileInvalid(f"{where}: {path} {what}")
        if path.stat().st_size > MAX_ARGS_BYTES:
            raise FileInvalid(f"{where}: more than {MAX_ARGS_BYTES} bytes")
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise FileInvalid(f"{where}: {getattr(error, 'strerror', None) or error}") from None


def _json_name(value: object) -> str:
    names = {list: "array", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")
