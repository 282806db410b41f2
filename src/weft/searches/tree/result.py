"""Parse the result of a command strictly, in our format or in that of other tools' evaluators.

Numbers that affect decisions become exact decimal text. NaN, infinity, booleans, repeated keys,
unknown fields and several results at once are refused. Other tools' timings are dropped, since they
would make equal runs differ.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from pathlib import Path

from weft.errors import FileInvalid
from weft.model import strictjson
from weft.model.codec import Table
from weft.model.values import Value
from weft.searches.tree.decimals import EXACT, MAX_DIGITS, NUMBER

MAX_RESULT_BYTES = 4 * 2**20
FIELDS = (
    "score", "metrics", "rows", "holdout", "artifacts", "cost", "notes", "approved", "feedback",
    "failed",
)  # fmt: skip


class Invalid(Exception):  # noqa: N818 - an outcome of a command
    """A result that cannot be accepted; the message is the reason."""


class Tampered(Invalid):
    """A result that may not have been written by the scorer."""


def read_sent(line: str | None, out_dir: Path, form: str) -> dict[str, Value]:
    """Return the checked result that a command sent over its channel; empty if it sent none.

    `form` is as in `read_result`. Raises Tampered if there is also a result file, whose path the
    command never got, and Invalid if the result is malformed.
    """
    path = out_dir / "result.json"
    if path.exists() or path.is_symlink() or out_dir.is_symlink():
        raise Tampered("a result file was written, and the scorer has a channel for its result")
    if line is None:
        return {}
    raw = parse_object(line.encode(), "the result that was sent")
    return check_fields(TRANSLATORS[form](raw) if form in TRANSLATORS else raw, "the result")


def read_result(out_dir: Path, stdout: Path, form: str, regex: str) -> dict[str, Value]:
    """Return the checked result of a command; empty if it left none.

    `form` is the tool whose evaluator wrote it; `regex` extracts a score from stdout.
    Raises Invalid if the result is malformed or there is more than one.
    """
    if out_dir.is_symlink():
        raise Invalid("the folder of the result was replaced by a link")
    if form == "shinka":
        return _from_shinka(out_dir)
    sources = [_of_file(out_dir / "result.json"), _of_line(stdout)]
    sources += [_of_text(stdout, regex)] if regex else []
    present = [source for source in sources if source is not None]
    if len(present) > 1:
        raise Invalid(f"{present[0][1]} and {present[1][1]} hold a result: there must be one")
    if not present:
        return {}
    data, where = present[0]
    raw = parse_object(data, where)
    return check_fields(TRANSLATORS[form](raw) if form in TRANSLATORS else raw, where)


# -- sources ------------------------------------------------------------------------------------


def _of_file(path: Path) -> tuple[bytes, str] | None:
    if not path.is_file():
        return None
    if path.is_symlink() or path.stat().st_size > MAX_RESULT_BYTES:
        raise Invalid(f"{path.name} is no plain file of reasonable size")
    return path.read_bytes(), f"the file {path.name}"


def _of_line(stdout: Path) -> tuple[bytes, str] | None:
    lines = _printed(stdout).strip().splitlines()
    if lines and lines[-1].lstrip().startswith(b"{"):
        return lines[-1], "the last line of stdout"
    return None


def _of_text(stdout: Path, regex: str) -> tuple[bytes, str] | None:
    matches = re.findall(regex, _printed(stdout).decode("utf-8", "replace"))
    if not matches:
        return None
    return f'{{"score": {matches[-1]}}}'.encode(), "the text that fits the regex"


def _printed(stdout: Path) -> bytes:
    return stdout.read_bytes()[-MAX_RESULT_BYTES:] if stdout.is_file() else b""


# -- other tools --------------------------------------------------------------------------------


EVO = {
    "EVO_RESULT_PATH": "{result_file}",
    "EVO_TRACES_DIR": "{out_dir}/traces",
    "EVO_EXPERIMENT_ID": "{eval_id}",
    "EVO_ATTEMPT": "{attempt}",
    "EVO_WORKTREE": "{worktree}",
}
TIMES = ("execution_time_mean", "execution_time_std", "started_at", "ended_at")


def _from_shinka(out_dir: Path) -> dict[str, Value]:
    files = [_of_file(out_dir / name) for name in ("metrics.json", "correct.json")]
    if files[0] is None or files[1] is None:
        raise Invalid("metrics.json and correct.json are needed, both")
    metrics, correct = (parse_object(*file) for file in files if file)
    result = check_fields(from_shinka(metrics, correct), files[0][1])
    return {**result, "rows": {"ok": int(correct["correct"] is True), "expected": 1}}


def from_openevolve(raw: Table) -> dict[str, Value]:
    """Convert metrics, as `evaluate` returns them, or an EvaluationResult with its artifacts."""
    inner = raw.get("metrics")
    metrics = inner if isinstance(inner, dict) else raw
    result = _combined(metrics)
    if isinstance(inner, dict) and raw.get("artifacts"):
        result["artifacts"] = raw["artifacts"]
    return result


def from_shinka(metrics: Table, correct: Table) -> dict[str, Value]:
    """Convert `metrics.json`, which has the score, and `correct.json`, which may have an error."""
    verdict = correct.get("correct")
    if not isinstance(verdict, bool):
        raise Invalid("correct.json: correct is not true or false")
    notes = correct.get("error") or metrics.get("text_feedback")
    without = () if correct.get("error") else ("text_feedback",)
    result = _combined(_without(metrics, *without))
    return {**result, "notes": notes} if notes else result


def from_evo(raw: Table) -> dict[str, Value]:
    """Convert a result with a `score`; task scores and everything else become metrics."""
    if "score" not in raw:
        raise Invalid("no score")
    return {"score": raw["score"], "metrics": _without(raw, "score", *TIMES)}


TRANSLATORS = {"openevolve": from_openevolve, "evo": from_evo}


def tool_environment(form: str) -> dict[str, str]:
    """Return the environment variables that a tool's evaluators expect, as templates."""
    return EVO if form == "evo" else {}


