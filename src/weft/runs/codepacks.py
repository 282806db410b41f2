"""The source of a run's own tasks, packed for nodes that do not have it.

Installed packages must be installed on the nodes too. Code imported from a user's folder is sent:
the Python files of that folder and of the packages in it. Other files are not sent; they must be
inputs of the run.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from weft.backends.raynode import CodePack
from weft.cells import is_stored_name
from weft.cells.stored import imported_packages
from weft.errors import InputError
from weft.runs.sources import location_of

MAX_BYTES = 32 << 20
INSTALLED = ("site-packages", "dist-packages")


class CodePacks:
    """The packs of all packages whose tasks have been queued so far."""

    def __init__(self, packages: Callable[[], Iterable[str]], code: Path | None = None) -> None:
        self._packages = packages
        self._code = code
        """Where the run stores the modules of a notebook."""
        self._seen: set[str] = set()
        self._packs: dict[Path, CodePack] = {}

    def __call__(self) -> list[CodePack]:
        """Return the packs; called by the sending threads, one per node at a time."""
        for package in list(self._packages()):
            if package not in self._seen:
                for folder in self._folders_of(package):
                    if folder is not None and folder not in self._packs:
                        self._packs[folder] = CodePack(str(folder), _packed(folder))
                self._seen.add(package)
        return list(self._packs.values())

    def _folders_of(self, package: str) -> list[Path | None]:
        """Return where a package is imported from; notebook cells import from several folders."""
        if not is_stored_name(package):
            return [_folder_of(package)]
        return [self._code, *(_folder_of(name) for name in imported_packages(package))]


def _folder_of(package: str) -> Path | None:
    """Return the folder that a package is imported from; None if it is installed."""
    location = location_of(package)
    if location is None or package == "weft":
        return None
    standard = Path(io.__file__).parent
    installed = any(part in INSTALLED for part in location.parts) or standard in location.parents
    return None if installed else location.parent


def _packed(folder: Path) -> bytes:
    """Pack a folder's Python files; equal files give equal bytes."""
    buffer, total = io.BytesIO(), 0
    with tarfile.open(fileobj=buffer, mode="w") as pack:
        for path in _files(folder):
            entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
            data = path.read_bytes()
            entry.size, total = len(data), total + len(data)
            if total > MAX_BYTES:
                raise InputError(
                    f"the Python files of {folder} are more than {MAX_BYTES:,} bytes",
                    hint="put the search into its own folder",
                )
            pack.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.suffix == ".py" and path.is_file():
            yield path
        elif path.name.isidentifier() and (path / "__init__.py").is_file():
            yield from (file for file in sorted(path.rglob("*.py")) if file.is_file())
