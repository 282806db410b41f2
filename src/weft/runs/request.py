"""What someone wants to run: the decision config that binds it, and how to execute it.

`genesis_text` is the identity of a run. Everything that can change the outcome is in it;
nothing about workers, places or time is.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weft.backends.places import located
from weft.cluster import host
from weft.coordinator.placement import Caps, Placement
from weft.coordinator.policy import Policy
from weft.errors import FileInvalid, RunMismatch, SearchInvalid, UsageError, ValueInvalid
from weft.ledger.records import FORMAT
from weft.model.keys import sha256_hex
from weft.model.slots import MAX_SLOTS, Node, local_nodes
from weft.model.tasks import Budget, SearchCall
from weft.model.values import (
    MAX_SEARCH_ARGS_CHARS,
    Object,
    canonical,
    encode_args,
    from_wire,
    to_wire,
)
from weft.product import check_name

ACCEPTABLE = ("code", "copy", "rollback")
BACKENDS = ("serial", "local", "ray")
DEVICES = ("auto", "cpu", "gpu")
MAX_STAGGER_S = 3600


@dataclass(frozen=True, slots=True)
class Decision:
    """Everything that can change the outcome, beside the search's code."""

    call: SearchCall
    seed: int = 0
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Digest of each input; the bytes are objects of the run."""
    budget: Budget = field(default_factory=Budget)
    policy: Policy = field(default_factory=Policy)

    def context(self) -> dict[str, Any]:
        """Return what the search may ask for by keyword."""
        inputs = {name: Object(digest) for name, digest in self.inputs.items()}
        return {"seed": self.seed, "inputs": inputs, "budget": self.budget}

    def genesis_text(self) -> str:
        """Render the canonical body of record 0."""
        call = self.call
        try:
            encode_args(call.args, MAX_SEARCH_ARGS_CHARS)
            config = {
                "args": to_wire(dict(call.args)),
                "budget": to_wire(dict(self.budget.counts)),
                "retries": self.policy.retries,
                "strict": self.policy.strict,
                "timeout_s": to_wire(self.policy.timeout_s),
            }
        except ValueInvalid as error:
            raise SearchInvalid(f"arguments of search {call.name}: {error}") from None
        return canonical({
            "config": config,
            "format": FORMAT,
            "inputs": dict(self.inputs),
            "libraries": {name: _installed(name) for name in call.libraries},
            "search": call.name,
            "seed": to_wire(self.seed),
            "version": call.version,
        })  # fmt: skip


@dataclass(frozen=True, slots=True)
class Execution:
    """How a run is carried out; may change on every resume and never reaches the ledger."""

    out: Path
    workers: int | None = None
    """How many at a time: 1 if not said, and with `nodes` as many as they have slots."""
    backend: str = "local"
    accept: tuple[str, ...] = ()
    wall_limit_s: float | None = None
    sign_key: Path | None = None
    nodes: tuple[Node, ...] = ()
    """Empty: this machine."""
    placement: str = "greedy"
    group_cap: int | None = None
    stagger_s: float = 0.0
    device: str = "auto"
    """Where tasks that can use a GPU should compute; their results are the same on both."""
    base: Path | None = None
    """What the nodes' folders are relative to; the current folder if not said."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What people call inputs or lanes whose names in the ledger are digests; for views only."""
    pause_at: str | None = None
    """The milestone of the search at which to stop for now."""
    tags: tuple[str, ...] = ()
    """What views should know of a run, such as `weft.storage.folder.SEALED_VIEWS`."""
    ray_address: str = ""
    """Of the cluster, with the backend `ray`; empty for the only one `weft nodes up` started."""
    keep: tuple[str, ...] = ()
    """What stays after use beside the record: `failed`, the folders of failed commands; what
    else a search knows how to keep."""

    def __post_init__(self) -> None:
        if self.workers is not None and not 1 <= self.workers <= MAX_SLOTS:
            raise UsageError(f"--workers must be 1 to {MAX_SLOTS}, not {self.workers}")
        if self.backend not in BACKENDS:
            raise UsageError(f"--backend must be one of {', '.join(BACKENDS)}, not {self.backend}")
        unknown = [word for word in self.accept if word not in ACCEPTABLE]
        if unknown:
            allowed = ", ".join(ACCEPTABLE)
            raise UsageError(f"--accept takes {allowed}, not {unknown[0]!r}")
        if self.device not in DEVICES:
            raise UsageError(f"--device must be one of {', '.join(DEVICES)}, not {self.device!r}")
        if not 0 <= self.stagger_s <= MAX_STAGGER_S:
            raise UsageError(f"--stagger must be 0 to {MAX_STAGGER_S} s, not {self.stagger_s}")
        if self.ray_address and self.backend != "ray":
            raise UsageError("--ray-address needs --backend ray")