def _combined(metrics: Table) -> dict[str, Value]:
    if "combined_score" not in metrics:
        raise Invalid("no combined_score among the metrics")
    rest = _without(metrics, "combined_score", *TIMES)
    return {"score": metrics["combined_score"], "metrics": rest}


def _without(raw: Table, *names: str) -> dict[str, Value]:
    return {name: value for name, value in raw.items() if name not in names}


# -- reading ------------------------------------------------------------------------------------


def parse_object(data: bytes, where: str) -> dict[str, Value]:
    """Parse one JSON object strictly, keeping numbers as text."""
    try:
        strictjson.loads(data, where=where, max_bytes=MAX_RESULT_BYTES)
        raw = json.loads(data, parse_float=_Number, parse_int=_Number)
    except FileInvalid as error:
        raise Invalid(error.message) from None
    except ValueError as error:
        raise Invalid(str(error)) from None
    if not isinstance(raw, dict):
        raise Invalid(f"{where} is not a JSON object")
    return raw


def check_fields(raw: Table, where: str) -> dict[str, Value]:
    """Check every field; return score, holdout and cost as decimal text."""
    unknown = sorted(raw.keys() - set(FIELDS))
    if unknown:
        raise Invalid(f"{where} has an unknown field {unknown[0][:60]!r}")
    result = {name: _plain(value) for name, value in raw.items()}
    for name in ("score", "holdout"):
        if name in raw:
            result[name] = _decimal(raw[name], name)
    if raw.get("rows") is not None:
        result["rows"] = {name: _count(raw["rows"], name) for name in ("ok", "expected")}
    if raw.get("cost") is not None:
        result["cost"] = _cost(raw["cost"])
    for name, kind in (("approved", bool), ("feedback", str), ("failed", str)):
        if name in raw and not isinstance(raw[name], kind):
            raise Invalid(f"{name} is not a {kind.__name__}")
    if raw.get("failed") == "":
        raise Invalid("failed is empty: write the reason, or leave it out")
    return result


class _Number(str):
    """A number in a result, as written."""

    __slots__ = ()


def _plain(value: Value) -> Value:
    """Convert numbers to their text."""
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _decimal(value: Value, name: str) -> str:
    if not isinstance(value, _Number):
        raise Invalid(f"{name} is {type(value).__name__}, not a number")
    if len(value) > MAX_DIGITS or not NUMBER.fullmatch(value):
        raise Invalid(f"{name} {value[:40]} is not a number to compare")
    try:
        return f"{EXACT.normalize(Decimal(str(value))):f}"
    except InvalidOperation:
        raise Invalid(f"{name} {value[:40]} is not a number") from None


def _count(rows: Value, name: str) -> int:
    number = rows.get(name) if isinstance(rows, dict) else None
    if not isinstance(number, _Number) or not number.isdigit() or len(number) > 15:
        raise Invalid(f"rows.{name} is not a count")
    return int(number)


def _cost(cost: Value) -> dict[str, Value]:
    if not isinstance(cost, dict):
        raise Invalid("cost is not an object")
    usd = _decimal(cost.get("usd", _Number("0")), "cost.usd")
    if usd.startswith("-"):
        raise Invalid("cost.usd is negative")
    names = ("input_tokens", "output_tokens")
    tokens = {n: _count({n: cost.get(n, _Number("0"))}, n) for n in names}
    return {"usd": usd, **tokens}
