"""How a run is executed: workers, nodes, placement. It may change on every resume.

None of it reaches the ledger; run.toml stores it, so that `weft resume RUN` needs no options.
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
"""Tag of a run whose tasks no view may show individually; what is recorded does not change."""


@dataclass(frozen=True, slots=True)
class Execution:
    """How a run is executed; may change on every resume and never reaches the ledger."""

    out: Path
    workers: int | None = None
    """The number of workers; by default one per processor that this process may use or, with
    `nodes`, one per slot. The outcome does not depend on it."""
    backend: str = "local"
    accept: tuple[str, ...] = ()
    wall_limit_s: float | None = None
    sign_key: Path | None = None
    nodes: tuple[Node, ...] = ()
    """Empty for this machine."""
    placement: str = "greedy"
    group_cap: int | None = None
    stagger_s: float = 0.0
    device: str = "auto"
    """Where tasks that can use a GPU should compute; their results are the same on both."""
    base: Path | None = None
    """The folder that the nodes' folders are relative to; by default the current one."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Human-readable names of inputs or lanes that the ledger names by digests; for views only."""
    pause_at: str | None = None
    """The milestone of the search at which to pause."""
    tags: tuple[str, ...] = ()
    """Words that mark the run for views, such as `SEALED_VIEWS`."""
    ray_address: str = ""
    """The address of the Ray cluster; empty for the only one that `weft nodes up` started."""
    notices: bool = False
    """Whether the first failure is shown on stderr as soon as it happens."""
    warnings: bool = True
    """Whether warnings before the run starts are shown on stderr."""
    keep: tuple[str, ...] = ()
    """What to keep besides the record: `failed` for the folders of failed commands, and whatever
    else the search supports."""
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
    """A resume's changes to how its run is executed; None leaves a setting unchanged."""

    workers: int | None = None
    backend: str | None = None
    nodes: tuple[Node, ...] | None = None
    ray_address: str | None = None
    placement: str | None = None
    stagger_s: float | None = None
    accept: tuple[str, ...] = ()
    """This field and those below apply to one session only; run.toml does not store them."""
    wall_limit_s: float | None = None
    sign_key: Path | None = None
    group_cap: int | None = None
    pause_at: str | None = None
    notices: bool = False
    warnings: bool = True


def placement_of(execution: Execution, cluster: Sequence[Node] = ()) -> Placement:
    """Return the slots of a run and the rule that fills them; refuses invalid options.

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
    """Load what workers need in a separate process, as the product of the search specifies.

    For commands, which prepare their run meanwhile; its workers fork from that process. A finished
    run needs none, and if it cannot be started, workers start as separate programs.
    """
    product = product_of(search)
    if product is None or not product.preload or not _forks(execution):
        yield execution
        return
    environment = {**host.worker_environment(), **dict.fromkeys(ONE_THREAD, "1")}
    try:
        server = ForkServer.loading(product.preload, environment)
    except OSError:  # short of processes, descriptors or memory: what needs them will report it
        yield execution
        return
    with closing(server):
        yield replace(execution, fork_server=server)


@contextmanager
def copied(execution: Execution) -> Iterator[Execution]:
    """Fork a copy of this process, which has loaded what workers need; they fork from the copy.

    For commands that compute little. If a copy is not safe, workers start as separate programs.
    """
    server = ForkServer.copying() if _forks(execution) else None
    if server is None:
        yield execution
        return
    with closing(server):
        yield replace(execution, fork_server=server)


def _forks(execution: Execution) -> bool:
    """Whether the run needs workers and they may fork from a process on this machine."""
    return execution.backend == "local" and not is_over(
        RunFolder(execution.out), execution.sign_key
    )


def default_workers() -> int:
    """Return the default number of workers of a run on this machine."""
    return min(host.cpu_count(), MAX_SLOTS)


def placed(nodes: Sequence[Node], base: Path) -> list[Node]:
    """Return nodes on this machine with folder and interpreter as workers need them: absolute."""
    return [located(node, base) for node in nodes]


def is_here(node: Node) -> bool:
    """Whether a node is this machine."""
    return node.name in host.names_of_here()


def _placed_here(nodes: Sequence[Node], base: Path) -> list[Node]:
    """Return nodes with absolute paths for this machine; other nodes resolve their own."""
    return [placed([node], base)[0] if is_here(node) else node for node in nodes]
