"""Collects the facts about a node before anything else; sent over SSH as a program.

    ssh NODE python3 - < probe.py     →  one line of JSON

Weft may not be installed there, so it imports the standard library only.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TypedDict

MARK = "weft-node-probe "
"""Begins the answer, since login scripts may print other lines."""


class MachineFacts(TypedDict):
    """A machine's answer."""

    python: str
    executable: str
    weft: str | None
    weft_digest: str
    ray: str | None
    gpus: list[str]
    disk_free_bytes: int
    time: float
    connection: list[str]
    """SSH_CONNECTION: our address and port as the machine sees them, then its own."""


def main() -> None:
    """Print the facts about this machine."""
    facts: MachineFacts = {
        "python": platform.python_version(),
        "executable": sys.executable,
        "weft": _weft_version(),
        "weft_digest": _weft_digest(),
        "ray": _version("ray"),
        "gpus": _gpus(),
        "disk_free_bytes": shutil.disk_usage(Path.home()).free,
        "time": time.time(),
        "connection": os.environ.get("SSH_CONNECTION", "").split(),
    }
    print(MARK + json.dumps(facts))


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _weft_folder() -> Path | None:
    spec = importlib.util.find_spec("weft")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def _weft_version() -> str | None:
    """Return the version from Weft's source, without importing it."""
    folder = _weft_folder()
    if folder is None:
        return None
    lines = (folder / "__init__.py").read_text("utf-8").splitlines()
    versions = [line for line in lines if line.startswith("__version__")]
    return versions[0].partition("=")[2].strip(" \"'") if versions else _version("weft")


def _weft_digest() -> str:
    """Return the same digest as `weft.backends.raynode.weft_digest`."""
    folder, digest = _weft_folder() or Path("/nowhere"), hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()}\n{len(data)}\n".encode() + data)
    return digest.hexdigest()


def _gpus() -> list[str]:
    """Return the names of the GPUs that the vendors' tools list; none without such a tool."""
    for argv in (["nvidia-smi", "-L"], ["rocm-smi", "--showproductname"]):
        if shutil.which(argv[0]):
            process = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)
            return [line.strip() for line in process.stdout.splitlines() if line.startswith("GPU")]
    return []


if __name__ == "__main__":
    main()
