"""How a run is executed: workers, nodes, placement. It may change on every resume.

Nothing of it reaches the ledger; run.toml remembers it, so that `weft resume RUN` is enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from weft.backends.forkserver import ForkServer
from weft.backends.places import located
from weft.cluster import host
from weft.cluster.host import cpu_quota
from weft.coordinator.placement import PLACEMENTS, Caps, Placement
from weft.errors import OptionInvalid, UsageError
from weft.model.slots import MAX_SLOTS, Node, local_nodes
from weft.product import product_of
from weft.runs.sealing import is_over
from weft.storage.folder import RunFolder
from weft.worker.environment import ONE_THREAD

__all__ = [
    "ACCEPTABLE", "BACKENDS", "DEVICES", "MAX_STAGGER_S", "PLACEMENTS", "SEALED_VIEWS",
    "Execution", "ExecutionChanges", "copied", "cpu_quota", "default_workers", "is_here", "placed",
    "placement_of", "preloaded",
]  # fmt: skip

ACCEPTABLE = ("code", "copy", "rollback", "sandbox")
BACKENDS = ("serial", "local", "ray")
DEVICES = ("auto", "cpu", "gpu")
MAX_STAGGER_S = 3600
MAX_TAG_CHARS = 100
SEALED_VIEWS = "sealed-views"
"""Tag of a run whose tasks no view may show one by one; what is recorded is not touched."""


@dataclass(frozen=True, slots=True)
class Execution:
    """How a run is executed; may change on every resume and never reaches the ledger."""

    out: Path
    workers: int | None = None
    """How many at a time: if not given, one per processor that this process may use, and with
    `nodes` as many as they have slots. The outcome does not depend on it."""
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
    """What the nodes' folders are relative to; the current folder if not given."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What people call inputs or lanes whose names in the ledger are digests; for views only."""
    pause_at: str | None = None
    """The milestone of the search at which to stop for now."""
    tags: tuple[str, ...] = ()
    """What views should know of a run, such as `SEALED_VIEWS`."""
    ray_address: str = ""
    """Of the cluster, with the backend `ray`; empty for the only one `weft nodes up` started."""
    notices: bool = False
    """Whether the first failure is shown on stderr as soon as it happens."""
    warnings: bool = True
    """Whether what a person should know before the run starts is shown on stderr."""
    keep: tuple[str, ...] = ()
    """What stays after use beside the record: `failed`, the folders of failed commands; what
    else a search knows how to keep."""
    fork_server: ForkServer | None = field(default=None, compare=False)
    """Forks the workers of this session, with what they need loaded; see `preloaded`."""

    @property
    def on_ray(self) -> bool:
        """Whether tasks run on a Ray cluster."""
        return self.backend == "ray"

    def __post_init__(self) -> None:
        if self.workers is not None and not 1 <= self.workers <= MAX_SLOTS:
            raise OptionInvalid("workers", f"must be 1 to {MAX_SLOTS}, not {self.workers}")
        if self.backend not in BACKENDS:
            rule = f"must be one of {', '.join(BACKENDS)}, not {self.backend}"
            raise OptionInvalid("backend", rule)
        unknown = [word for word in self.accept if word not in ACCEPTABLE]
        if unknown:
            allowed = ", ".join(ACCEPTABLE)
            raise OptionInvalid("accept", f"takes {allowed}, not {unknown[0]!r}")
        if self.device not in DEVICES:
            raise UsageError(f"--device must be one of {', '.join(DEVICES)}, not {self.device!r}")
        if not 0 <= self.stagger_s <= MAX_STAGGER_S:
            raise UsageError(f"--stagger must be 0 to {MAX_STAGGER_S} s, not {self.stagger_s}")
        if self.ray_address and self.backend != "ray":
            raise UsageError("--ray-address needs --backend ray")
        for tag in self.tags:
            if not 0 < len(tag) <= MAX_TAG_CHARS or not tag.isprintable():
                rule = f"{tag[:40]!r}: use 1 to {MAX_TAG_CHARS} printable letters"
                raise OptionInvalid("tags", rule, flag="--tag")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionChanges:
    """What a resume changes of how its run was executed before; None leaves it as it was."""

    workers: int | None = None
    backend: str | None = None
    nodes: tuple[Node, ...] | None = None
    ray_address: str | None = None
    placement: str | None = None
    stagger_s: float | None = None
    accept: tuple[str, ...] = ()
    """This and what follows is for one session only: nothing of it is remembered."""
    wall_limit_s: float | None = None
    sign_key: Path | None = None
    group_cap: int | None = None
    pause_at: str | None = None
    notices: bool = False
    warnings: bool = True


