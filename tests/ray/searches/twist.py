"""A module beside the search, imported by its tasks."""

from __future__ import annotations


def spun(name: str, size: int) -> bytes:
    return (name.encode() * (size // len(name) + 1))[:size]
