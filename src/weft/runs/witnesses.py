"""Evidence about a run outside its ledger: heads, a checkpoint stored elsewhere, a signature.

A ledger alone cannot show that it was truncated or rewritten; these can. All become `Witness`es
(a size and the root seen at it), which are compared with the roots that the ledger has there.
A signature is a witness whoever made it; a public key then shows whether it is the right one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.errors import FileInvalid, LedgerDamaged, RunRolledBack, SignatureMissing, WeftError
from weft.lazy_imports import lazy_imports
from weft.ledger.checkpoint import Checkpoint, note_text, origin_of, parse_checkpoint
from weft.storage.folder import RunFolder
from weft.storage.heads import Head
from weft.storage.ledgerfile import MAX_NOTE_BYTES, read_note, read_signed

with lazy_imports():
    from weft import signing


@dataclass(frozen=True, slots=True)
class Witness:
    """Outside evidence that the ledger had this `root` at this `size`."""

    size: int
    root: bytes
    who: str
    final: bool = False
    """Whether a shorter ledger is damaged, which cannot be accepted as a roll-back."""


def witnesses(
    heads: Sequence[Head], against: Checkpoint | None = None, signed: Checkpoint | None = None
) -> list[Witness]:
    """Gather all witnesses, the smallest ledger first."""
    gathered = [Witness(h.size, _root(h), "a head stored outside the run") for h in heads]
    if against is not None:
        gathered.append(Witness(against.size, against.root, "the checkpoint given"))
    if signed is not None:
        gathered.append(Witness(signed.size, signed.root, "checkpoint.sig", final=True))
    return sorted(gathered, key=lambda witness: (witness.size, witness.who))


def check_witnesses(
    gathered: Sequence[Witness], size: int, roots: Mapping[int, bytes], *, finished: bool
) -> None:
    """Require that the ledger, of `size` records, agrees with each witness.

    Raises LedgerDamaged, or RunRolledBack for an unfinished run that is only too short for a
    witness that is not final.
    """
    agreed = 0
    for witness in gathered:
        if witness.size <= size:
            if roots.get(witness.size) != witness.root:
                raise _rewritten(witness, agreed)
            agreed = witness.size
    beyond = [witness for witness in gathered if witness.size > size]
    for witness in sorted(beyond, key=lambda witness: not witness.final):
        raise _too_short(witness, size, finished)


def read_against(path: Path, search: str, public_key: Path | None) -> Checkpoint:
    """Read a checkpoint stored elsewhere, plain or as a signed note; raises FileInvalid."""
    text = _read_note(path)
    try:
        if _is_note(text):
            text = _checked_text(text, public_key) if public_key else note_text(text)
        checkpoint = parse_checkpoint(text)
    except LedgerDamaged as error:
        raise FileInvalid(f"{path}: {error.message}") from None
    if checkpoint.origin != origin_of(search):
        raise FileInvalid(
            f"{path} is a checkpoint of {checkpoint.origin}, the run is of {origin_of(search)}"
        )
    return checkpoint


@dataclass(frozen=True, slots=True)
class Signature:
    """The checkpoint that `checkpoint.sig` signs, and whether the given key has signed it."""

    signed: Checkpoint | None
    key_name: str
    """Name of the given public key; empty if none was given."""
    missing: str
    """Why there is no signature by the given key; empty if there is one, or no key was given."""

    def verdict(self, size: int, *, finished: bool) -> str:
        """Return how far a ledger that extends the signed head is signed.

        Raises SignatureMissing if a key was given, and the ledger is not finished or not signed
        by that key to its end.
        """
        if self.missing:
            raise SignatureMissing(f"not signed: {self.missing}")
        if self.signed is None:
            return ""
        reach = f"signed to {self.signed.size} of {size}"
        if not self.key_name:
            return f"{reach}, not checked (give --public-key)"
        if not finished:
            raise SignatureMissing(f"{reach}: the run is not finished")
        if self.signed.size < size:
            raise SignatureMissing(f"{reach}: the records after them are not signed")
        return f"signed by {self.key_name}, checked"


def read_signature(folder: RunFolder, search: str, public_key: Path | None) -> Signature:
    """Read the run's signature and check it with the key given, if any.

    Raises LedgerDamaged if the file is not a signed checkpoint of the search, or its signature by
    this key does not match its text; FileInvalid for an invalid key.
    """
    name = folder.signature.name
    key_name = _key_name(origin_of(search), public_key) if public_key else ""
    signed = read_signed(folder.signature)
    if signed is None:
        return Signature(None, key_name, f"there is no {name}" if public_key else "")
    if signed.origin != origin_of(search):
        reason = f"it is over a checkpoint of {signed.origin}, the run is of {origin_of(search)}"
        raise LedgerDamaged(f"{name}: {reason}")
    try:
        if public_key:
            _checked_text(read_note(folder.signature) or "", public_key)
    except SignatureMissing as error:
        return Signature(signed, key_name, f"{name}: {error.message}")
    except LedgerDamaged as error:
        raise LedgerDamaged(f"{name}: {error.message}") from None
    return Signature(signed, key_name, "")


def _too_short(witness: Witness, size: int, finished: bool) -> WeftError:
    message = f"record {size}: missing; {witness.who} has {witness.size} records"
    if finished or witness.final:
        return LedgerDamaged(message, seq=size)
    hint = "restore the newer folder, or continue from here with --accept rollback"
    return RunRolledBack(message, hint=hint)


def _rewritten(witness: Witness, agreed: int) -> LedgerDamaged:
    last = witness.size - 1
    if not witness.size:
        return LedgerDamaged(f"{witness.who}: its root is not that of an empty ledger", seq=0)
    where = f"record {last}" if agreed == last else f"one of the records {agreed} to {last}"
    reason = f"{where} was altered: {witness.who} has another root over the first {last + 1}"
    return LedgerDamaged(reason, seq=agreed)


def _root(head: Head) -> bytes:
    try:
        return bytes.fromhex(head.root)
    except (TypeError, ValueError):
        return b""  # agrees with no ledger, so it is reported


def _read_note(path: Path) -> str:
    if not path.is_file():
        raise FileInvalid(f"{path} is not a file")
    with path.open("rb") as file:
        data = file.read(MAX_NOTE_BYTES + 1)
    if len(data) > MAX_NOTE_BYTES:
        raise FileInvalid(f"{path}: larger than any checkpoint")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise FileInvalid(f"{path}: not a checkpoint: it is not UTF-8") from None


def _is_note(text: str) -> bool:
    return "\n\n" in text


def _checked_text(note: str, public_key: Path) -> str:
    return signing.check_signed_note(note, signing.load_public_key(public_key))


def _key_name(origin: str, public_key: Path) -> str:
    return signing.key_hash(origin, signing.load_public_key(public_key)).hex()
