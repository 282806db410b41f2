"""Proofs that need no run to check: a record is in a ledger; a ledger begins with another.

Each `prove` has its `check` beside it. A check needs only the proof and a root that the checker
trusts. The hashes are those of RFC 6962 (`ledger.merkle`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Self

from weft.errors import FileInvalid, InputError, LedgerDamaged
from weft.inspect.access import records_named, run_named
from weft.ledger import merkle
from weft.ledger.checkpoint import Checkpoint, origin_of
from weft.ledger.records import parse
from weft.model.values import JsonValue, canonical
from weft.storage.folder import RunFolder
from weft.storage.ledgerfile import parse_at, read_checkpoint, whole_lines

SCHEMA_VERSION = 1
MIN_KEY_DIGITS = 8
_HASH = re.compile("[0-9a-f]{64}")
_MAX_PATH = 64


class _Document:
    """`to_dict` and a strict `from_dict`, for frozen dataclasses of strings and counts."""

    __slots__ = ()

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON form."""
        raw = asdict(self)  # type: ignore[call-overload] # every proof is a dataclass
        return {"schema_version": SCHEMA_VERSION, **raw, "path": list(raw["path"])}

    @classmethod
    def from_dict(cls, raw: Mapping[str, JsonValue]) -> Self:
        """Read the form that `to_dict` writes; raises FileInvalid for anything else."""
        names = [f.name for f in fields(cls)]  # type: ignore[arg-type] # every proof is a dataclass
        if type(raw) is not dict or raw.keys() != {"schema_version", *names}:
            raise FileInvalid(f"the proof must have the fields schema_version, {', '.join(names)}")
        if raw["schema_version"] != SCHEMA_VERSION:
            raise FileInvalid(f"the proof's schema_version must be {SCHEMA_VERSION}")
        for name in names:
            if not _is_valid(name, raw[name]):
                raise FileInvalid(f"the proof's {name} is not valid in a proof")
        values = {name: tuple(v) if isinstance(v := raw[name], list) else v for name in names}
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Proof(_Document):
    """Proof that record `line` is number `index` of the ledger with `root` at `size`."""

    origin: str
    size: int
    root: str
    index: int
    line: str
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConsistencyProof(_Document):
    """Proof that the ledger with `root` at `size` begins with that of `old_root` at `old_size`."""

    origin: str
    old_size: int
    old_root: str
    size: int
    root: str
    path: tuple[str, ...]


def prove(run: Path, key: str) -> Proof:
    """Prove that the record with this key, or a unique prefix of it, is in the ledger.

    A task's position (`LANE:ROUND:INDEX`) is accepted too, as by `explain`. The head is the run's
    checkpoint. Raises InputError if no record or several match.
    """
    folder = RunFolder(run)
    folder.require_run()
    with run_named(run):
        index = _find(folder, key)
        checkpoint, leaves, line = _tree(folder, index)
    path = merkle.prove_inclusion(leaves, index)
    head = (checkpoint.origin, checkpoint.size, checkpoint.root.hex())
    proof = Proof(*head, index, line.decode(), tuple(h.hex() for h in path))
    check_proof(proof, root=checkpoint.root)
    return proof


def check_proof(proof: Proof, *, root: bytes | None = None, size: int | None = None) -> None:
    """Raise LedgerDamaged unless the proof holds and is for the given head.

    Without `root`, only the proof's own root is used: compare it with one you trust. Neighbouring
    sizes may have paths of the same shape, so only the head binds `size` (RFC 6962 §2.1.1).
    """
    if size is not None and proof.size != size:
        raise LedgerDamaged(f"the proof is for {proof.size} records, not {size}")
    if root is not None and proof.root != root.hex():
        raise LedgerDamaged(f"the proof is for root {proof.root}, not {root.hex()}")
    try:
        line = proof.line.encode()
        record = parse(line)
        path = [bytes.fromhex(step) for step in proof.path]
        top = bytes.fromhex(proof.root)
    except (LedgerDamaged, ValueError) as error:
        raise LedgerDamaged(f"the proof does not hold: {error}", seq=proof.index) from None
    is_included = merkle.check_inclusion(merkle.leaf_hash(line), proof.index, proof.size, path, top)
    if not is_included or record.seq != proof.index:
        raise LedgerDamaged(
            f"the proof does not hold: record {proof.index} is not under root {proof.root}",
            seq=proof.index,
        )
    if record.kind == "genesis" and proof.origin != origin_of(str(record.body.get("search"))):
        raise LedgerDamaged("the proof's origin is not that of its genesis", seq=0)


def prove_consistency(run: Path, old_size: int) -> ConsistencyProof:
    """Prove that the ledger at the run's checkpoint begins with its first `old_size` records."""
    folder = RunFolder(run)
    folder.require_run()
    with run_named(run):
        checkpoint, leaves, _ = _tree(folder, None)
    if not 0 <= old_size <= checkpoint.size:
        raise InputError(f"the ledger has 0 to {checkpoint.size} records, not {old_size}")
    path = merkle.prove_consistency(leaves, old_size)
    old_root = merkle.root(leaves[:old_size]).hex()
    head = (checkpoint.size, checkpoint.root.hex())
    texts = tuple(h.hex() for h in path)
    return ConsistencyProof(checkpoint.origin, old_size, old_root, *head, texts)


