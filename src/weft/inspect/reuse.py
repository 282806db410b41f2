"""Checks the results that a retry reuses against its own copy of the ledger that it retries.

The genesis names the head, size and failed tasks of that ledger: the copy must match them, and
every task completed there must have the same value here. The original run is not needed.
"""

from __future__ import annotations

from weft.errors import LedgerDamaged
from weft.ledger.records import Record, parse
from weft.model.values import canonical
from weft.runs.prior import MAX_KEYS, PriorResults, Retry, open_prior, retry_of
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.ledgerfile import parse_at, roots_at, whole_lines
from weft.storage.objects import ObjectStore


def reuse_notes(folder: RunFolder) -> list[str]:
    """Check the results that a retry reuses and return a note on them; none for any other run.

    Raises LedgerDamaged if they do not match. The objects must have been checked before.
    """
    first = next(whole_lines(folder.ledger), None)
    retry = retry_of(parse(first).body) if first is not None else None
    if retry is None:
        return []
    objects = ObjectStore(folder.objects, Disk())
    _check_genesis(objects, retry)
    with open_prior(objects, retry) as prior:
        reused, total = _check_values(folder, prior)
    return [f"retry {retry.describe()}, {reused} of {total} results reused"]


def _check_genesis(objects: ObjectStore, retry: Retry) -> None:
    """Check that the copy has the head, and the failed tasks, that the genesis names."""
    path = objects.path(retry.ledger)
    roots = roots_at(path, {retry.size})
    if roots.get(retry.size, b"").hex() != retry.head:
        raise LedgerDamaged("record 0: the ledger that it retries has another head", seq=0)
    failed, keys = 0, list[str]()
    for line in whole_lines(path):
        if b',"error":{' in line and _is_failed(record := parse(line)):
            failed += 1
            keys.append(record.key)
            del keys[MAX_KEYS:]
    if (failed, tuple(keys)) != (retry.failed, retry.keys):
        raise LedgerDamaged("record 0: other tasks failed in the ledger that it retries", seq=0)


def _is_failed(record: Record) -> bool:
    return record.kind == "result" and "error" in record.body


def _check_values(folder: RunFolder, prior: PriorResults) -> tuple[int, int]:
    """Compare every result with the one available for reuse; count those reused, and all."""
    reused = total = 0
    for seq, line in enumerate(whole_lines(folder.ledger)):
        record = parse_at(line, seq)
        if record.kind != "result":
            continue
        total += 1
        body = record.body
        place = (body["lane"], body["round"], body["index"])
        value = prior.value(*place, body["function"], canonical(body["args"]))
        if value is None:
            continue
        reused += 1
        if "value" not in body or canonical(body["value"]) != value:
            raise LedgerDamaged(f"record {seq}: not the result that the retry reuses", seq=seq)
    return reused, total
