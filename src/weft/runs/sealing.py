"""The last steps of a run after its answer: signing it, and making its files read-only.

A crash after the last checkpoint leaves a run whose content is finished, but which may not be
signed or read-only yet. `is_over` reports this, and the next command completes these steps.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from weft.errors import LedgerDamaged
from weft.lazy_imports import lazy_imports
from weft.ledger.checkpoint import origin_of, parse_checkpoint
from weft.storage.folder import RunFolder
from weft.storage.ledgerfile import read_checkpoint, read_note

with lazy_imports():
    from weft import signing


def signer(sign_key: Path | None, search: str) -> Callable[[str], str] | None:
    """Return a function that wraps a checkpoint in a signed note; None without a key."""
    if sign_key is None:
        return None
    key = signing.load_private_key(sign_key)
    return lambda text: signing.sign_checkpoint(text, origin_of(search), key)


def is_over(folder: RunFolder, sign_key: Path | None) -> bool:
    """Whether nothing is left to do: finished, read-only and, with a key, signed by it."""
    if not folder.is_finished() or (sign_key and not _is_signed(folder, sign_key)):
        return False
    return folder.is_read_only() or not os.access(folder.path, os.W_OK)


def _is_signed(folder: RunFolder, sign_key: Path) -> bool:
    """Whether the key has signed the current checkpoint."""
    public_key = signing.load_private_key(sign_key).public_key()
    try:
        text = signing.check_signed_note(read_note(folder.signature) or "", public_key)
        return parse_checkpoint(text) == read_checkpoint(folder.checkpoint)
    except LedgerDamaged:
        return False
