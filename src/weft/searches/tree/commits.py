"""Commits as bytes: a fixed author and date, so that the same contents have the same name."""

from __future__ import annotations

import hashlib

WHO = "weft tree <tree@weft.invalid> 946684800 +0000"


def commit_text(tree: str, parent: str, message: str) -> bytes:
    """Return the bytes of a commit that anyone would make from the same contents."""
    head = f"tree {tree}\nparent {parent}\nauthor {WHO}\ncommitter {WHO}\n"
    return f"{head}\n{message.rstrip()}\n".encode()


def commit_id(text: bytes) -> str:
    """Return the name git gives to a commit with these bytes."""
    return hashlib.sha1(b"commit %d\0" % len(text) + text, usedforsecurity=False).hexdigest()