def check_consistency_proof(
    proof: ConsistencyProof, *, old_root: bytes | None = None, root: bytes | None = None
) -> None:
    """Raise LedgerDamaged unless the proof holds and is for the given roots."""
    for name, proven, trusted in (
        ("old root", proof.old_root, old_root),
        ("root", proof.root, root),
    ):
        if trusted is not None and proven != trusted.hex():
            raise LedgerDamaged(f"the proof is for {name} {proven}, not {trusted.hex()}")
    try:
        path = [bytes.fromhex(step) for step in proof.path]
        old, new = bytes.fromhex(proof.old_root), bytes.fromhex(proof.root)
    except ValueError:
        raise LedgerDamaged("the proof does not hold: it has invalid hashes") from None
    if not merkle.check_consistency(proof.old_size, old, proof.size, new, path):
        raise LedgerDamaged(
            f"the proof does not hold: the first {proof.old_size} of {proof.size} records are"
            " not those of the old root"
        )


def _find(folder: RunFolder, key: str) -> int:
    if ":" in key:
        return _find_place(folder, key)
    check_key(key)
    matches = [record.seq for record in records_named(folder.ledger, key)]
    if not matches:
        raise InputError(
            f"{folder.path}: no record has a key that begins with {key}",
            hint=f"weft explain {folder.path} {key} shows the state of a task",
        )
    if len(matches) > 1:
        raise InputError(
            f"{folder.path}: {len(matches)} records have keys that begin with {key}",
            hint="give more digits",
        )
    return matches[0]


def _find_place(folder: RunFolder, key: str) -> int:
    """Find a task's record by its position; reads only the ledger."""
    lane, round_, index = parse_place(key)
    mark = f'"index":{index},"lane":{canonical(lane)},"round":{round_}'.encode()
    for seq, line in enumerate(whole_lines(folder.ledger)):
        if mark in line:  # may be inside an argument, so the record itself decides
            record = parse_at(line, seq)
            place = [record.body.get(name) for name in ("lane", "round", "index")]
            if record.kind == "result" and place == [lane, round_, index]:
                return seq
    raise InputError(
        f"{folder.path}: no result of task {key} is recorded",
        hint=f"weft explain {folder.path} {key} shows its state",
    )


def parse_place(place: str) -> tuple[str, int, int]:
    """Parse `LANE:ROUND:INDEX` (root lane: empty or `/`); raises InputError for anything else."""
    lane, _, round_ = place.rpartition(":")[0].rpartition(":")
    numbers = (round_, place.rpartition(":")[2])
    if place.count(":") < 2 or not all(n.isascii() and n.isdigit() for n in numbers):
        raise InputError(
            f"{place!r:.80} is not the position of a task",
            hint="write LANE:ROUND:INDEX, such as /:0:3",
        )
    return lane.removesuffix("/"), int(numbers[0][:15]), int(numbers[1][:15])


def check_key(key: str) -> None:
    """Raise InputError unless `key` is a key or a sufficiently long prefix of one."""
    if not MIN_KEY_DIGITS <= len(key) <= 64 or not re.fullmatch("[0-9a-f]+", key):
        raise InputError(
            f"key {key!r:.80} is not {MIN_KEY_DIGITS} to 64 lower-case hex digits",
            hint="give more of the key, or LANE:ROUND:INDEX, such as :0:2",
        )


def _tree(folder: RunFolder, index: int | None) -> tuple[Checkpoint, list[bytes], bytes]:
    """Return the checkpoint, its leaf hashes and the line at `index`; the root must match."""
    checkpoint = read_checkpoint(folder.checkpoint)
    if checkpoint is None or (index is not None and index >= checkpoint.size):
        where = "there is no checkpoint yet" if checkpoint is None else f"record {index} is past it"
        raise InputError(
            f"{folder.path}: {where}, and a proof needs one", hint=f"weft resume {folder.path}"
        )
    leaves, line_at_index = [], b""
    for seq, line in enumerate(whole_lines(folder.ledger)):
        if seq == checkpoint.size:
            break
        leaves.append(merkle.leaf_hash(line))
        line_at_index = line if seq == index else line_at_index
    if len(leaves) != checkpoint.size or merkle.root(leaves) != checkpoint.root:
        raise LedgerDamaged(
            f"{folder.ledger.name}: its root is not the checkpoint's",
            hint=f"weft verify {folder.path} says where it is damaged",
        )
    return checkpoint, leaves, line_at_index


def _is_valid(name: str, value: object) -> bool:
    if name == "path":
        return type(value) is list and len(value) <= _MAX_PATH and all(map(_is_hash, value))
    if name in ("size", "old_size", "index"):
        return type(value) is int and value >= 0
    return _is_hash(value) if name in ("root", "old_root") else type(value) is str


def _is_hash(value: object) -> bool:
    return type(value) is str and _HASH.fullmatch(value) is not None
