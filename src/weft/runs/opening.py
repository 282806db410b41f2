"""Creates a run's folder, or opens an existing one through the only recovery path.

All refusals (another run, changed code, what `history` finds, damage) come before the first
write, so a refused command changes nothing.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from weft.errors import ManifestDamaged
from weft.ledger.chain import Chain
from weft.ledger.checkpoint import Checkpoint, origin_of
from weft.model.values import canonical
from weft.runs.decision import check_same
from weft.runs.history import check_history
from weft.runs.sources import check_sources
from weft.runs.storedcode import keep_code, replaced_code, why_untrusted
from weft.storage.disk import Disk
from weft.storage.folder import RunFile, RunFolder
from weft.storage.heads import HeadsList
from weft.storage.ledgerfile import LedgerFile, read_checkpoint
from weft.storage.ledgerwriter import LedgerWriter
from weft.storage.manifest import Manifest
from weft.storage.objects import ObjectStore
from weft.storage.projection import Projection
from weft.storage.rebuild import rebuild
from weft.storage.reconcile import Reconciled, good_records, reconcile

CODE_ACCEPTED = "code-accepted"
CODE_CHANGED = "code-changed"
"""Events of a run that continues with changed code: as accepted, or since it has no results yet."""


@dataclass(slots=True)
class OpenRun:
    """A run folder that is ours to write, with everything recovered."""

    folder: RunFolder
    run_file: RunFile
    manifest: Manifest
    objects: ObjectStore
    writer: LedgerWriter
    events: list[tuple[str, str]]
    """What was out of the ordinary when it was opened: (kind, detail)."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where and by which host runs are opened; passed in, so that a simulation can replace it."""

    disk: Disk
    host: str
    heads: HeadsList


def create_run(
    folder: RunFolder,
    run_file: RunFile,
    genesis: str,
    inputs: Mapping[str, bytes | Path],
    place: Place,
    code: Mapping[str, str] | None = None,
) -> OpenRun:
    """Set up a new run: inputs as objects, run.toml, then the manifest with the genesis.

    `code` contains the modules that the run stores, by name.
    """
    disk = place.disk
    disk.make_folder(folder.objects)
    objects = ObjectStore(folder.objects, disk)
    for source in inputs.values():
        if isinstance(source, Path):
            objects.add_file(source)
        else:
            objects.add(source)
    folder.write_run_file(run_file, disk)
    keep_code(folder, run_file.run_id, code or {}, place.heads, place.host, disk)
    manifest = Manifest.create(folder.manifest, disk, run_file.run_id, genesis)
    with _closed_on_failure(manifest):
        writer = _writer(folder, run_file, manifest, Chain(), Projection(manifest), place)
    return OpenRun(folder, run_file, manifest, objects, writer, [])


def reopen_run(
    folder: RunFolder,
    genesis: str,
    inputs: Mapping[str, bytes | Path],
    accept: tuple[str, ...],
    place: Place,
    new_run_id: str,
    code: Mapping[str, str] | None = None,
) -> OpenRun:
    """Open an existing run: refuse what must be refused, then recover and continue."""
    run_file = folder.read_run_file()
    folder.require_plain()
    checkpoint = read_checkpoint(folder.checkpoint)
    recorded = recorded_genesis(folder, checkpoint)
    if recorded is not None:
        check_same(recorded, genesis, folder.path)
    code, is_accepted = code or {}, "code" in accept
    may_change = is_accepted or not _holds_results(folder, checkpoint)
    replaced = replaced_code(run_file.sources, code, may_change)
    sources = {name: digest for name, digest in run_file.sources.items() if name not in replaced}
    changed = check_sources(sources, may_change)
    heads = place.heads.binding(run_file.run_id)
    events = check_history(folder, run_file, accept, heads, place.host, checkpoint)
    reason = why_untrusted(folder, run_file.run_id, code, place.heads, place.host)
    if changed or replaced or (reason and is_accepted):
        kind = CODE_ACCEPTED if is_accepted else CODE_CHANGED
        events.append((kind, ", ".join([*changed, *replaced]) or reason))
        run_file = replace(run_file, sources={**sources, **changed})
    if recorded is None:  # killed before anything was recorded, or all of it lost: start anew
        run_file = replace(run_file, search=json.loads(genesis)["search"])
        run_file = _accepted(run_file, events, new_run_id)
        opened = create_run(folder, run_file, genesis, inputs, place, code)
        opened.events.extend(events)
        return opened
    opened = _recover(folder, run_file, genesis, checkpoint, place, events, new_run_id)
    with _closed_on_failure(opened.manifest):
        keep_code(folder, opened.run_file.run_id, code, place.heads, place.host, place.disk)
    return opened


