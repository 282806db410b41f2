"""Node files: which machines there are and what each can run.

Two forms, both checked field by field: `nodes.toml` with a `[[nodes]]` table per node, and the
classic JSON `{"nodes": [{"hostname": …, "gpu_count": …}]}`, read as it is. What a node can do is
said in its fields and never guessed from its name.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from weft.errors import FileInvalid, InputError
from weft.model import strictjson
from weft.model.slots import MAX_CONCURRENT, Node, slots_of

MAX_BYTES = 1 << 20
Count = Annotated[int, Field(ge=0, le=1024, strict=True)]


class NodeEntry(BaseModel):
    """One node of a file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    hostname: Annotated[str, Field(min_length=1, max_length=253, pattern=r"^[A-Za-z0-9._-]+$")]
    username: str = ""
    gpu_count: Count = 0
    gpu_type: str = ""
    cpu_count: Count | None = None
    script_path: str = ""
    python_env: str = ""
    max_concurrent: Annotated[
        int,
        Field(
            ge=1,
            le=1024,
            strict=True,
            validation_alias=AliasChoices("max_concurrent", "max_concurrent_script_jobs"),
        ),
    ] = MAX_CONCURRENT

    def to_node(self) -> Node:
        """Return the slots it offers; CPU slots as many as may run at a time, unless it says."""
        cpus = self.max_concurrent if self.cpu_count is None else self.cpu_count
        return Node(self.hostname, self.gpu_count, cpus, self.max_concurrent)


class NodesFile(BaseModel):
    """A whole file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    nodes: Annotated[list[NodeEntry], Field(min_length=1, max_length=1024)]


def read_nodes(path: Path) -> tuple[Node, ...]:
    """Return the nodes of a file; one line naming file and entry when it is wrong."""
    try:
        entries = NodesFile.model_validate(_parsed(path)).nodes
        nodes = tuple(entry.to_node() for entry in entries)
        slots_of(nodes)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise FileInvalid(f"{path}: {where}: {first['msg']}") from None
    except FileInvalid:
        raise
    except InputError as error:
        raise FileInvalid(f"{path}: {error}") from None
    return nodes


def _parsed(path: Path) -> Any:
    if not path.is_file():
        raise FileInvalid(f"nodes file {path} does not exist or is not a plain file")
    data = path.read_bytes()
    if path.suffix != ".toml":
        return strictjson.loads(data, where=str(path), max_bytes=MAX_BYTES)
    if len(data) > MAX_BYTES:
        raise FileInvalid(f"{path}: larger than {MAX_BYTES:,} bytes")
    try:
        return tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FileInvalid(f"{path}: {error}") from None
