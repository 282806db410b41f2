"""Bytes named by their SHA-256, below `objects/ab/cd…`.

Workers leave new objects in the staging folder; the coordinator alone adopts them, before
the manifest row that names them is committed. An object that nothing names is never an error.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from weft.errors import ObjectDamaged
from weft.storage.disk import Disk
from weft.storage.plainfile import NESTED, is_plain_file, open_plain

CHUNK_BYTES = 1 << 20


class ObjectStore:
    """The object folder of one run."""

    def __init__(self, folder: Path, disk: Disk) -> None:
        self.folder = folder
        self.staging = folder / "staging"
        self._disk = disk

    def path(self, digest: str) -> Path:
        """Return the path of an object, which need not exist."""
        return self.folder / digest[:2] / digest[2:]

    def has(self, digest: str) -> bool:
        """Whether the object is here (its bytes are not read)."""
        return is_plain_file(self.path(digest), NESTED)

    def open(self, digest: str) -> BinaryIO:
        """Open the object; its bytes are not checked. Raises FileNotFoundError."""
        return open_plain(self.path(digest), NESTED)

    def add(self, data: bytes) -> str:
        """Store bytes durably and return their digest."""
        digest = hashlib.sha256(data).hexdigest()
        if not self.has(digest):
            target = self._folder_for(digest)
            self._disk.replace(target, data, mode=0o444)
        return digest

    def add_file(self, source: Path) -> str:
        """Store a file's bytes durably, in pieces, and return their digest."""
        with source.open("rb") as file:
            digest = hash_file(file)
            if not self.has(digest):
                file.seek(0)
                pieces = iter(lambda: file.read(CHUNK_BYTES), b"")
                self._disk.replace_with(self._folder_for(digest), pieces, mode=0o444)
        return digest

    def adopt(self, staged: Path, digest: str) -> None:
        """Move a staged file into the store under its digest, durably; the bytes must match."""
        if self.has(digest):
            staged.unlink(missing_ok=True)
            return
        with staged.open("rb") as file:
            actual = hash_file(file)
        if actual != digest:
            raise ObjectDamaged(
                f"object {digest[:12]} was handed in with other bytes ({actual[:12]})"
            )
        fd = os.open(staged, os.O_RDWR)
        try:
            self._disk.sync(fd)
        finally:
            os.close(fd)
        self._disk.rename(staged, self._folder_for(digest))

    def read(self, digest: str) -> bytes:
        """Return the object's bytes, checked against its name."""
        try:
            with self.open(digest) as file:
                data = file.read()
        except FileNotFoundError:
            raise ObjectDamaged(f"object {digest} is missing from {self.folder}") from None
        if hashlib.sha256(data).hexdigest() != digest:
            raise ObjectDamaged(f"object {digest}: its bytes do not match its name")
        return data

    def pieces(self, digest: str) -> Iterator[bytes]:
        """Yield the object's bytes in pieces; raises at the end unless they match its name."""
        if not self.has(digest):
            raise ObjectDamaged(f"object {digest} is missing from {self.folder}")
        actual = hashlib.sha256()
        with self.open(digest) as file:
            while chunk := file.read(CHUNK_BYTES):
                actual.update(chunk)
                yield chunk
        if actual.hexdigest() != digest:
            raise ObjectDamaged(f"object {digest}: its bytes do not match its name")

    def check(self, digest: str) -> None:
        """Raise `ObjectDamaged` unless the object is present and intact."""
        for _ in self.pieces(digest):
            pass

    def clear_staging(self) -> None:
        """Remove the files that workers of an earlier session left behind."""
        if self.staging.is_dir():
            for path in sorted(self.staging.iterdir()):
                path.unlink()

    def digests(self) -> Iterator[str]:
        """Yield every stored digest, sorted."""
        for shard in sorted(p for p in self.folder.iterdir() if len(p.name) == 2):
            for path in sorted(shard.iterdir()):
                if path.suffix != ".tmp":
                    yield shard.name + path.name

    def _folder_for(self, digest: str) -> Path:
        target = self.path(digest)
        self._disk.make_folder(target.parent)
        return target


def hash_file(file: BinaryIO) -> str:
    """Return the SHA-256 of an open file, read in pieces."""
    digest = hashlib.sha256()
    while chunk := file.read(CHUNK_BYTES):
        digest.update(chunk)
    return digest.hexdigest()
