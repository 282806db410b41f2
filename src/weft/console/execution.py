"""Shared options for how a run is executed, and their conversion to `Execution`.

    @app.command()
    @with_groups
    def solve(..., *, options: ExecutionOptions, output: OutputOptions) -> None: ...

Values are checked here, before anything is imported or written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from weft.console import options
from weft.errors import UsageError
from weft.lazy_imports import lazy_imports
from weft.model.slots import Node

with lazy_imports():
    from weft.cluster import clusters, nodesfile
    from weft.runs import execution as runs


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionOptions:
    """Where and how a run is executed; none of it affects the outcome."""

    workers: options.Workers = None
    backend: options.Backend = None
    ray_address: options.RayAddress = None
    nodes: options.Nodes = None
    simulate_nodes: options.SimulateNodes = False
    placement: options.Placement = None
    stagger: options.Stagger = None
    accept: options.Accept = field(default_factory=list)
    wall_limit: options.WallLimit = None
    sign_key: options.SignKey = None

    def check(self) -> None:
        """Reject invalid values before any file is read."""
        options.check_seconds("--wall-limit", self.wall_limit)
        options.check_stagger(self.stagger)
        if self.nodes is None and self.simulate_nodes:
            raise UsageError("--simulate-nodes needs --nodes FILE")
        if self.backend == "ray" and self.simulate_nodes:
            raise UsageError("--simulate-nodes cannot be combined with --backend ray")

    def read_nodes(self, *, anywhere: bool) -> tuple[Node, ...]:
        """Return the nodes of the node file, if given; `anywhere` allows other machines."""
        if self.nodes is None:
            return ()
        return nodesfile.read_nodes(self.nodes, simulate=self.simulate_nodes, anywhere=anywhere)

    def has_classic_nodes(self) -> bool:
        """Whether there is a node file in the classic format."""
        return self.nodes is not None and nodesfile.is_classic(self.nodes)

    def _run_nodes(self) -> tuple[Node, ...]:
        """Return the nodes of a run; only the backend ray can use other machines."""
        return self.read_nodes(anywhere=self.backend == "ray")

    def cluster_address(self) -> str:
        """Return the address of the cluster to join; empty for the only one, or without Ray."""
        if self.backend != "ray" or self.ray_address or self.nodes is None:
            return self.ray_address or ""
        return clusters.address_for(self.nodes)

    def execution(self, out: Path) -> runs.Execution:
        """Return the execution of a new run; the caller replaces what is specific to its search."""
        self.check()
        return runs.Execution(
            out,
            self.workers,
            self.backend or "local",
            tuple(self.accept),
            self.wall_limit,
            self.sign_key,
            self._run_nodes(),
            self.placement or "greedy",
            stagger_s=self.stagger or 0.0,
            ray_address=self.cluster_address(),
        )

    def changes(self) -> runs.ExecutionChanges:
        """Return the changes to a resumed run's execution; options not given stay as they were."""
        self.check()
        return runs.ExecutionChanges(
            workers=self.workers,
            backend=self.backend,
            nodes=self._run_nodes() or None,
            ray_address=self.cluster_address() or None,
            placement=self.placement,
            stagger_s=self.stagger,
            accept=tuple(self.accept),
            wall_limit_s=self.wall_limit,
            sign_key=self.sign_key,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """Options for groups and milestones, which only a user's own search has."""

    group_cap: options.GroupCap = None
    pause_at: options.PauseAt = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """Output options of a command that runs tasks."""

    as_json: options.AsJson = False
    quiet: options.Quiet = False
    verbose: options.Verbose = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewOptions:
    """Output options of a command that only reads."""

    as_json: options.AsJson = False
    verbose: options.Verbose = 0
    """Not read by commands: tracebacks are printed by `weft.main`, which looks for -vv itself."""
