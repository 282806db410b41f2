"""Set values of JSON and TOML files in place, or mutate them slightly from a seed.

Only the text of the value is replaced, so comments and layout are preserved; the file is then
parsed again to check that nothing else changed. Random draws come from SHA-256 and arithmetic is
decimal, so that a seed gives the same result on every machine.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from pathlib import Path
from typing import TypeAlias

PAIR = re.compile(r"""[ \t]*(?P<key>[^=#\[\n"']+|"[^"\n]*"|'[^'\n]*')[ \t]*=[ \t]*""")
PLAIN = re.compile(r"[A-Za-z0-9_-]+")
BLANK = re.compile(r"[ \t\r\n]*")
DIGITS = Context(prec=6)
"""A mutated fraction has at most six significant digits."""
FINE = 1000
"""Number of steps, in either direction, of a mutated fraction."""
TRIES = 20
Number: TypeAlias = bool | int | float
Scalar: TypeAlias = bool | int | float | str
"""The values a parameter may have."""
Parsed: TypeAlias = "Scalar | list[Parsed] | dict[str, Parsed] | None"
"""A parsed JSON or TOML file; TOML dates are left unchanged."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """How numbers of a file are mutated on every node; amounts as decimal text."""

    file: str
    keys: tuple[str, ...]
    """Dotted names; empty for every number of the file."""
    count: int
    at_once: int
    scale: str
    step: str
    low: str
    high: str


@dataclass(frozen=True, slots=True)
class ParameterIdea:
    """Values to set in a file, by dotted name."""

    file: str
    values: Mapping[str, Scalar]


class Conflict(Exception):  # noqa: N818 - an outcome of an idea
    """The idea does not apply to the files."""


def inside(work: Path, name: str) -> Path:
    """Return a path in the worktree; raises Conflict if it leads outside."""
    path = (work / name).resolve()
    if not path.is_relative_to(work.resolve()):
        raise Conflict(f"{name} is outside the repository")
    return path


# -- set ----------------------------------------------------------------------------------------


def with_values(idea: ParameterIdea, data: bytes) -> bytes:
    """Return a file's bytes with the values of an idea set, in its order."""
    text, is_toml = _decoded(data, idea.file), idea.file.endswith(".toml")
    for key, value in idea.values.items():
        text = with_value(text, key.split("."), value, is_toml=is_toml)
    return text.encode()


def with_value(text: str, keys: Sequence[str], value: Scalar, *, is_toml: bool) -> str:
    """Return a file's text with only one value replaced; raises Conflict if that is impossible."""
    body = _parse(text, is_toml=is_toml)
    place: Parsed = body
    for name in keys[:-1]:
        place = place.get(name) if isinstance(place, dict) else None
    if not isinstance(place, dict) or keys[-1] not in place:
        raise Conflict(f"there is no value {'.'.join(keys)}")
    place[keys[-1]] = value
    start, end = (_toml_span if is_toml else _json_span)(text, keys)
    written = json.dumps(value, ensure_ascii=False)
    if is_toml:
        written = written.replace("\x7f", "\\u007f")  # the one character only TOML forbids
    changed = text[:start] + written + text[end:]
    if _parse(changed, is_toml=is_toml) != body:
        raise Conflict(f"{'.'.join(keys)} cannot be set in place")
    return changed


def _read(path: Path, name: str) -> str:
    if not path.is_file():
        raise Conflict(f"{name} is not there")
    return _decoded(path.read_bytes(), name)


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Conflict(f"{name} is not UTF-8") from None


def _parse(text: str, *, is_toml: bool) -> Parsed:
    try:
        parsed: Parsed = tomllib.loads(text) if is_toml else json.loads(text)
        return parsed
    except (ValueError, RecursionError) as error:
        raise Conflict(f"the file cannot be read: {' '.join(str(error).split())[:200]}") from None


def _json_span(text: str, keys: Sequence[str]) -> tuple[int, int]:
    """Return the start and end of a value's text; the whole text is known to be valid JSON."""
    read = json.JSONDecoder().raw_decode
    at = _after_blank(text, 0)
    for key in keys:
        at = _after_blank(text, at + 1)
        name, at = read(text, at)
        while name != key:
            at = _after_blank(text, read(text, _after_colon(text, at))[1])
            name, at = read(text, _after_blank(text, at + 1))
        at = _after_colon(text, at)
    return at, read(text, at)[1]


def _after_blank(text: str, at: int) -> int:
    blank = BLANK.match(text, at)
    assert blank is not None
    return blank.end()


def _after_colon(text: str, at: int) -> int:
    return _after_blank(text, _after_blank(text, at) + 1)


def _toml_span(text: str, keys: Sequence[str]) -> tuple[int, int]:
    """Return the start and end of a value's text; raises Conflict unless a line has just it."""
    table: list[str] = []
    offset = 0
    for line in text.split("\n"):
        if line.lstrip().startswith("["):
            table = _toml_names(line)
        elif (pair := PAIR.match(line)) and [*table, *_toml_names(f"{pair['key']}=0")] == [*keys]:
            start = offset + pair.end()
            return start, start + len(_toml_value(line[pair.end() :]))
        offset += len(line) + 1
    raise Conflict(f"{'.'.join(keys)} has no line of its own")


def _toml_names(line: str) -> list[str]:
    """Return the dotted name in a header or before an equals sign."""
    try:
        body: Parsed = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return [""]  # inside a longer value; no key has this name
    names = []
    while isinstance(body, dict) and len(body) == 1:
        [(name, body)] = body.items()
        names.append(name)
    return names


def _toml_value(rest: str) -> str:
    """Return the text of a value without a trailing comment."""
    cuts = [*(i for i, c in enumerate(rest) if c == "#"), len(rest)]
    for cut in cuts:
        value = rest[:cut].rstrip()
        try:
            tomllib.loads(f"x={value}")
        except tomllib.TOMLDecodeError:
            continue
        return value
    raise Conflict("the value does not end on its line")


# -- mutate -------------------------------------------------------------------------------------


class Draw:
    """Pseudo-random numbers from a seed."""

    def __init__(self, seed: str) -> None:
        self._seed, self._count = seed, 0

    def below(self, limit: int) -> int:
        """Return the next number from 0 to `limit` - 1."""
        self._count += 1
        digest = hashlib.sha256(f"{self._seed}/{self._count}".encode()).digest()
        return int.from_bytes(digest) % limit


def mutations(mutation: Mutation, work: Path, seed: str) -> list[ParameterIdea]:
    """Return up to `mutation.count` distinct ideas that each mutate a few values of a file.

    Raises Conflict if the file or a key is missing.
    """
    path = inside(work, mutation.file)
    text, is_toml = _read(path, mutation.file), path.suffix == ".toml"
    known = numbers(_parse(text, is_toml=is_toml))
    names = list(mutation.keys) or [n for n in sorted(known) if _can_be_set(text, n, is_toml)]
    if missing := [name for name in names if name not in known]:
        raise Conflict(f"{mutation.file} has no number {missing[0]}")
    draw = Draw(seed)
    choices: list[dict[str, Scalar]] = []
    for _ in range(mutation.count * TRIES if names else 0):
        values = _moved_some(names, known, mutation, draw)
        if values and values not in choices:
            choices.append(values)
        if len(choices) == mutation.count:
            break
    return [ParameterIdea(mutation.file, values) for values in choices]


def _can_be_set(text: str, name: str, is_toml: bool) -> bool:
    try:
        with_value(text, name.split("."), 0, is_toml=is_toml)
    except Conflict:
        return False
    return True


def numbers(body: Parsed, above: str = "") -> dict[str, Number]:
    """Return every number and boolean of a file by dotted name."""
    named: dict[str, Number] = {}
    for name, value in body.items() if isinstance(body, dict) else ():
        if not PLAIN.fullmatch(name):
            continue
        if isinstance(value, dict):
            named |= numbers(value, f"{above}{name}.")
        elif isinstance(value, bool | int | float):
            named[above + name] = value
    return named


def _moved_some(
    names: Sequence[str], known: Mapping[str, Number], mutation: Mutation, draw: Draw
) -> dict[str, Scalar]:
    remaining = list(names)
    values: dict[str, Scalar] = {}
    for _ in range(min(mutation.at_once, len(remaining))):
        name = remaining.pop(draw.below(len(remaining)))
        value = moved(known[name], mutation, draw)
        if value != known[name]:
            values[name] = value
    return dict(sorted(values.items()))


def moved(value: Number, mutation: Mutation, draw: Draw) -> Number:
    """Return a mutation of a value within the bounds; a boolean is negated."""
    if isinstance(value, bool):
        return not value
    old = Decimal(repr(value))
    reach = abs(old) * Decimal(mutation.scale)
    if isinstance(value, int):
        most = max(int(reach), int(Decimal(mutation.step)), 1)
        new = old + (1 + draw.below(most)) * (1 - 2 * draw.below(2))
    else:
        part = Decimal(draw.below(2 * FINE + 1) - FINE) / FINE
        new = DIGITS.plus(old + (reach or Decimal(mutation.step)) * part)
    new = max(new, Decimal(mutation.low)) if mutation.low else new
    new = min(new, Decimal(mutation.high)) if mutation.high else new
    return int(new) if isinstance(value, int) else float(new)
