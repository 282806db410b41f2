"""Typed values of a run: where their bytes are stored, and which annotations restore them."""

from __future__ import annotations

from weft.define import declared_types
from weft.errors import ValueInvalid
from weft.model.leaves import Object
from weft.model.records import FunctionTypes, check_rebuilt, rebuild, rebuild_args
from weft.model.values import Value, decode_trusted, encode
from weft.storage.objects import ObjectStore


class RunValues:
    """Stores what the search passes on and reads what its tasks return.

    Only functions that the search itself has called are imported, by the path that it gave.
    """

    def __init__(self, objects: ObjectStore) -> None:
        self.has_records = False
        """Set when a dataclass was encoded."""
        self._objects = objects
        self._paths: dict[str, str] = {}

    def note(self, function: str, path: str) -> None:
        """Note a task that the search calls, and its import path."""
        self._paths[function] = path

    def put(self, data: bytes) -> Object:
        """Store bytes durably, before anything that names them is written."""
        return Object(self._objects.add(data))

    def read(self, reference: Object) -> bytes:
        """Return the bytes of an object, checked against its name."""
        return self._objects.read(reference.digest)

    def types(self, function: str) -> FunctionTypes:
        """Return the annotations of a task that the search has called."""
        return declared_types(self._paths[function], load=True)

    def check_args(self, function: str, args: object, text: str) -> None:
        """Refuse dataclasses that the task's annotations do not restore exactly."""
        self.has_records = False
        recorded = decode_trusted(text)
        check_rebuilt(args, rebuild_args(recorded, self.types(function), self.read))

    def pass_on(self, value: object) -> tuple[str, Value]:
        """Encode an answer; return its text, and its value as the recipient sees it."""
        text = encode(value, self)
        if self.has_records:
            self.has_records = False
            raise ValueInvalid(
                "a search's answer contains a dataclass, which no annotation names",
                hint="return dataclasses.asdict(answer)",
            )
        return text, rebuild(decode_trusted(text), None, self.read)
