"""Commits as bytes, with a fixed author and date: equal contents give equal commit ids."""

from __future__ import annotations

import hashlib

WHO = "weft tree <tree@weft.invalid> 946684800 +0000"


def commit_text(tree: str, parent: str, message: str) -> bytes:
    """Return the bytes of a commit, which depend only on its contents."""
    head = f"tree {tree}\nparent {parent}\nauthor {WHO}\ncommitter {WHO}\n"
    return f"{head}\n{message.rstrip()}\n".encode()


def commit_id(text: bytes) -> str:
    """Return git's id of a commit with these bytes."""
    return hashlib.sha1(b"commit %d\0" % len(text) + text, usedforsecurity=False).hexdigest()
