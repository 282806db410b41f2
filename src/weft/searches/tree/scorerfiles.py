"""Read the files beside a config that belong to its run, before anything is created."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from weft.errors import InputError, RunMismatch
from weft.searches.tree import harness
from weft.searches.tree.config import JUDGING, Stage, TreeConfig
from weft.searches.tree.runfiles import PREFIX, SHIPPED, names_harness, names_in

MAX_FILES = 1000
MAX_BYTES = 64 * 2**20
"""Limit on their total size: every stage gets a copy."""


def read_run_files(
    config: TreeConfig, declared: Sequence[str], base: Path, path: Path
) -> dict[str, bytes]:
    """Return the inputs that belong to a run beside its config `path` in the folder `base`.

    These are the files that stages name under {work_dir}, those that `harness` declares, and Weft's
    own harness if a stage uses it. Raises InputError, which names the file.
    """
    stages = [stage for _, stage in sorted(config.stages.items()) if not stage.recorded]
    files = dict.fromkeys(name for stage in stages for name in named_files(stage, base))
    for entry in declared:
        files |= dict.fromkeys(_declared_files(entry, base, path))
    if SHIPPED in files:
        raise InputError(f"{path}: {SHIPPED} is the name of Weft's own harness: rename the file")
    if len(files) > MAX_FILES:
        raise InputError(
            f"{path}: harness: {len(files):,} files, {MAX_FILES:,} are the most",
            hint="protect large data in the repository instead",
        )
    content = {f"{PREFIX}{name}": _read(base / name, path) for name in sorted(files)}
    if sum(map(len, content.values())) > MAX_BYTES:
        raise InputError(f"{path}: harness: the files have more than {MAX_BYTES:,} bytes together")
    if any(names_harness(word) for stage in stages for word in stage.argv):
        content[f"{PREFIX}{SHIPPED}"] = Path(harness.__file__).read_bytes()
    return content


def check_same_files(
    old: Mapping[str, str], inputs: Mapping[str, bytes], config: TreeConfig, where: str
) -> None:
    """Refuse to import from a run that had a different scorer beside the config.

    `old` has the digests of that run's inputs by name, `inputs` the bytes of the new run's. Scripts
    of other stages may differ. Raises InputError.
    """
    words = [w for n, s in sorted(config.stages.items()) if n not in JUDGING for w in s.argv]
    others = {f"{PREFIX}{name}" for word in words for name in names_in(word)}
    names = {name for name in (*old, *inputs) if name.startswith(PREFIX)} - others
    for name in sorted(names):
        now = hashlib.sha256(inputs[name]).hexdigest() if name in inputs else None
        if old.get(name) != now:
            file = name.removeprefix(PREFIX)
            raise InputError(f"{where} cannot be imported: {file} next to the config is different")


def check_resume(inputs: Mapping[str, str], base: Path) -> None:
    """Refuse to resume a run whose files beside the config in `base` have changed.

    `inputs` are the digests of its inputs by name. A missing file is accepted: the run has its own
    copies, and may have been moved. Raises RunMismatch.
    """
    for name, digest in sorted(inputs.items()):
        file = base / name.removeprefix(PREFIX)
        if not name.startswith(PREFIX) or not file.is_file():
            continue
        if hashlib.sha256(file.read_bytes()).hexdigest() != digest:
            raise RunMismatch(
                f"{file.relative_to(base)} next to the config has changed since this run started",
                hint="restore it, or start a new --out",
            )


def named_files(stage: Stage, base: Path) -> Iterator[str]:
    """Yield the names of files below `base` to which a stage refers."""
    for word in stage.argv:
        for name in names_in(word):
            if os.path.normpath(name) == name and (base / name).is_file():
                yield name


def _declared_files(entry: str, base: Path, path: Path) -> Iterator[str]:
    name = os.path.normpath(entry)
    place = base / name
    if Path(name).is_absolute() or Path(name).parts[:1] == (os.pardir,):
        raise InputError(f"{path}: harness: {entry!r:.80} lies outside the config's folder")
    if not place.exists():
        raise InputError(f"{path}: harness: {entry!r:.80} is not there")
    if place.is_file():
        yield name
        return
    for below in sorted(place.rglob("*")):
        if below.is_file() and "__pycache__" not in below.parts:
            yield below.relative_to(base).as_posix()


def _read(file: Path, path: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {file.name}: {error.strerror or error}") from None
