"""A history of draws: read from CSV, JSON or bare integers, validated, in canonical form.

Rows are `draw[, date[, session]]`, oldest first, with or without a heading; a heading may also
name the columns in another order. JSON is a list of integers, or of objects with `draw` and
optionally `date` and `session`; other keys and columns (`timestamp`, `full_state`) are ignored.
Errors name the file and row; nothing is guessed.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weft.errors import FileInvalid
from weft.model.codec import from_json, to_json
from weft.model.strictjson import loads
from weft.model.values import JsonValue
from weft.searches.prng.drawforms import DrawForm
from weft.searches.prng.records import JSON_ADVICE

COLUMNS = ("draw", "date", "session")
MAX_BYTES = 256 * 2**20
MAX_DRAWS = 10_000_000
MAX_CELL = 200
LARGEST = 2**64 - 1
_INTEGER = re.compile(r"-?[0-9]{1,40}")


@dataclass(frozen=True, slots=True)
class History:
    """Draws, oldest first; `sessions` names the session of each, or is empty."""

    draws: tuple[int, ...]
    sessions: tuple[str, ...] = ()
    form: DrawForm | None = None
    """How the draws were read; None if they are the file's numbers, unchanged."""

    def __len__(self) -> int:
        return len(self.draws)

    def canonical(self) -> bytes:
        """Return the canonical bytes of the content, independent of the source file's format."""
        body: dict[str, object] = {"draws": list(self.draws), "sessions": list(self.sessions)}
        if self.form is not None:
            body["form"] = to_json(self.form)
        return json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()

    @staticmethod
    def from_canonical(data: bytes) -> History:
        """Parse the output of `canonical`."""
        body = json.loads(data)
        form = from_json(DrawForm, body["form"]) if "form" in body else None
        return History(tuple(body["draws"]), tuple(body["sessions"]), form)

    def texts(self, draws: Sequence[int]) -> list[str]:
        """Return draws in the form of the file."""
        return [str(draw) for draw in draws] if self.form is None else self.form.texts(draws)

    def streams(self) -> dict[str, tuple[int, ...]]:
        """Return all draws as the stream "" and, if there are several sessions, each session.

        Sessions are in the order of their first draws.
        """
        names = list(dict.fromkeys(self.sessions))
        streams = {"": self.draws}
        if len(names) > 1:
            pairs = list(zip(self.draws, self.sessions, strict=True))
            streams |= {name: tuple(d for d, s in pairs if s == name) for name in names}
        return streams


def read_history(data: bytes, where: str) -> History:
    """Read a history; `where` names its source. Raises FileInvalid, naming the row."""
    if len(data) > MAX_BYTES:
        raise FileInvalid(f"{where}: more than {MAX_BYTES:,} bytes, which is the most allowed")
    if not data.strip():
        raise FileInvalid(f"{where}: is empty", hint="write one draw per row, oldest first")
    rows = list(_json_rows(data, where) if data.lstrip()[:1] in b"[{" else _csv_rows(data, where))
    if not rows:
        raise FileInvalid(f"{where}: has a header but no draws")
    if len(rows) > MAX_DRAWS:
        raise FileInvalid(f"{where}: {len(rows):,} draws, more than the {MAX_DRAWS:,} allowed")
    sessions = [session for _, session in rows]
    if None in sessions and any(session is not None for session in sessions):
        raise FileInvalid(f"{where}: row {sessions.index(None) + 1} has no session, others have")
    named = () if None in sessions else tuple(str(session) for session in sessions)
    return History(tuple(draw for draw, _ in rows), named)


Row = tuple[int, str | None]


def _csv_rows(data: bytes, where: str) -> Iterator[Row]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileInvalid(f"{where}: not UTF-8 text at byte {error.start}") from None
    if "\0" in text:
        raise FileInvalid(f"{where}: contains a NUL character; it should be text")
    order: Sequence[str] = COLUMNS
    for number, cells in enumerate(_cells(text, where), 1):
        if number == 1 and not _INTEGER.fullmatch(cells[0]):
            order = _heading(cells, where)
            continue
        if len(cells) > len(order):
            raise FileInvalid(
                f"{where}: row {number} has {len(cells)} cells; rows are {', '.join(order)}"
            )
        row = dict(zip(order, cells, strict=False))
        yield _draw(row.get("draw", ""), f"{where}: row {number}"), row.get("session")


def _cells(text: str, where: str) -> Iterator[list[str]]:
    """Split rows at commas or semicolons and drop empty rows."""
    first = text.lstrip().split("\n", 1)[0]
    split = ";" if ";" in first and "," not in first else ","
    try:
        for cells in csv.reader(io.StringIO(text, newline=""), delimiter=split, strict=True):
            if any(cell.strip() for cell in cells):
                yield [cell.strip() for cell in cells]
    except csv.Error as error:
        raise FileInvalid(f"{where}: not a table: {error}") from None


def _heading(cells: Sequence[str], where: str) -> tuple[str, ...]:
    names = tuple(cell.lower() for cell in cells)
    if "draw" not in names:
        raise FileInvalid(
            f"{where}: row 1 begins with {quoted(cells[0])}, which is neither an integer nor a"
            f" heading with a column called draw"
        )
    if len(set(names)) < len(names):
        raise FileInvalid(f"{where}: row 1 names a column twice")
    return names


def _json_rows(data: bytes, where: str) -> Iterator[Row]:
    value = loads(data, where=where, max_bytes=MAX_BYTES, hint=JSON_ADVICE)
    if not isinstance(value, list):
        raise FileInvalid(f"{where}: should be a list of draws, not an object")
    for number, item in enumerate(value, 1):
        place = f"{where}: row {number}"
        if not isinstance(item, dict):
            yield _json_draw(item, place), None
            continue
        if "draw" not in item:
            raise FileInvalid(f'{place}: the key "draw" is missing; a row has {", ".join(COLUMNS)}')
        session = item.get("session")
        if session is not None and not isinstance(session, str | int):
            raise FileInvalid(f"{place}: a session is a text or a number")
        yield _json_draw(item["draw"], place), None if session is None else str(session)[:MAX_CELL]


def _json_draw(value: JsonValue, place: str) -> int:
    if type(value) is not int:
        raise FileInvalid(f"{place}: {quoted(str(value))} is not an integer")
    return _within(value, place)


def _draw(text: str, place: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise FileInvalid(f"{place}: {quoted(text)} is not an integer")
    return _within(int(text), place)


def _within(value: int, place: str) -> int:
    if not 0 <= value <= LARGEST:
        raise FileInvalid(f"{place}: {quoted(str(value))} is not from 0 to 2^64 - 1")
    return value


def quoted(text: str) -> str:
    """Return a cell as quoted in errors: on one line and truncated."""
    clipped = text if len(text) <= 40 else text[:40] + "…"
    return json.dumps(clipped, ensure_ascii=True)
