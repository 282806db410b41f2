"""What was noted about a run outside its folder: heads, a checkpoint kept elsewhere, a signature.

A ledger cannot see its own clean cut or rewriting; these can. Everything here becomes a list of
`Witness`es (a size and the root seen at it), to be compared with the roots the ledger has there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.errors import FileInvalid, LedgerDamaged, RunRolledBack, WeftError
from weft.ledger.checkpoint import Checkpoint, origin_of, parse_checkpoint
from weft.readers.ledgercheck import LedgerFacts
from weft.storage.folder import RunFolder
from weft.storage.heads import Head

MAX_NOTE_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Witness:
    """Someone outside the run who saw its ledger: `root` at `size`."""

    size: int
    root: bytes
    who: str


def witnesses(heads: Sequence[Head], against: Checkpoint | None) -> list[Witness]:
    """Gather all witnesses, the smallest ledger first."""
    found = [Witness(h.size, _root(h), "a head noted outside the run") for h in heads]
    if against is not None:
        found.append(Witness(against.size, against.root, "the checkpoint given"))
    return sorted(found, key=lambda witness: (witness.size, witness.who))


def check_witnesses(found: Sequence[Witness], facts: LedgerFacts, *, finished: bool) -> None:
    """Require that the ledger begins with what each witness saw.

    Raises LedgerDamaged, or RunRolledBack for an unfinished run that is only too short.
    """
    agreed = 0
    for witness in found:
        if witness.size > facts.size:
            raise _too_short(witness, facts.size, finished)
        if witness.size and facts.roots.get(witness.size) != witness.root:
            raise _rewritten(witness, agreed)
        agreed = witness.size


def read_against(path: Path, search: str, public_key: Path | None) -> Checkpoint:
    """Read a checkpoint kept elsewhere, plain or as a signed note; raises FileInvalid."""
    text = _read_note(path)
    try:
        if _is_note(text):
            text = _checked_text(text, public_key) if public_key else _text_of(text)
        checkpoint = parse_checkpoint(text)
    except LedgerDamaged as error:
        raise FileInvalid(f"{path}: {error.message}") from None
    if checkpoint.origin != origin_of(search):
        raise FileInvalid(
            f"{path} is a checkpoint of {checkpoint.origin}, the run is of {origin_of(search)}"
        )
    return checkpoint


def check_signature(folder: RunFolder, finished: bool, public_key: Path | None) -> str:
    """Say who signed the run's checkpoint; raises LedgerDamaged if the signature does not hold."""
    if not folder.signature.is_file():
        if public_key is None:
            return ""
        if finished:
            raise LedgerDamaged("checkpoint.sig is missing: the run is not signed")
        return "not signed yet: the run is not finished"
    note = _read_note(folder.signature)
    text = _checked_text(note, public_key) if public_key else _text_of(note)
    if finished and text.encode() != folder.checkpoint.read_bytes():
        raise LedgerDamaged("checkpoint.sig is not over the checkpoint beside it")
    if public_key is None:
        return "signed, not checked (give --public-key)"
    return f"signed by {_key_name(text, public_key)}, checked"


def _too_short(witness: Witness, size: int, finished: bool) -> WeftError:
    message = f"record {size}: missing; {witness.who} counts {witness.size}"
    if finished:
        return LedgerDamaged(message, seq=size)
    hint = "restore the newer folder, or go on from here with --accept rollback"
    return RunRolledBack(message, hint=hint)


def _rewritten(witness: Witness, agreed: int) -> LedgerDamaged:
    last = witness.size - 1
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


def _text_of(note: str) -> str:
    """Return what a note says, without looking at who signed it."""
    return note.rpartition("\n\n")[0] + "\n"


def _checked_text(note: str, public_key: Path) -> str:
    from weft.signing import check_signed_note, load_public_key  # noqa: PLC0415 - slow import

    return check_signed_note(note, load_public_key(public_key))


def _key_name(text: str, public_key: Path) -> str:
    from weft.signing import key_hash, load_public_key  # noqa: PLC0415 - slow import

    origin = text.partition("\n")[0]
    return key_hash(origin, load_public_key(public_key)).hex()
