"""Typed values of a recorded run, read back without importing anything."""

from __future__ import annotations

from collections.abc import Mapping

from weft.define import declared_types
from weft.model.records import FunctionTypes
from weft.model.values import Object
from weft.storage.objects import ObjectStore


class StoredValues:
    """Typed values of a recorded run.

    No module is imported: a dataclass whose task is not loaded is read as the dict of its fields.
    """

    def __init__(self, objects: ObjectStore, imports: Mapping[str, str] | None = None) -> None:
        self._objects, self._imports = objects, imports or {}

    def read(self, reference: Object) -> bytes:
        """Return the bytes of an object, checked against its name."""
        return self._objects.read(reference.digest)

    def types(self, function: str) -> FunctionTypes:
        """Return the annotations of a task, if its module is loaded."""
        return declared_types(self._imports.get(function, function))
