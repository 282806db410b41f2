"""What runs on a node of a Ray cluster: one actor per slot, which hosts the slot's worker.

    coordinator ── Ray ──► SlotActor ── socketpair ──► python -m weft.worker, as on one machine

The actor relays messages and moves files; it decides nothing. A *lease* is one worker process
under one epoch: before a lease starts, every process of the slot's older ones is gone, and
calls that name another epoch than the current one have no effect.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import sys
import tarfile
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from weft.backends.orphans import Marks, Orphans
from weft.backends.places import located
from weft.backends.privatefolders import private_folder
from weft.backends.process import WorkerSetup
from weft.backends.raylease import Lease, Reply
from weft.errors import WorldError
from weft.model.slots import Slot
from weft.worker import outcomes
from weft.worker.context import DEVICE
from weft.worker.environment import environment
from weft.worker.frames import ToWorker

FOLDER_VARIABLE = "WEFT_NODE_FOLDER"
"""Set by `weft nodes up`: the folder with all our files on a node."""
VERSION: str = sys.modules["weft"].__version__
"""Our version; importing the package here would be an upward import."""
SESSION_FOLDERS = ("objects", "staging", "code")
"""Folders of a single session; the next one gets new ones."""
RAY_PREFIX = "RAY_"
"""Prefix of Ray's own variables, its token among them, which are withheld from tasks."""


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """A run's stay on a node."""

    name: str
    run: str
    """Names the run's folder on the node."""
    run_seed: int
    marks: range
    """Marks for the workers of this session."""
    earlier: tuple[range, ...]
    """Marks of the run's earlier sessions."""
    run_id: str = ""
    device: str = "auto"
    """What `weft.device()` returns in tasks."""
    genesis: str = ""
    secret_names: tuple[str, ...] = ()
    """Variables of the node that no worker there has in its environment."""
    outcome_token: str = ""
    """Authenticates the run's outcome files; the same in all its sessions."""


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What a node reports about itself when it is opened."""

    version: str
    digest: str
    """Digest of Weft's source: different code could make different decisions."""
    problem: str = ""
    """Why it cannot serve; empty if it can."""


@dataclass(frozen=True, slots=True)
class CodePack:
    """Source of tasks that are not part of an installed package, as a tar file."""

    name: str
    data: bytes


CodePacks = Callable[[], Iterable[CodePack]]
"""Returns the code that a run's tasks need, as far as known so far."""


def weft_digest() -> str:
    """Return the SHA-256 of the source of the Weft that runs here."""
    folder, digest = Path(__file__).parents[1], hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()}\n{len(data)}\n".encode() + data)
    return digest.hexdigest()


def open_node(spec: NodeSpec) -> NodeFacts:
    """Prepare a node for a session: kill all processes of the run's earlier sessions.

    Their files are removed too, except those of finished commands whose results were never
    collected: tasks that come back to this node adopt them.
    """
    end_all(spec.earlier)
    try:
        _clear(_home(spec))
        for name in ("objects", "staging", "logs", "attempts", "code"):
            private_folder(_home(spec), name)
    except WorldError as error:
        return NodeFacts(VERSION, weft_digest(), str(error))
    return NodeFacts(VERSION, weft_digest())


def _clear(home: Path) -> None:
    """Remove what earlier sessions left; if there are outcome files, only session folders."""
    outcomes_folder = home / outcomes.FOLDER
    if not (outcomes_folder.is_dir() and any(outcomes_folder.iterdir())):
        shutil.rmtree(home, ignore_errors=True)
    for name in SESSION_FOLDERS:
        shutil.rmtree(home / name, ignore_errors=True)


def close_node(spec: NodeSpec) -> None:
    """Remove the run's folder, and its parent if nothing else is in it."""
    home = _home(spec)
    shutil.rmtree(home, ignore_errors=True)
    with contextlib.suppress(OSError):
        home.parent.rmdir()


def end_all(marks: Sequence[range]) -> None:
    """Kill all processes that carry one of the marks; return when they are gone."""
    if marks:
        orphans = Orphans()
        orphans.expect(*marks)
        orphans.finish()


def scratch_folder() -> Path:
    """Return the folder for our files on a machine without `weft nodes up`; not checked yet."""
    return Path(tempfile.gettempdir()) / f"weft-{os.geteuid()}"


