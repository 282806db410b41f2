"""Node files: which machines there are and what each can run.

Two forms, both checked field by field: `nodes.toml` with a `[[nodes]]` table per node, and the
classic JSON `{"nodes": [{"hostname": …, "gpu_count": …}]}`, read unchanged. What a node can do is
stated in its fields and never guessed from its name. Without the backend `ray`, nodes run on this
machine: another machine's name is refused unless its slots are to be simulated here.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from weft.cluster.host import names_of_here
from weft.errors import FileInvalid, InputError
from weft.model import strictjson
from weft.model.fields import first_problem
from weft.model.slots import MAX_CONCURRENT, Node, slots_of

MAX_BYTES = 1 << 20
Count = Annotated[int, Field(ge=0, le=1024, strict=True)]


class NodeEntry(BaseModel):
    """One node of a file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    hostname: Annotated[
        str, Field(min_length=1, max_length=253, pattern=r"^[A-Za-z0-9._:][A-Za-z0-9._:-]*$")
    ]
    username: str = ""
    gpu_count: Count = 0
    gpu_type: str = ""
    cpu_count: Count | None = None
    script_path: str = ""
    python_env: str = ""
    allow_paths: list[Annotated[str, Field(min_length=1, pattern=r"^(/|~(/|$))[^\x00]*$")]] = []
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
        """Return the node; without cpu_count, it has as many CPU slots as may run at a time."""
        cpus = self.max_concurrent if self.cpu_count is None else self.cpu_count
        name, cap = self.hostname, self.max_concurrent
        place = (self.script_path, self.python_env, self.gpu_type, tuple(self.allow_paths))
        return Node(name, self.gpu_count, cpus, cap, *place)


class NodesFile(BaseModel):
    """A whole file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    nodes: Annotated[list[NodeEntry], Field(min_length=1, max_length=1024)]


def is_classic(path: Path) -> bool:
    """Whether a node file has the classic form, JSON."""
    return path.suffix != ".toml"


def read_nodes(path: Path, *, simulate: bool = False, anywhere: bool = False) -> tuple[Node, ...]:
    """Return the nodes of a file; raises FileInvalid, naming file and entry, if it is wrong.

    With `simulate`, other machines' slots run here, with this folder and this interpreter; with
    `anywhere`, nodes may be other machines.
    """
    if anywhere:
        return tuple(entry.to_node() for entry in read_machines(path))
    entries = read_entries(path) if simulate else read_machines(path)
    try:
        return tuple(_here(entry.to_node(), simulate) for entry in entries)
    except InputError as error:
        raise FileInvalid(f"{path}: {error}") from None


def read_machines(path: Path) -> tuple[NodeEntry, ...]:
    """Return the entry of each node; no two of them may be this machine."""
    entries = read_entries(path)
    here = [entry.hostname for entry in entries if entry.hostname in names_of_here()]
    if len(here) > 1:
        raise FileInvalid(
            f"{path}: nodes {here[0]!r} and {here[1]!r} are the same machine",
            hint="merge the two entries, or use --simulate-nodes",
        )
    return entries


def read_entries(path: Path) -> tuple[NodeEntry, ...]:
    """Return the entry of each node, checked; raises FileInvalid if the file is wrong."""
    try:
        entries = NodesFile.model_validate(_parsed(path)).nodes
        for number, entry in enumerate(entries):
            _check_slots(entry, number)
        slots_of([entry.to_node() for entry in entries])
    except ValidationError as error:
        where, problem = first_problem(error)
        raise FileInvalid(
            f"{path}: {where}: {problem}" if where else f"{path}: {problem}"
        ) from None
    except FileInvalid:
        raise
    except InputError as error:
        raise FileInvalid(f"{path}: {error}") from None
    return tuple(entries)


def _check_slots(entry: NodeEntry, number: int) -> None:
    if entry.gpu_count == 0 and not entry.cpu_count:
        raise InputError(
            f"nodes.{number} ({entry.hostname!r}): zero GPUs and no CPU slot",
            hint="give it gpu_count or cpu_count of 1 or more",
        )


def _here(node: Node, simulate: bool) -> Node:
    if node.name in names_of_here():
        return node
    if not simulate:
        raise InputError(
            f"node {node.name!r} is not this machine",
            hint="--backend ray runs its slots there, --simulate-nodes here",
        )
    return replace(node, folder="", python="")


def _parsed(path: Path) -> Any:
    if not path.is_file():
        raise FileInvalid(f"nodes file {path} does not exist or is not a regular file")
    if path.stat().st_size > MAX_BYTES:
        raise FileInvalid(f"{path}: larger than {MAX_BYTES:,} bytes")
    data = path.read_bytes()
    if is_classic(path):
        return strictjson.loads(data, where=str(path), max_bytes=MAX_BYTES)
    try:
        return tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FileInvalid(f"{path}: {error}") from None
