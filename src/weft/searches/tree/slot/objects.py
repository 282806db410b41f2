"""Write git objects without git, so that a commit or a small file costs no process.

As in git, an object is written atomically, and an existing one is left unchanged.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zlib
from pathlib import Path


def write_object(repo: Path, kind: str, data: bytes) -> str:
    """Store an object in a repository's folder and return its id."""
    content = b"%s %d\0" % (kind.encode(), len(data)) + data
    name = hashlib.sha1(content, usedforsecurity=False).hexdigest()
    folder = repo / "objects" / name[:2]
    path = folder / name[2:]
    if not path.exists():
        folder.mkdir(exist_ok=True)
        _put(path, zlib.compress(content, 1))
    return name


def _put(path: Path, data: bytes) -> None:
    fd, name = tempfile.mkstemp(prefix="tmp_obj_", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
        temporary.chmod(0o444)
        temporary.rename(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