def _accepted(run_file: RunFile, events: list[tuple[str, str]], new_run_id: str) -> RunFile:
    """Return the run file with an id of its own if the folder was accepted as a copy."""
    return replace(run_file, run_id=new_run_id) if ("copy-accepted", "") in events else run_file


def recorded_genesis(folder: RunFolder, checkpoint: Checkpoint | None) -> str | None:
    """Return the genesis body from the manifest or, without one, the ledger; None if not there."""
    if not folder.manifest.is_file():
        for record in good_records(folder.ledger, checkpoint):
            return canonical(record.body)
        return None
    with contextlib.closing(Manifest.open(folder.manifest, Disk(), read_only=True)) as manifest:
        return manifest.genesis


def _holds_results(folder: RunFolder, checkpoint: Checkpoint | None) -> bool:
    """Whether anything in a folder came from the run's code; if not, the code may change.

    The ledger counts too: it may be newer than the manifest.
    """
    if not folder.manifest.is_file():
        return True
    with contextlib.closing(Manifest.open(folder.manifest, Disk(), read_only=True)) as manifest:
        if has_results(manifest):
            return True
    return len(list(islice(good_records(folder.ledger, checkpoint), 2))) > 1


def has_results(manifest: Manifest) -> bool:
    """Whether a task has started or a round is closed."""
    started = "SELECT 1 FROM tasks WHERE state != 'queued' LIMIT 1"
    closed = "SELECT 1 FROM rounds WHERE closed LIMIT 1"
    return bool(manifest.query(started) or manifest.query(closed))


def _recover(
    folder: RunFolder,
    run_file: RunFile,
    genesis: str,
    checkpoint: Checkpoint | None,
    place: Place,
    events: list[tuple[str, str]],
    new_run_id: str,
) -> OpenRun:
    heads = place.heads.binding(run_file.run_id)
    noted_commits = max((head.commits for head in heads), default=0)
    manifest = _manifest(folder, run_file, genesis, place, events, noted_commits)
    with _closed_on_failure(manifest):
        state = _brought_up(folder, manifest, checkpoint, events, noted_commits)
        run_file = _accepted(run_file, events, new_run_id)
        if events:
            folder.write_run_file(run_file, place.disk)
        if manifest.run_id != run_file.run_id:
            manifest.set_meta("run_id", run_file.run_id)
        writer = _writer(folder, run_file, manifest, state.chain, state.projection, place)
        if state.torn_bytes:
            writer.ledger.cut(state.good_bytes)
            events.append(("tail-cut", f"{state.torn_bytes} bytes of an unfinished write"))
        writer.ledger.append(state.pending)
        objects = ObjectStore(folder.objects, place.disk)
        objects.clear_staging()
    return OpenRun(folder, run_file, manifest, objects, writer, events)


def _manifest(
    folder: RunFolder,
    run_file: RunFile,
    genesis: str,
    place: Place,
    events: list[tuple[str, str]],
    noted_commits: int,
) -> Manifest:
    """Open the manifest, or create a new one if it is gone.

    A new one counts from `noted_commits`, or the next session would report a roll-back.
    """
    path = folder.manifest
    if path.is_file():
        return Manifest.open(path, place.disk)
    for suffix in ("-wal", "-shm"):  # they belong to the manifest that is gone
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    events.append(("manifest-lost", "rebuilt from the ledger"))
    return Manifest.create(path, place.disk, run_file.run_id, genesis, noted_commits)


def _brought_up(
    folder: RunFolder,
    manifest: Manifest,
    checkpoint: Checkpoint | None,
    events: list[tuple[str, str]],
    noted_commits: int,
) -> Reconciled:
    """Reconcile ledger and manifest, after rebuilding what the manifest lacks."""
    state = reconcile(folder.ledger, Projection(manifest), checkpoint)
    if not state.behind:
        return state
    restored = rebuild(manifest, good_records(folder.ledger, checkpoint))
    manifest.commits = max(manifest.commits, noted_commits)
    manifest.commit()
    events.append(("manifest-rebuilt", f"{restored} results restored from the ledger"))
    state = reconcile(folder.ledger, Projection(manifest), checkpoint)
    if state.behind:
        raise ManifestDamaged("manifest.sqlite cannot be brought up to the ledger")
    return state


@contextlib.contextmanager
def _closed_on_failure(manifest: Manifest) -> Iterator[None]:
    try:
        yield
    except BaseException:
        manifest.close()
        raise


def _writer(
    folder: RunFolder,
    run_file: RunFile,
    manifest: Manifest,
    chain: Chain,
    projection: Projection,
    place: Place,
) -> LedgerWriter:
    ledger = LedgerFile(folder.ledger, place.disk)
    origin = origin_of(run_file.search)
    return LedgerWriter(
        folder, manifest, ledger, chain, projection, origin, place.heads, place.host, place.disk
    )
