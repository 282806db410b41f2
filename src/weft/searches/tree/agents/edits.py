"""Edits of files in a model's answer: search-replace blocks and unified diffs, read leniently.

    text ─ parse ─► Edit(file, old, new) ─ apply ─► files, all of them or none

Models fence, indent and number in their own ways, so the line numbers of a diff are only hints: an
edit applies where its old lines are found. If they are missing, or ambiguous without such a hint,
the edit is refused with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

MAX_EDITS = 500
MAX_BYTES = 2 * 2**20
"""Limit on the total size of the files that an answer changes."""
SEARCH = re.compile(r"<{5,9} ?SEARCH\s*")
MIDDLE = re.compile(r"={5,9}\s*")
REPLACE = re.compile(r">{5,9} ?REPLACE\s*")
FILE = re.compile(r"[#*\s]*FILE:\s*`?(?P<name>[^`\n]+?)`?[*\s]*", re.IGNORECASE)
PATH = re.compile(r"[#*\s]*`?(?P<name>[\w.+@-]+(/[\w.+@-]+)*\.?\w*)`?:?[*\s]*")
FENCE = re.compile(r"\s*(```|~~~)")
OLD_FILE = re.compile(r"--- (?P<name>[^\t\n]+)")
NEW_FILE = re.compile(r"\+\+\+ (?P<name>[^\t\n]+)")
HUNK = re.compile(r"@@ -(?P<line>\d+)(,\d+)? \+\d+(,\d+)? @@")
NOWHERE = "/dev/null"


class EditsInvalid(Exception):  # noqa: N818 - an outcome of an answer
    """Edits that cannot be applied; the message is the reason, written for the model."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One change: replace the old lines of a file with new ones; no old lines mean a new file."""

    file: str
    old: tuple[str, ...]
    new: tuple[str, ...]
    line: int | None = None
    """Line number given by a diff."""
    deletes: bool = False
    """Whether the edit deletes the file."""


def parse(text: str) -> list[Edit]:
    """Return the edits of an answer, in order; raises EditsInvalid, also if there are none."""
    lines = text.splitlines()
    edits = list(_blocks(lines)) or list(_hunks(lines))
    if not edits:
        raise EditsInvalid("no edit was found: neither a search-replace block nor a unified diff")
    if len(edits) > MAX_EDITS:
        raise EditsInvalid(f"{len(edits)} edits, {MAX_EDITS} are the most")
    return edits


# -- search-replace blocks ------------------------------------------------------------------


def _blocks(lines: Sequence[str]) -> Iterator[Edit]:
    name, number = "", 0
    while number < len(lines):
        if not SEARCH.fullmatch(lines[number]):
            name = _name_in(lines, number) or name
            number += 1
            continue
        middle = _find(MIDDLE, lines, number + 1)
        end = _find(REPLACE, lines, middle + 1)
        if not name:
            raise EditsInvalid(f"the block at line {number + 1} names no file: write FILE: path")
        yield Edit(name, tuple(lines[number + 1 : middle]), tuple(lines[middle + 1 : end]))
        number = end + 1


def _name_in(lines: Sequence[str], number: int) -> str:
    """Return the path that a line gives for the block below it; empty if it gives none."""
    if match := FILE.fullmatch(lines[number]):
        return match["name"].strip()
    below = lines[number + 1 : number + 3]
    if below and FENCE.match(below[0]):
        below = below[1:]
    if below and SEARCH.fullmatch(below[0]) and (match := PATH.fullmatch(lines[number])):
        return match["name"]
    return ""


def _find(marker: re.Pattern[str], lines: Sequence[str], start: int) -> int:
    for number in range(start, len(lines)):
        if marker.fullmatch(lines[number]):
            return number
    raise EditsInvalid(f"the block before line {start + 1} has no end: it may have been cut off")


# -- unified diffs --------------------------------------------------------------------------


def _hunks(lines: Sequence[str]) -> Iterator[Edit]:
    before = after = ""
    number = 0
    while number < len(lines):
        line = lines[number]
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if (old := OLD_FILE.match(line)) and (new := NEW_FILE.match(following)):
            before, after = _path(old["name"]), _path(new["name"])
            number += 2
        elif before and (match := HUNK.match(line)):
            body, number = _hunk(lines, number + 1)
            yield _edit(before, after, body, int(match["line"]))
        else:
            number += 1


def _path(name: str) -> str:
    name = name.strip()
    return name[2:] if name[:2] in ("a/", "b/") else name


