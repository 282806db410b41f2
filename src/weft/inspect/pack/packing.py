"""Assembles a status pack: facts of the run, lines of its search, and the search's source.

If written to a folder, the pack has everything needed to repeat the run: arguments, inputs, the
search's source and the files that its commands name, in their current state.

    DIR/ pack.md  pack.json  args.json  inputs/<SHA-256>  source/…  nodes.json  FILES
"""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from weft.errors import FileInvalid, StorageFailed
from weft.inspect.pack.facts import StatusPack, gather_pack, read_request
from weft.inspect.pack.markdown import to_markdown
from weft.inspect.pack.request import RecordedRequest, RepeatPaths
from weft.inspect.pack.surroundings import NODES_FILE, Surroundings, surroundings
from weft.inspect.products import summary_lines
from weft.inspect.replay import replay
from weft.runs.resume import recorded_folder
from weft.runs.run import real_place
from weft.runs.sources import files_at, hash_files
from weft.storage.disk import Disk
from weft.storage.folder import RunFile, RunFolder
from weft.storage.objects import ObjectStore


def make_pack(run: Path, out: Path | None = None, *, replayed: bool = False) -> StatusPack:
    """Assemble the pack of a run and, given `out`, write it there; `replayed` runs tasks again.

    Raises FileInvalid if `out` is in use or inside the run, and whatever `weft replay` raises.
    """
    folder = RunFolder(run)
    run_file = folder.read_run_file()
    if out is not None:
        _check_free(out, run)
    equal = replay(run).equal if replayed else None
    request = read_request(folder)
    kit = _Kit(folder, run_file, request, surroundings(folder, run_file))
    pack = gather_pack(
        run,
        real_place().heads,
        replayed=equal,
        summary=tuple(summary_lines(run, run_file.search)),
        paths=kit.paths() if out is not None and request is not None else None,
        notes=(*kit.changed(), *(kit.left_out() if out is not None else kit.needed())),
    )
    if out is not None:
        with _all_or_nothing(out):
            kit.write(out)
            _write(out, pack)
    return pack


@contextmanager
def _all_or_nothing(out: Path) -> Iterator[None]:
    """Remove partial output if writing fails; the folder was empty before."""
    existed = out.is_dir()
    try:
        yield
    except OSError as error:
        shutil.rmtree(out, ignore_errors=True)
        if existed:
            out.mkdir()
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageFailed(
                f"{out}: {error.strerror}", hint="free space, or another --out"
            ) from None
        raise


def _check_free(out: Path, run: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise FileInvalid(f"{out} is in use", hint="give --out a new or empty folder")
    if out.resolve().is_relative_to(run.resolve()):
        raise FileInvalid(f"{out} is inside the run", hint="give --out a folder elsewhere")


def _write(out: Path, pack: StatusPack) -> None:
    (out / "pack.md").write_text(to_markdown(pack), "utf-8")
    (out / "pack.json").write_text(json.dumps(pack.to_dict(), indent=1) + "\n", "utf-8")


@dataclass(frozen=True, slots=True)
class _Kit:
    """What repeating a run needs besides the installed packages."""

    folder: RunFolder
    run_file: RunFile
    request: RecordedRequest | None
    surroundings: Surroundings

    def paths(self) -> RepeatPaths:
        """Return the paths inside the pack."""
        assert self.request is not None
        inputs = {digest: f"inputs/{digest}" for digest in self.request.inputs.values()}
        nodes = NODES_FILE if self.surroundings.nodes else ""
        return RepeatPaths("source" if list(self._packages()) else "", inputs, "args.json", nodes)

    def changed(self) -> Iterator[str]:
        """Yield a note for each package whose source has changed since the run."""
        for name, location in self._packages():
            if hash_files(files_at(location)) != self.run_file.sources.get(name):
                yield f"the source of package {name} has changed since the run"

    def left_out(self) -> Iterator[str]:
        """Yield a note for each file of a command that the pack cannot include."""
        for name in self.surroundings.missing:
            yield f"a command uses {name[:200]!r}, which is not in this pack"

    def needed(self) -> Iterator[str]:
        """Yield a note if the command that repeats the run needs nodes or files."""
        if self.surroundings.nodes or self.surroundings.files:
            yield (
                "repeating the run needs its nodes and the files of its commands:"
                f" weft pack {self.folder.path} --out DIR writes them"
            )

    def write(self, out: Path) -> None:
        """Write arguments, inputs, source, nodes and the files of commands."""
        out.mkdir(parents=True, exist_ok=True)
        if self.request is None:
            return
        (out / "args.json").write_text(self.request.args_text() or "null", "utf-8")
        store = ObjectStore(self.folder.objects, Disk())
        (out / "inputs").mkdir(exist_ok=True)
        for digest in self.request.inputs.values():
            (out / "inputs" / digest).write_bytes(store.read(digest))
        if self.surroundings.nodes:
            (out / NODES_FILE).write_text(self.surroundings.nodes_text(), "utf-8")
        for name, path in self.surroundings.files.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, out / name)
        for name, location in self._packages():
            base = out / "source" if location.is_file() else out / "source" / name
            for inner, path in files_at(location):
                (base / inner).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, base / inner)

    def _packages(self) -> Iterator[tuple[str, Path]]:
        """Yield the packages in the folder of the search, but not installed ones."""
        place = recorded_folder(self.folder, self.run_file)
        for name in sorted(self.run_file.sources) if place is not None else ():
            assert place is not None
            for location in (place / name, place / f"{name}.py"):
                if files_at(location):
                    yield name, location
                    break
