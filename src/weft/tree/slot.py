"""What happens on the slot around a stage: its files are laid out, its result is read strictly.

Everything lies in the attempt's own folder, which is removed whatever happens. A score is kept
as decimal text exactly as it was written; NaN, infinity, a boolean or no score are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from weft.errors import FileInvalid
from weft.model import strictjson
from weft.model.results import TaskError
from weft.tree.decide import EXACT
from weft.treetools import stage as tool
from weft.worker.command import CommandRun, expand
from weft.worker.context import get, note, put_file
from weft.worker.ending import Ending

MAX_RESULT_BYTES = 4 * 2**20
MAX_DIGITS = 400
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]{1,3})?")
FIELDS = (
    "score", "metrics", "rows", "holdout", "artifacts", "cost", "notes", "approved", "feedback",
)  # fmt: skip


class Invalid(Exception):  # noqa: N818 - an outcome of a command
    """A result that cannot be taken; says why."""


# -- before -------------------------------------------------------------------------------------


def prepare(run: CommandRun) -> dict[str, str]:
    """Write the recorded state, the idea and the settings of a stage into the attempt's folder."""
    args, folder = run.args, run.out_dir.parent
    note(slot=run.slot, eval_id=args["eval_id"], stage=args["stage"])
    names = run.names() | _files(run, folder)
    spec = {
        "stage": args["stage"],
        "root": str(folder / "root"),
        "diffs": [str(folder / f"{number}.diff") for number in range(len(args["diffs"]))],
        "tree": args["tree"],
        "worktree": names["worktree"],
        "parent_commit": args["parent_commit"],
        "message": args.get("message", ""),
        "idea_kind": args.get("idea_kind"),
        "idea_file": names["idea_file"],
        "protected": args["protected"],
        "candidate": str(folder / "candidate.json"),
        "argv": [expand(word, names) for word in args["command"]],
        "env": _environment(args, names),
        "timeout_s": args["timeout_s"],
    }
    (folder / "spec.json").write_text(json.dumps(spec), "utf-8")
    return {"tool": tool.__file__, "spec": str(folder / "spec.json")}


def _files(run: CommandRun, folder: Path) -> dict[str, str]:
    """Lay out what the tool and the command read; return the names templates may use."""
    args = run.args
    (folder / "root").write_bytes(get(args["root"]))
    for number, diff in enumerate(args["diffs"]):
        (folder / f"{number}.diff").write_bytes(get(diff))
    idea = folder / "idea" / Path(args["idea_path"] or "none").name
    idea.parent.mkdir()
    idea.write_bytes(get(args["idea"]) if "idea" in args else b"")
    told = {
        "parent_result": json.dumps(args.get("parent_result")),
        "sweep_result": json.dumps(args.get("sweep")),
        "feedback_file": args.get("feedback", ""),
    }
    for name, text in told.items():
        (folder / name).write_text(text, "utf-8")
    return {
        "idea_file": str(idea),
        "worktree": str(folder / "worktree"),
        "result_file": str(run.out_dir / "result.json"),
        "eval_id": "root" if args["eval_id"] is None else f"e{args['eval_id']}",
        **{name: str(folder / name) for name in told},
    }


def _environment(args: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, str]:
    own = {
        "WEFT_EVAL_ID": names["eval_id"],
        "WEFT_NODE_ID": f"n{args['parent_node_id']}",
        "WEFT_DEPTH": str(args["depth"]),
        "WEFT_STAGE": args["stage"],
        "WEFT_IDEA_FILE": names["idea_file"],
        "WEFT_RESULT_FILE": names["result_file"],
        "WEFT_PARENT_RESULT": names["parent_result"],
        "WEFT_SWEEP_RESULT": names["sweep_result"],
        "WEFT_FEEDBACK_FILE": names["feedback_file"],
    }
    return own | {name: expand(value, names) for name, value in args["env"].items()}


# -- after --------------------------------------------------------------------------------------