def _hunk(lines: Sequence[str], start: int) -> tuple[list[str], int]:
    """Return the lines of a hunk and its end; an empty line counts as empty context."""
    number = start
    while number < len(lines) and (lines[number][:1] in (" ", "+", "-", "\\") or not lines[number]):
        if OLD_FILE.match(lines[number]) and NEW_FILE.match(
            "".join(lines[number + 1 : number + 2])
        ):
            break
        number += 1
    body = [line or " " for line in lines[start:number] if not line.startswith("\\")]
    while body and body[-1] == " ":  # empty lines between the diff and what follows it
        body.pop()
    return body, number


def _edit(before: str, after: str, body: Sequence[str], line: int) -> Edit:
    old = tuple(text[1:] for text in body if text[0] in " -")
    new = tuple(text[1:] for text in body if text[0] in " +")
    name = before if after == NOWHERE else after
    return Edit(name, () if before == NOWHERE else old, new, line, deletes=after == NOWHERE)


# -- applying to files ----------------------------------------------------------------------


def apply(edits: Sequence[Edit], folder: Path) -> list[str]:
    """Apply all edits to files below `folder`, or none; return their names. Raises EditsInvalid."""
    texts: dict[str, str | None] = {}
    for edit in edits:
        place = _inside(folder, edit.file)
        name = place.relative_to(folder.resolve()).as_posix()
        if name not in texts:
            texts[name] = _text_of(place, edit.file)
        texts[name] = None if edit.deletes else _changed(texts[name], replace(edit, file=name))
    if sum(len(text or "") for text in texts.values()) > MAX_BYTES:
        raise EditsInvalid(f"the files have more than {MAX_BYTES:,} characters together")
    for name, text in texts.items():
        path = folder / name
        if text is None:
            path.unlink(missing_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8", newline="")
    return sorted(texts)


def _inside(folder: Path, name: str) -> Path:
    """Return a path below the folder; raises EditsInvalid if it leads outside."""
    try:
        place = (folder / name).resolve()
    except (OSError, ValueError) as error:
        raise EditsInvalid(f"{name[:100]!r} is not a path: {error}") from None
    root = folder.resolve()
    if not place.is_relative_to(root) or place == root or ".git" in place.relative_to(root).parts:
        raise EditsInvalid(f"{name[:100]!r} lies outside the repository")
    return place


def _text_of(place: Path, name: str) -> str | None:
    if not place.exists():
        return None
    try:
        with place.open(encoding="utf-8", newline="") as file:
            text = file.read(MAX_BYTES + 1)
    except (OSError, UnicodeDecodeError):
        raise EditsInvalid(f"{name[:100]}: it is not a text file") from None
    if len(text) > MAX_BYTES:
        raise EditsInvalid(f"{name[:100]}: it has more than {MAX_BYTES:,} characters")
    return text


def _changed(now: str | None, edit: Edit) -> str:
    if now is None or (not edit.old and not now):
        if edit.old:
            raise EditsInvalid(f"{edit.file}: there is no such file")
        return "".join(f"{line}\n" for line in edit.new)
    if not edit.old:
        raise EditsInvalid(f"{edit.file}: the file is there already: name the lines to replace")
    end = "\r\n" if "\r\n" in now else "\n"
    lines = now.split(end)
    places = _places(lines, edit.old)
    if not places:
        raise EditsInvalid(f"{edit.file}: the lines to replace are not there: {_shown(edit.old)}")
    if len(places) > 1 and edit.line is None:
        count = f"{len(places)} times"
        raise EditsInvalid(
            f"{edit.file}: the lines to replace are there {count}: {_shown(edit.old)}"
        )
    hint = edit.line or 1
    place = min(places, key=lambda start: abs(start + 1 - hint))
    return end.join([*lines[:place], *edit.new, *lines[place + len(edit.old) :]])


def _places(lines: Sequence[str], old: Sequence[str]) -> list[int]:
    """Return where the lines occur: exactly, or failing that, ignoring trailing white space."""
    for same in (lambda line: line, str.rstrip):
        pattern, normalised = [same(line) for line in old], [same(line) for line in lines]
        starts = range(len(normalised) - len(pattern) + 1)
        places = [start for start in starts if normalised[start : start + len(pattern)] == pattern]
        if places:
            return places
    return []


def _shown(lines: Sequence[str]) -> str:
    first = next((line.strip() for line in lines if line.strip()), "")
    return repr(first[:80])
