"""Secret values that must not be stored: redacted in streamed text, detected in data.

Standard library only: supervisors use it too. Values of fewer than 8 characters are ignored, since
they could occur by chance.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

MIN_CHARS = 8
PIECE_BYTES = 1 << 20


class Secrets:
    """Variables whose values are kept out of everything that is stored."""

    def __init__(self, values: Mapping[str, str]) -> None:
        forms = {form: name for name, value in sorted(values.items()) for form in _forms(value)}
        self._names = {form.encode("utf-8", "surrogateescape"): n for form, n in forms.items()}
        longest_first = sorted(self._names, key=lambda form: (-len(form), form))
        self._pattern = re.compile(b"|".join(map(re.escape, longest_first)))
        self._longest = max(map(len, self._names), default=0)

    def __bool__(self) -> bool:
        return bool(self._names)

    def redacted(self, data: bytes) -> bytes:
        """Return data with each value replaced by its variable's name."""
        if not self._names:
            return data
        return self._pattern.sub(lambda match: f"[{self._names[match[0]]}]".encode(), data)

    def redacted_text(self, text: str) -> str:
        """Return text with each value replaced by its variable's name."""
        data = text.encode("utf-8", "surrogateescape")
        return self.redacted(data).decode("utf-8", "surrogateescape")

    def found_in(self, data: bytes) -> str:
        """Return the name of a variable whose value is in data; empty for none."""
        match = self._pattern.search(data) if self._names else None
        return self._names[match[0]] if match else ""

    def found_in_file(self, path: Path) -> str:
        """Return the name of a variable whose value is in a file or in its name; empty for none."""
        if name := self.found_in(os.fsencode(path.name)):
            return name
        if path.is_symlink():
            return self.found_in(os.fsencode(path.readlink()))
        rest = b""
        with path.open("rb") as file:
            while piece := file.read(PIECE_BYTES):
                if name := self.found_in(rest + piece):
                    return name
                rest = (rest + piece)[-self._longest :]
        return ""

    def found_below(self, folder: Path) -> str:
        """Return the name of a variable whose value is in a file of a folder; empty for none."""
        names = (self.found_in_file(path) for path in _files(folder))
        return next(filter(None, names), "")

    def remove_from(self, folder: Path) -> None:
        """Remove each file of a folder that contains a value."""
        for path in list(_files(folder)):
            if self.found_in_file(path):
                path.unlink()

    def unfinished(self, data: bytes) -> int:
        """Return how many of the last bytes of data could be the beginning of a value."""
        most = min(len(data), self._longest - 1)
        ends = (data[len(data) - size :] for size in range(most, 0, -1))
        return next((len(end) for end in ends if any(v.startswith(end) for v in self._names)), 0)


def _forms(value: str) -> set[str]:
    """Return a value as it is and as escaped in JSON; nothing if it is too short."""
    if len(value) < MIN_CHARS:
        return set()
    return {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}


def _files(folder: Path) -> Iterator[Path]:
    return (p for p in sorted(folder.rglob("*")) if p.is_symlink() or p.is_file())


class RedactedStream:
    """Redacts text on its way to a log, even where a value is split between writes."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """Accept the next bytes; return what can be stored."""
        data = self._secrets.redacted(self._held + data)
        size = len(data) - self._secrets.unfinished(data)
        self._held = data[size:]
        return data[:size]

    def end(self) -> bytes:
        """Return what was held back, now that nothing follows."""
        held, self._held = self._held, b""
        return held
