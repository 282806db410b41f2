"""`weft nodes`: check the machines of a node file, start Ray on them, and stop it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from weft.console import render
from weft.console.execution import ViewOptions
from weft.console.groups import with_groups
from weft.console.listing import ListingGroup
from weft.errors import UsageError, WorldError
from weft.inspect.report.text import counted
from weft.lazy_imports import lazy_imports

with lazy_imports():
    from weft.cluster import check as checking
    from weft.cluster import nodes as clusternodes
    from weft.cluster import ssh

FOUND_PROBLEMS = 1

app = typer.Typer(
    name="nodes",
    cls=ListingGroup,
    help="Check machines over SSH, and start or stop Ray on them for --backend ray.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

File = Annotated[Path, typer.Argument(metavar="NODES", help="Node file: TOML or JSON.")]
HeadIp = Annotated[
    str | None,
    typer.Option(metavar="IP", help="This machine's address as seen from the nodes."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SshOptions:
    """How nodes are reached."""

    ssh_config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Use this ssh configuration instead of your own."),
    ] = None
    accept_new_keys: Annotated[
        bool,
        typer.Option(
            "--accept-new-keys",
            help="Trust new hosts and store their keys in ~/.weft/known_hosts.",
        ),
    ] = False

    def shell(self) -> ssh.Shell:
        """Return the shell that runs commands on nodes."""
        if self.ssh_config is not None and not self.ssh_config.is_file():
            raise UsageError(f"--ssh-config {self.ssh_config} is not a file")
        return ssh.Shell(self.ssh_config, self.accept_new_keys)


@app.command()
@with_groups
def check(nodes: File, *, access: SshOptions, output: ViewOptions) -> None:
    """Check every node: Python, weft and Ray versions, GPUs, free disk space, clock skew.

    If a cluster is up, also whether its head and nodes are alive, and every port Ray listens on.
    Changes nothing. Exit code 0 if all nodes are usable, 1 otherwise.
    """
    reports = checking.check(nodes, access.shell())
    head = checking.check_head(nodes)
    if output.as_json:
        as_head = head.to_dict() if head else None
        render.print_json({"nodes": [report.to_dict() for report in reports], "head": as_head})
    else:
        for report in (*reports, *([head] if head else [])):
            _show(report)
    problems = [report for report in (*reports, head) if report and report.problem]
    raise typer.Exit(FOUND_PROBLEMS if problems else 0)


@app.command()
@with_groups
def up(nodes: File, head_ip: HeadIp = None, *, access: SshOptions, output: ViewOptions) -> None:
    """Start Ray here and on every node, for runs with --backend ray.

    Nodes are checked first. If anything fails, everything started is stopped again. If the cluster
    is already up, dead nodes are restarted; if its head is gone, the whole cluster is.
    """
    cluster = clusternodes.up(nodes, access.shell(), head_ip)
    if output.as_json:
        render.print_json({"address": cluster.address, "nodes_file": cluster.nodes_file})
        return
    render.out(f"up      {cluster.address}")
    render.out(f"use     --backend ray --nodes {nodes}")
    render.out(f"stop    {render.command('nodes', 'down', nodes)}")


@app.command()
@with_groups
def down(nodes: File, *, access: SshOptions, output: ViewOptions) -> None:
    """Stop Ray here and on every node, and remove its files. Can be repeated."""
    troubles = clusternodes.down(nodes, access.shell())
    if output.as_json:
        render.print_json({"troubles": troubles})
    for line in troubles[:-1]:
        render.message(f"weft: {line}")
    if troubles:
        raise WorldError(troubles[-1])
    if not output.as_json:
        render.out("down    nothing is left of it")


def _show(report: checking.NodeReport) -> None:
    if report.problem:
        render.out(f"problem {report.problem}")
        return
    render.out(f"ok      {report.node}: {_facts(report)}")
    for note in report.notes:
        render.out(f"note    {report.node}: {note}")
    for port in report.ports:
        render.out(f"port    {report.node}: {port}")


def _facts(report: checking.NodeReport) -> str:
    if report.python is None:
        return "Ray runs on this machine"
    versions = f"Python {report.python}, weft {report.weft}, ray {report.ray}"
    disk = f"{(report.disk_free_bytes or 0) / 2**30:,.0f} GiB free"
    gpus = counted(len(report.gpus), "GPU")
    return f"{versions}, {gpus}, {disk}, clock {report.clock_skew_s:+.2f} s"