def collect(run: CommandRun) -> dict[str, Any]:
    """Read what the stage left behind; the value is all that is decided from."""
    stage, folder = run.args["stage"], run.out_dir.parent
    told = json.loads((folder / "candidate.json").read_text("utf-8"))
    if "refused" in told:
        raise Ending(TaskError(told["refused"], stage), detail=told["why"])
    try:
        result = read_result(run)
        if stage == "implement":
            diff = put_file(folder / "candidate.diff")
            return {**told, "diff": diff, "cost": result.get("cost")}
        if stage == "score" and "score" not in result:
            raise Invalid("no score: write it to the result file, or as the last line of stdout")
        return {**result, "seal": told["seal"]}
    except Invalid as error:
        kind = "score-invalid" if stage == "score" else "result-invalid"
        raise Ending(TaskError(kind, stage), detail=f"{error}\n\n{run.tail()}") from None


def read_result(run: CommandRun) -> dict[str, Any]:
    """Return the checked result of a command: of its file, or of its last line of stdout.

    Raises Invalid when it is malformed or when both sources have one.
    """
    file = run.out_dir / "result.json"
    line = _last_line(run.stdout)
    if file.is_file() and line is not None:
        raise Invalid("a result file and a result on stdout: there must be one")
    if file.is_file():
        if file.is_symlink() or file.stat().st_size > MAX_RESULT_BYTES:
            raise Invalid("the result file is no plain file of reasonable size")
        return checked(file.read_bytes(), "the result file")
    return {} if line is None else checked(line, "the last line of stdout")


def _last_line(path: Path) -> bytes | None:
    data = path.read_bytes()[-MAX_RESULT_BYTES:] if path.is_file() else b""
    lines = data.strip().splitlines()
    return lines[-1] if lines and lines[-1].lstrip().startswith(b"{") else None


def checked(data: bytes, where: str) -> dict[str, Any]:
    """Read a result strictly; numbers that decide come back as decimal text."""
    try:
        strictjson.loads(data, where=where, max_bytes=MAX_RESULT_BYTES)
        raw = json.loads(data, parse_float=_Number, parse_int=_Number)
    except (FileInvalid, ValueError) as error:
        raise Invalid(str(error)) from None
    if not isinstance(raw, dict):
        raise Invalid(f"{where} is not a JSON object")
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
    for name, kind in (("approved", bool), ("feedback", str)):
        if name in raw and not isinstance(raw[name], kind):
            raise Invalid(f"{name} is not a {kind.__name__}")
    return result


class _Number(str):
    """A number of a result, as it was written."""

    __slots__ = ()


def _plain(value: Any) -> Any:
    """Turn numbers that decide nothing into their text."""
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _decimal(value: Any, name: str) -> str:
    if not isinstance(value, _Number):
        raise Invalid(f"{name} is {type(value).__name__}, not a number")
    if len(value) > MAX_DIGITS or not NUMBER.fullmatch(value):
        raise Invalid(f"{name} {value[:40]} is not a number to compare")
    try:
        return f"{EXACT.normalize(Decimal(str(value))):f}"
    except InvalidOperation:
        raise Invalid(f"{name} {value[:40]} is not a number") from None


def _count(rows: Any, name: str) -> int:
    found = rows.get(name) if isinstance(rows, dict) else None
    if not isinstance(found, _Number) or not found.isdigit() or len(found) > 15:
        raise Invalid(f"rows.{name} is not a count")
    return int(found)


def _cost(cost: Any) -> dict[str, Any]:
    if not isinstance(cost, dict):
        raise Invalid("cost is not an object")
    usd = _decimal(cost.get("usd", _Number("0")), "cost.usd")
    if usd.startswith("-"):
        raise Invalid("cost.usd is negative")
    names = ("input_tokens", "output_tokens")
    tokens = {n: _count({n: cost.get(n, _Number("0"))}, n) for n in names}
    return {"usd": usd, **tokens}