def _home(spec: NodeSpec) -> Path:
    """Return the run's folder on this node, created if absent and checked to be private."""
    folder = Path(environment().get(FOLDER_VARIABLE) or scratch_folder()).absolute()
    return private_folder(folder.parent, folder.name, f"{spec.run}-{spec.name}")


class SlotActor:
    """One slot. Ray calls its methods, several concurrently."""

    def __init__(self, spec: NodeSpec, slot: Slot) -> None:
        self._home = _home(spec)
        self._setup = self._worker_setup(spec)
        self._slot = _placed(slot)
        self._lease: Lease | None = None
        self._starting = threading.Lock()

    # -- leases ---------------------------------------------------------------------------

    def start(self, epoch: int, earlier: Sequence[range]) -> tuple[int | None, float | None]:
        """End all older leases, then start a worker; return its pid and start time."""
        private_folder(self._home.parent, self._home.name, "code", make=False)
        with self._starting:
            if self._lease is not None:
                self._lease.end()
            end_all(earlier)
            self._lease = Lease(epoch, self._setup, self._slot)
            return self._lease.identity.pid, self._lease.identity.started

    def push(self, epoch: int, number: int, messages: Sequence[ToWorker]) -> None:
        """Pass messages to the worker; `number` restores the order of calls."""
        if (lease := self._of(epoch)) is not None:
            lease.push(number, messages)

    def pull(self, epoch: int) -> Reply:
        """Return what the worker sent since the last call; waits for a message."""
        lease = self._of(epoch)
        return Reply.stale() if lease is None else lease.pull()

    def end(self, epoch: int) -> None:
        """Kill the worker and all that it started; return when they are gone."""
        if (lease := self._of(epoch)) is not None:
            lease.end()

    def _of(self, epoch: int) -> Lease | None:
        lease = self._lease
        return lease if lease is not None and lease.epoch == epoch else None

    # -- files ----------------------------------------------------------------------------

    def holds(self, digest: str) -> bool:
        """Whether the node has an object."""
        return self._object(digest).is_file()

    def store(self, name: str, piece: bytes, digest: str | None) -> bool:
        """Append a piece of an object; the last one comes with the digest, which must match."""
        part = self._setup.staging / f"in-{name}"
        with part.open("ab") as file:
            file.write(piece)
        return digest is None or self._adopt(part, digest)

    def read(self, name: str, start: int, size: int) -> bytes:
        """Return a piece of an object that the worker staged."""
        with (self._setup.staging / name).open("rb") as file:
            file.seek(start)
            return file.read(size)

    def keep(self, name: str, digest: str) -> None:
        """Adopt a staged object, now that the coordinator has it."""
        self._adopt(self._setup.staging / name, digest)

    def unpack(self, pack: bytes) -> None:
        """Unpack source of the run's tasks into the folder from which workers import it."""
        with tarfile.open(fileobj=io.BytesIO(pack)) as files:
            files.extractall(self._home / "code", filter="data")

    def _object(self, digest: str) -> Path:
        return self._setup.objects / digest[:2] / digest[2:]

    def _adopt(self, part: Path, digest: str) -> bool:
        with part.open("rb") as file:
            fits = hashlib.file_digest(file, "sha256").hexdigest() == digest
        if not fits:
            part.unlink()
            return False
        target = self._object(digest)
        target.parent.mkdir(exist_ok=True)
        part.rename(target)
        return True

    def _worker_setup(self, spec: NodeSpec) -> WorkerSetup:
        paths = [path for path in sys.path if "_private/workers" not in path]
        return WorkerSetup(
            run_seed=spec.run_seed,
            objects=self._home / "objects",
            staging=self._home / "staging",
            logs=self._home / "logs",
            attempts=self._home / "attempts",
            path=[str(self._home / "code"), *paths],
            environment={
                **{n: v for n, v in environment().items() if not n.startswith(RAY_PREFIX)},
                DEVICE: spec.device,
            },
            marks=Marks(spec.marks),
            run_id=spec.run_id,
            genesis=spec.genesis,
            secret_names=spec.secret_names,
            outcome_token=spec.outcome_token,
        )


def _placed(slot: Slot) -> Slot:
    """Return the slot with absolute paths and with the GPU that Ray assigned to its actor."""
    import ray  # noqa: PLC0415 - only here, and only where it runs

    slot = located(slot, Path.home())
    gpu_ids = ray.get_gpu_ids()
    if slot.gpu is None or not gpu_ids or not str(gpu_ids[0]).isdigit():
        return slot
    return replace(slot, gpu=int(gpu_ids[0]))