def placement_of(execution: Execution, cluster: Sequence[Node] = ()) -> Placement:
    """Return the slots of a run and the rule that fills them; refuses what makes no sense.

    `cluster` are the nodes of the Ray cluster that a run has joined.
    """
    if execution.group_cap is not None and execution.group_cap < 1:
        raise UsageError(f"the cap per group must be 1 or more, not {execution.group_cap}")
    base = (execution.base or Path.cwd()).absolute()
    if execution.backend == "serial":
        return Placement(placed(execution.nodes or local_nodes(1), base), caps=Caps(total=1))
    if execution.backend == "ray":
        caps = Caps(execution.workers, execution.group_cap)
        return Placement(_placed_here(cluster, base), execution.placement, caps)
    if not execution.nodes:
        caps, nodes = Caps(group=execution.group_cap), local_nodes(execution.workers or 1)
    else:
        caps, nodes = Caps(execution.workers, execution.group_cap), execution.nodes
    return Placement(placed(nodes, base), execution.placement, caps)


def placed(nodes: Sequence[Node], base: Path) -> list[Node]:
    """Give nodes that run here their folder and interpreter as workers need them: absolute."""
    return [located(node, base) for node in nodes]


def _placed_here(nodes: Sequence[Node], base: Path) -> list[Node]:
    """Place the nodes that are this machine; others find their folders themselves."""
    here = host.names_of_here()
    return [placed([node], base)[0] if node.name in here else node for node in nodes]


def decision_from_genesis(genesis: str, call: SearchCall) -> Decision:
    """Rebuild the decision of a recorded run; `call` supplies the search's code."""
    raw = json.loads(genesis)
    config = raw["config"]
    timeout_s: Any = from_wire(config["timeout_s"])
    seed: Any = from_wire(raw["seed"])
    budget: Any = from_wire(config["budget"])
    return Decision(
        call=call,
        seed=seed,
        inputs=raw["inputs"],
        budget=Budget(budget),
        policy=Policy(config["retries"], timeout_s, config["strict"]),
    )


def check_same(recorded: str, asked: str, where: Path) -> None:
    """Raise `RunMismatch` naming the first field in which two genesis bodies differ."""
    if recorded == asked:
        return
    check_name(str(json.loads(recorded).get("search")))
    old, new = _flat(json.loads(recorded)), _flat(json.loads(asked))
    for name in sorted(old.keys() | new.keys(), key=lambda name: (name != "search", name)):
        if old.get(name) != new.get(name):
            before, now = old.get(name, "nothing"), new.get(name, "nothing")
            raise RunMismatch(
                f"{where} holds another run: {name} is {before:.200} there, {now:.200} here",
                hint="use the recorded value, or a new --out",
            )


def read_inputs(inputs: Mapping[str, Path | bytes]) -> dict[str, bytes]:
    """Return each input's bytes, by name."""
    return {name: _read_input(name, source) for name, source in sorted(inputs.items())}


def digests(inputs: Mapping[str, bytes]) -> dict[str, str]:
    """SHA-256 of each input."""
    return {name: sha256_hex(data) for name, data in inputs.items()}


def _read_input(name: str, source: Path | bytes) -> bytes:
    if isinstance(source, bytes):
        return source
    try:
        if not source.is_file():
            what = "is not a plain file" if source.exists() else "does not exist"
            raise FileInvalid(f"input {name}: {source} {what}")
        return source.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileInvalid(f"input {name}: {str(source)[:200]!r}: {reason}") from None


def _installed(library: str) -> str:
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        raise SearchInvalid(f"the search needs library {library}, which is not installed") from None


def _flat(value: Any, name: str = "") -> dict[str, str]:
    """Dotted names of all leaves, for comparing two configs in words."""
    flat: dict[str, str] = {}
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for number, item in enumerate(value):
            flat.update(_flat(item, f"{name}.{number}"))
        return flat
    if not isinstance(value, dict) or not value:
        return {name: json.dumps(value)}
    for key, item in value.items():
        flat.update(_flat(item, f"{name}.{key}" if name else key))
    return flat
