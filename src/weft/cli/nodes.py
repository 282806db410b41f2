"""`weft nodes`: look at the machines of a node file, start Ray on them, stop it again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weft.console import render
from weft.console.execution import ViewOptions
from weft.console.groups import with_groups
from weft.errors import UsageError, WorldError
from weft.lazy_imports import lazy_imports

with lazy_imports():
    from weft.cluster import check as checking
    from weft.cluster import nodes as clusternodes
    from weft.cluster import ssh

FOUND_PROBLEMS = 1

app = typer.Typer(
    name="nodes",
    help="Check machines over SSH, and start or stop Ray on them for --backend ray.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

File = Annotated[Path, typer.Argument(metavar="NODES", help="Node file: TOML, or classic JSON.")]
SshConfig = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Configuration for ssh instead of the user's own."),
]
AcceptNewKeys = Annotated[
    bool,
    typer.Option(
        "--accept-new-keys",
        help="Trust hosts that were never seen, and keep their keys in ~/.weft/known_hosts.",
    ),
]
HeadIp = Annotated[
    str | None,
    typer.Option(metavar="IP", help="This machine's address, as nodes reach it."),
]


@app.command()
@with_groups
def check(
    nodes: File,
    ssh_config: SshConfig = None,
    accept_new_keys: AcceptNewKeys = False,
    *,
    output: ViewOptions,
) -> None:
    """Ask every node: Python, weft and Ray versions, GPUs seen, free disk, clock skew.

    Of a cluster that is up: whether its head and nodes live, and every port that Ray listens at.
    Changes nothing anywhere. Exit code 0 when all nodes can serve, 1 when any cannot.
    """
    reports = checking.check(nodes, _shell(ssh_config, accept_new_keys))
    head = checking.check_head(nodes)
    if output.as_json:
        as_head = head.to_dict() if head else None
        render.print_json({"nodes": [report.to_dict() for report in reports], "head": as_head})
    else:
        for report in reports:
            _show(report)
        if head:
            _show_head(head)
    problems = [report for report in (*reports, head) if report and report.problem]
    raise typer.Exit(FOUND_PROBLEMS if problems else 0)


@app.command()
@with_groups
def up(
    nodes: File,
    head_ip: HeadIp = None,
    ssh_config: SshConfig = None,
    accept_new_keys: AcceptNewKeys = False,
    *,
    output: ViewOptions,
) -> None:
    """Start Ray here and on every node, with a token of its own; runs then take --backend ray.

    Nodes are checked first. When anything fails, what was started is stopped again. In a cluster
    that is up already, nodes that died are started again; without its head all of it is.
    """
    cluster = clusternodes.up(nodes, _shell(ssh_config, accept_new_keys), head_ip)
    if output.as_json:
        render.print_json({"address": cluster.address, "nodes_file": cluster.nodes_file})
        return
    render.out(f"up      {cluster.address}")
    render.out(f"use     --backend ray --nodes {nodes}")
    render.out(f"stop    {render.command('nodes', 'down', nodes)}")


@app.command()
@with_groups
def down(
    nodes: File,
    ssh_config: SshConfig = None,
    accept_new_keys: AcceptNewKeys = False,
    *,
    output: ViewOptions,
) -> None:
    """Stop Ray here and on every node, and remove its folder; may be repeated."""
    troubles = clusternodes.down(nodes, _shell(ssh_config, accept_new_keys))
    if output.as_json:
        render.print_json({"troubles": troubles})
    for line in troubles[:-1]:
        render.message(f"weft: {line}")
    if troubles:
        raise WorldError(troubles[-1])
    if not output.as_json:
        render.out("down    nothing is left of it")


def _shell(config: Path | None, accept_new: bool) -> ssh.Shell:
    if config is not None and not config.is_file():
        raise UsageError(f"--ssh-config {config} is not a file")
    return ssh.Shell(config, accept_new)


def _show(report: checking.NodeReport) -> None:
    if report.problem:
        render.out(f"problem {report.problem}")
        return
    gpus = f"{len(report.gpus)} GPUs"
    disk = f"{(report.disk_free_bytes or 0) / 2**30:,.0f} GiB free"
    versions = f"Python {report.python}, weft {report.weft}, ray {report.ray}"
    skew = f"clock {report.clock_skew_s:+.2f} s"
    render.out(f"ok      {report.node}: {versions}, {gpus}, {disk}, {skew}")
    for note in report.notes:
        render.out(f"note    {report.node}: {note}")
    _show_ports(report)


def _show_head(report: checking.NodeReport) -> None:
    if report.problem:
        render.out(f"problem {report.problem}")
        return
    render.out("ok      head: Ray runs on this machine")
    _show_ports(report)


def _show_ports(report: checking.NodeReport) -> None:
    for port in report.ports:
        render.out(f"port    {report.node}: {port}")
