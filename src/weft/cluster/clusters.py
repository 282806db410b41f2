"""Clusters that `weft nodes up` started: one folder each, so that runs and `down` find them.

    ~/.weft/<id>/cluster.json   address, token and node file; readable by its owner only
    ~/.weft/<id>/head           the head's own files, on this machine
    ~/.weft/<id>/n0             everything on node 0, on that machine

The id is a hash of the node file's path. Nothing is written outside this folder. Whoever has
the token can run code as us, so every folder is checked before each use (privatefolders).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from weft.backends.privatefolders import private_file, private_folder
from weft.errors import FileInvalid, WorldError
from weft.model.keys import sha256_hex

SCHEMA_VERSION = 1
FOLDER = "~/.weft"
ID_DIGITS = 8


@dataclass(frozen=True, slots=True)
class ClusterFile:
    """What is known about a cluster."""

    address: str
    token: str
    nodes_file: str

    def write(self, path: Path) -> None:
        """Write the file, readable by its owner only."""
        our_folder(path.parent.name)
        text = json.dumps({"schema_version": SCHEMA_VERSION, **asdict(self)}, indent=2)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        with os.fdopen(os.open(path, flags, 0o600), "w") as file:
            file.write(text + "\n")

    @staticmethod
    def read(path: Path) -> ClusterFile:
        """Read a file that `write` wrote; raises FileInvalid if it is not one."""
        our_folder(path.parent.name, make=False)
        try:
            raw = json.loads(private_file(path).read_text("utf-8"))
            assert raw.pop("schema_version") == SCHEMA_VERSION
            return ClusterFile(**raw)
        except (ValueError, TypeError, KeyError, AssertionError, AttributeError):
            raise FileInvalid(
                f"{path} is not the file of a cluster", hint="remove it, weft nodes up FILE"
            ) from None


def our_folder(*parts: str, make: bool = True) -> Path:
    """Return ~/.weft or a folder in it; raises WorldError if it is not private."""
    base, name = Path(FOLDER).expanduser().parent, Path(FOLDER).name
    return private_folder(base, name, *parts, make=make)


def cluster_id(nodes_file: Path) -> str:
    """Return the name of the folder of a node file's cluster."""
    return sha256_hex(str(nodes_file.absolute()))[:ID_DIGITS]


def cluster_path(nodes_file: Path) -> Path:
    """Return where the file of a node file's cluster is, or would be."""
    return Path(FOLDER).expanduser() / cluster_id(nodes_file) / "cluster.json"


def known_clusters() -> Iterator[ClusterFile]:
    """Yield every cluster that is up as far as we know, by id."""
    for path in sorted(Path(FOLDER).expanduser().glob("*/cluster.json")):
        yield ClusterFile.read(path)


def address_for(nodes_file: Path | None) -> str:
    """Return the address of a node file's cluster, or of the only one there is."""
    if nodes_file is not None:
        path = cluster_path(nodes_file)
        if path.is_file():
            return ClusterFile.read(path).address
        raise WorldError(
            f"no Ray cluster is up for {nodes_file}",
            hint=f"weft nodes up {nodes_file}, or give --ray-address",
        )
    clusters = list(known_clusters())
    if len(clusters) == 1:
        return clusters[0].address
    several = "several Ray clusters are up" if clusters else "no Ray cluster is up"
    raise WorldError(several, hint="weft nodes up FILE, or give --ray-address or --nodes")


def token_for(address: str) -> str:
    """Return the token of a cluster that is ours; empty for any other."""
    return next((cluster.token for cluster in known_clusters() if cluster.address == address), "")