def placement_of(execution: Execution, cluster: Sequence[Node] = ()) -> Placement:
    """Return the slots of a run and the rule that fills them; refuses what makes no sense.

    `cluster` are the nodes of the Ray cluster that a run has joined.
    """
    if execution.group_cap is not None and execution.group_cap < 1:
        rule = f"must be 1 or more, not {execution.group_cap}"
        raise OptionInvalid("group_cap", rule, flag="--group-cap")
    base = (execution.base or Path.cwd()).absolute()
    if execution.backend == "serial":
        return Placement(placed(execution.nodes or local_nodes(1), base), caps=Caps(total=1))
    if execution.backend == "ray":
        caps = Caps(execution.workers, execution.group_cap)
        return Placement(_placed_here(cluster, base), execution.placement, caps)
    if not execution.nodes:
        nodes = local_nodes(execution.workers or default_workers())
        caps = Caps(group=execution.group_cap)
    else:
        caps, nodes = Caps(execution.workers, execution.group_cap), execution.nodes
    return Placement(placed(nodes, base), execution.placement, caps)


@contextmanager
def preloaded(execution: Execution, search: str) -> Iterator[Execution]:
    """Load what workers need in a process of its own, as the product of the search says.

    For commands, which go on to prepare their run meanwhile; its workers fork from that process.
    A finished run needs none, and where it cannot be started workers start by themselves.
    """
    product = product_of(search)
    if product is None or not product.preload or not _forks(execution):
        yield execution
        return
    environment = {**host.worker_environment(), **dict.fromkeys(ONE_THREAD, "1")}
    try:
        server = ForkServer.loading(product.preload, environment)
    except OSError:  # short of processes, descriptors or memory: what needs them will say so
        yield execution
        return
    with closing(server):
        yield replace(execution, fork_server=server)


@contextmanager
def copied(execution: Execution) -> Iterator[Execution]:
    """Copy this process, which has loaded what workers need: those of the run fork from the copy.

    For commands that compute little. Where a copy is not safe, workers start by themselves.
    """
    server = ForkServer.copying() if _forks(execution) else None
    if server is None:
        yield execution
        return
    with closing(server):
        yield replace(execution, fork_server=server)


def _forks(execution: Execution) -> bool:
    """Whether workers of this run may fork from a process of this machine, if it needs any."""
    return execution.backend == "local" and not is_over(
        RunFolder(execution.out), execution.sign_key
    )


def default_workers() -> int:
    """Return how many workers a run on this machine has if none were asked for."""
    return min(host.cpu_count(), MAX_SLOTS)


def placed(nodes: Sequence[Node], base: Path) -> list[Node]:
    """Give nodes that run here their folder and interpreter as workers need them: absolute."""
    return [located(node, base) for node in nodes]


def is_here(node: Node) -> bool:
    """Whether a node is this machine."""
    return node.name in host.names_of_here()


def _placed_here(nodes: Sequence[Node], base: Path) -> list[Node]:
    """Place the nodes that are this machine; others find their folders themselves."""
    return [placed([node], base)[0] if is_here(node) else node for node in nodes]
