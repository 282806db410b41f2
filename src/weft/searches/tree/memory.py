"""Conversation memory: the transcript of all commands on the path to a node, as turns.

Each node has one transcript. A child forks its parent's: it starts with the parent's turns and adds
those of the eval that created it; siblings never see each other's. Turns are JSON lines of `role`
and `text`, stored as objects of the run; a command gets the last ones that fit a window.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from weft import put
from weft.errors import FileInvalid
from weft.model import strictjson
from weft.model.values import Object, Value
from weft.searches.tree.config import TreeConfig
from weft.searches.tree.result import Invalid
from weft.searches.tree.stageargs import MemoryArgs
from weft.worker import context

Read = Callable[[Object], bytes]
Store = Callable[[bytes], Object]

FILES = ("transcript_file", "turns_file")
"""The file that a command reads, and the file that it may write."""
TURNS = "out/turns.jsonl"
"""Path below the attempt's folder where a command may write turns."""
MAX_BYTES = 4 * 2**20
MAX_TURN_CHARS = 100_000
"""Limit on the part of a command's stdout that is kept as one turn."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message and its role: `user`, `assistant`, or one that the command defines."""

    role: str
    text: str


def dump(turns: Iterable[Turn]) -> bytes:
    """Encode turns as JSON lines."""
    lines = [json.dumps(asdict(turn), ensure_ascii=False, sort_keys=True) for turn in turns]
    return "".join(f"{line}\n" for line in lines).encode()


def parse(data: bytes) -> list[Turn]:
    """Parse JSON lines of turns; raises Invalid, which names the line."""
    turns = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            turns.append(_turn(line, f"line {number} of the turns"))
    return turns


def window(turns: Sequence[Turn], max_turns: int, max_chars: int) -> list[Turn]:
    """Return the last turns within both limits; the newest is truncated at its start if needed."""
    turns_shown: list[Turn] = []
    remaining = max_chars
    for turn in reversed(turns[-max_turns:]):
        if len(turn.text) > remaining and turns_shown:
            break
        turns_shown.append(Turn(turn.role, turn.text[max(0, len(turn.text) - remaining) :]))
        remaining -= min(remaining, len(turn.text))
        if not remaining:
            break
    return turns_shown[::-1]


def read_turns(turns_file: Path, stdout: Path, prompt: str) -> list[Turn]:
    """Return the turns a command adds: those it wrote, or else the prompt and its stdout."""
    if turns_file.is_symlink() or (turns_file.exists() and not turns_file.is_file()):
        raise Invalid("the turns are no plain file")
    if turns_file.is_file():
        if turns_file.stat().st_size > MAX_BYTES:
            raise Invalid(f"the turns are more than {MAX_BYTES:,} bytes")
        return parse(turns_file.read_bytes())
    printed = stdout.read_bytes()[-4 * MAX_TURN_CHARS :] if stdout.is_file() else b""
    answer = printed.decode("utf-8", "replace").strip()[-MAX_TURN_CHARS:]
    return [Turn("user", prompt[:MAX_TURN_CHARS]), Turn("assistant", answer)] if answer else []


def _turn(line: bytes, where: str) -> Turn:
    try:
        raw = strictjson.loads(line, where=where, max_bytes=MAX_BYTES)
    except FileInvalid as error:
        raise Invalid(error.message) from None
    if not isinstance(raw, dict) or raw.keys() != {"role", "text"}:
        raise Invalid(f"{where} is not an object with role and text")
    if not all(isinstance(raw[name], str) for name in ("role", "text")):
        raise Invalid(f"{where}: role and text are strings")
    return Turn(raw["role"], raw["text"])


def memory_args(config: TreeConfig, turns: Sequence[Object], stage: str) -> MemoryArgs | None:
    """Return the memory arguments of a stage with a command; None without memory."""
    if not config.remembers() or not config.has(stage):
        return None
    return MemoryArgs(tuple(turns), config.memory_turns, config.memory_chars)


# -- on the slot --------------------------------------------------------------------------------


def environment(args: MemoryArgs | None) -> dict[str, str]:
    """Return the environment variables of a command with a transcript, as templates."""
    return {} if args is None else {f"WEFT_{name.upper()}": f"{{{name}}}" for name in FILES}


def lay_out(args: MemoryArgs | None, folder: Path, read: Read) -> dict[str, str]:
    """Write the transcript for a command; return the paths of its files by name."""
    if args is None:
        return {}
    turns = [turn for reference in args.transcript for turn in parse(read(reference))]
    files = {"transcript_file": folder / "transcript.jsonl", "turns_file": folder / TURNS}
    files["transcript_file"].write_bytes(dump(window(turns, args.memory_turns, args.memory_chars)))
    return {name: str(path) for name, path in files.items()}


def put_text(data: bytes) -> Object:
    """Store text for people and agents, with the values of secrets redacted."""
    return put(context.current().secrets.redacted(data))


def collect_turns(
    args: MemoryArgs | None, folder: Path, stdout: Path, prompt: str, store: Store
) -> dict[str, Value]:
    """Store the turns that a command added and return the reference; empty without memory."""
    if args is None:
        return {}
    turns = read_turns(folder / TURNS, stdout, prompt)
    return {"turns": store(dump(turns)) if turns else None}
