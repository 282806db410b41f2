"""A bank of concepts: named chains of operators, and the concepts that each contains.

A concept costs less than its operators one by one, so programs that use it are found sooner. A
bank's content is bound into a run's genesis. Programs found with concepts are recorded with the
operators written out, so running them never needs the bank.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from weft.errors import FileInvalid
from weft.model import codec, strictjson
from weft.model.jsonfields import as_array, as_integer, as_text
from weft.model.values import JsonValue, canonical
from weft.searches.arc.ops.operator import Palette, ShapeEffect
from weft.searches.arc.ops.registry import BY_NAME
from weft.searches.arc.synthesis.language import LanguageEntry

SCHEMA_VERSION = 1
MAX_BYTES = 4 * 2**20
MAX_STEPS = 4
"""The most operators in a concept's chain."""


@dataclass(frozen=True, slots=True)
class Concept:
    """A named chain of operators, its price, and the tasks it was learned from."""

    name: str
    operators: tuple[str, ...]
    millibits: int
    tasks: tuple[str, ...]
    """Digests of the tasks whose programs use it."""
    concepts: tuple[str, ...] = ()
    """Other concepts of the bank whose chains it contains."""

    def entry(self) -> LanguageEntry:
        """Return the concept as the search uses it."""
        steps = [BY_NAME[name] for name in self.operators]
        return LanguageEntry(
            self.name, steps[0].takes, steps[-1].gives, ShapeEffect.ANY, Palette.ANY,
            self.millibits, tuple((s.kernel, s.p, s.q) for s in steps), self.operators,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Bank:
    """Concepts in a fixed order."""

    concepts: tuple[Concept, ...]
    schema_version: Literal[1] = 1

    def entries(self) -> tuple[LanguageEntry, ...]:
        """Return all concepts as the search uses them."""
        return tuple(concept.entry() for concept in self.concepts)

    def digest(self) -> str:
        """Return the SHA-256 of the canonical form."""
        return hashlib.sha256(canonical(codec.to_json(self)).encode()).hexdigest()

    def to_json(self) -> str:
        """Return the text of the file that `weft arc learn` writes."""
        return json.dumps(codec.to_json(self), indent=1, sort_keys=True) + "\n"

    @staticmethod
    def from_dict(raw: JsonValue, where: str = "bank") -> Bank:
        """Read a bank's JSON; raises `FileInvalid` if any field is wrong."""
        if not isinstance(raw, dict) or raw.get("schema_version") != SCHEMA_VERSION:
            raise FileInvalid(f"{where}: schema_version must be {SCHEMA_VERSION}")
        if set(raw) != {"schema_version", "concepts"} or not isinstance(raw["concepts"], list):
            raise FileInvalid(f"{where}: a bank has schema_version and a list of concepts")
        concepts = [
            _concept(item, f"{where}: concept {i}") for i, item in enumerate(raw["concepts"])
        ]
        names = [concept.name for concept in concepts]
        for i, concept in enumerate(concepts):
            if concept.name in BY_NAME or concept.name in names[:i]:
                raise FileInvalid(f"{where}: concept {i}: the name {concept.name!r} is taken")
            unknown = [name for name in concept.concepts if name not in names]
            if unknown:
                raise FileInvalid(f"{where}: concept {i} depends on {unknown[0]!r}, not in it")
        return Bank(tuple(concepts))

    @staticmethod
    def read(path: Path) -> Bank:
        """Read a bank file; raises `FileInvalid` if it is not one."""
        if not path.is_file():
            raise FileInvalid(f"bank {path} does not exist or is not a regular file")
        raw = strictjson.loads(path.read_bytes(), where=str(path), max_bytes=MAX_BYTES)
        return Bank.from_dict(raw, str(path))


def _concept(raw: JsonValue, where: str) -> Concept:
    fields = sorted(Concept.__slots__)
    if not isinstance(raw, dict) or sorted(raw) != fields:
        raise FileInvalid(f"{where}: fields must be {', '.join(fields)}")
    name = as_text(raw["name"], f"{where}: name")
    millibits = as_integer(raw["millibits"], f"{where}: millibits")
    operators = _words(raw["operators"], f"{where}: operators")
    unknown = [operator for operator in operators if operator not in BY_NAME]
    if unknown:
        raise FileInvalid(
            f"{where}: there is no operator {unknown[0]!r} in this version of weft arc"
        )
    if not 2 <= len(operators) <= MAX_STEPS:
        raise FileInvalid(f"{where}: a concept has 2 to {MAX_STEPS} operators")
    for earlier, later in pairwise(operators):
        if BY_NAME[earlier].gives is not BY_NAME[later].takes:
            raise FileInvalid(f"{where}: {later} cannot follow {earlier}")
    if not name.isidentifier() or millibits < 1:
        raise FileInvalid(f"{where}: a name is one word, a price at least 1")
    tasks = _words(raw["tasks"], f"{where}: tasks")
    return Concept(name, operators, millibits, tasks, _words(raw["concepts"], f"{where}: concepts"))


def _words(raw: JsonValue, where: str) -> tuple[str, ...]:
    return tuple(as_text(word, where) for word in as_array(raw, where))
