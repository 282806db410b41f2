"""Commands that only read runs: status, verify, diff, prove, explain, report, serve, pack."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from weft.console import options, render, views
from weft.console.execution import OutputOptions, ViewOptions
from weft.console.groups import with_groups
from weft.errors import FileInvalid, Interrupted, UsageError
from weft.lazy_imports import lazy_imports, require
from weft.model.values import JsonValue

with lazy_imports():
    from weft.inspect import diff as diffs
    from weft.inspect import explain as explaining
    from weft.inspect import products
    from weft.inspect import prove as proofs
    from weft.inspect import status as statuses
    from weft.inspect import verify as verifying
    from weft.inspect.pack import markdown, packing
    from weft.inspect.report import page
    from weft.inspect.serve import serving
    from weft.model import strictjson
    from weft.runs import run as running
    from weft.runs import world

DIFFERENT = 1
DAMAGED = 5


@with_groups
def status(
    run: options.RunArgument,
    events: Annotated[bool, typer.Option("--events", help="List every event.")] = False,
    *,
    output: ViewOptions,
) -> None:
    """Show the progress of a run: counts, slots, workers, events."""
    state = statuses.status(run, events=events, now_s=world.RealClock().wall())
    lines = products.summary_lines(run, state.search)
    if output.as_json:
        render.print_json({**state.to_dict(), **({"summary": lines} if lines else {})})
    else:
        views.show_status(state, lines)


@with_groups
def verify(
    run: options.RunArgument,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="CHECKPOINT", help="An earlier checkpoint that the ledger must extend."
        ),
    ] = None,
    public_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Ed25519 public key (PEM) that must have signed it."),
    ] = None,
    *,
    output: ViewOptions,
) -> None:
    """Check that ledger, manifest and objects agree; print the head.

    Exit code 0 if the run is finished and consistent, 130 if it is consistent but not finished
    (status interrupted), 5 if anything is damaged. With --public-key, 0 only if that key has
    signed the whole finished ledger; otherwise 5, "not signed" or "signed to 40 of 57".
    """
    heads = running.real_place().heads
    verdict = verifying.verify(run, heads, against=against, public_key=public_key)
    if output.as_json:
        render.print_json(verdict.to_dict())
    else:
        views.show_verdict(verdict)
    raise typer.Exit(0 if verdict.status == "finished" else Interrupted.exit_code)


@with_groups
def diff(
    a: Annotated[Path, typer.Argument(metavar="RUN_A", help="A run's folder.")],
    b: Annotated[Path, typer.Argument(metavar="RUN_B", help="Another run's folder.")],
    *,
    output: ViewOptions,
) -> None:
    """Show the first record where two runs differ, and why.

    Exit code 0 if the ledgers are equal, 1 if they differ.
    """
    difference = diffs.diff(a, b)
    if output.as_json:
        body = None if difference is None else difference.to_dict()
        render.print_json({"equal": difference is None, "difference": body})
    else:
        views.show_difference(difference, (str(a), str(b)))
    raise typer.Exit(0 if difference is None else DIFFERENT)


@with_groups
def prove(
    run: Annotated[
        Path | None, typer.Argument(metavar="RUN", help="A run's folder; not with --check.")
    ] = None,
    key: Annotated[
        str | None,
        typer.Argument(
            metavar="KEY", help="A record's key, its first digits, or LANE:ROUND:INDEX of a task."
        ),
    ] = None,
    check: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Check a proof; no run needed.")
    ] = None,
    consistency: Annotated[
        int | None,
        typer.Option(
            metavar="OLD_SIZE", help="Prove that the first OLD_SIZE records are unchanged."
        ),
    ] = None,
    *,
    output: ViewOptions,
) -> None:
    """Print a proof that one record is in the ledger, or check one."""
    if check is not None:
        if run is not None or key is not None or consistency is not None:
            raise UsageError("--check FILE takes no run and no key", hint="weft prove --check FILE")
        _show_checked(check, as_json=output.as_json)
    elif run is not None and consistency is not None and key is None:
        render.print_json(proofs.prove_consistency(run, consistency).to_dict())
    elif run is not None and key is not None and consistency is None:
        render.print_json(proofs.prove(run, key).to_dict())
    else:
        raise UsageError(
            "RUN and KEY are missing",
            hint="weft prove RUN KEY, weft prove RUN --consistency OLD_SIZE"
            " or weft prove --check FILE",
        )


def _show_checked(path: Path, *, as_json: bool) -> None:
    raw = _read_proof(path)
    if "old_size" in raw:
        proofs.check_consistency_proof(proofs.ConsistencyProof.from_dict(raw))
    else:
        proofs.check_proof(proofs.Proof.from_dict(raw))
    fields = {name: value for name, value in raw.items() if name not in ("schema_version", "path")}
    if as_json:
        render.print_json({"holds": True, **fields})
    else:
        render.out(f"holds   for head {raw['size']} {raw['root']}")
        render.out(
            f"record  {raw['line']}"
            if "line" in raw
            else f"after   {raw['old_size']} {raw['old_root']}"
        )


def _read_proof(path: Path) -> dict[str, JsonValue]:
    value = strictjson.loads(options.read_file(path, "--check"), where=str(path))
    if not isinstance(value, dict):
        raise FileInvalid(f"{path}: not a proof (a JSON object)")
    return value


@with_groups
def explain(
    run: options.RunArgument,
    key: options.KeyArgument,
    *,
    output: ViewOptions,
) -> None:
    """Show one task in full: attempts, errors, log."""
    life = explaining.explain(run, key)
    if output.as_json:
        render.print_json(life.to_dict())
    else:
        views.show_life(life)


@with_groups
def report(
    run: options.RunArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Output file. Default: RUN/report.html."),
    ] = None,
    *,
    output: ViewOptions,
) -> None:
    """Write the run as one self-contained HTML file.

    A damaged run gets a report that names the damage.
    """
    written = page.write_report(run, running.real_place().heads, out)
    if output.as_json:
        render.print_json({"report": str(written), "size_bytes": written.stat().st_size})
    else:
        render.out(str(written))


@with_groups
def serve(
    runs: Annotated[
        Path, typer.Argument(metavar="RUNS", help="A folder of runs, or one run.")
    ] = Path("runs"),
    port: Annotated[
        int, typer.Option(metavar="N", help="Port on this machine; 0 picks a free one.")
    ] = 0,
    *,
    output: OutputOptions,
) -> None:
    """Show runs live in a browser: a list, a page for each run, comparisons.

    It prints the URL to open, with a token that is new at each start. It listens only on
    127.0.0.1, only reads, and cannot start anything. Ctrl-C stops it without affecting the runs.
    """
    require("weft serve", "serve")

    def announce(served: serving.ServerAddress) -> None:
        if output.as_json:
            render.print_json({"url": served.url, "port": served.port, "runs": str(runs)})
        else:
            render.out(served.url)
        sys.stdout.flush()
        if not output.quiet:
            render.message(f"weft: showing {runs}, on this machine only; Ctrl-C ends it")

    try:
        serving.serve(runs, port, announce)
    except KeyboardInterrupt:
        return


@with_groups
def pack(
    run: options.RunArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Also write a folder with everything needed to repeat the run."
        ),
    ] = None,
    replay: Annotated[
        bool, typer.Option("--replay", help="Rerun every function task to check the ledger.")
    ] = False,
    *,
    output: ViewOptions,
) -> None:
    """Summarise a run in Markdown for whoever takes it over: a status pack.

    It has the request, commands to repeat it, results, failures with examples, times, invariants
    and how each was checked, the head, open ends. --json prints the same as JSON.
    Exit code 0, or 5 if the run is damaged; the pack then names the damage.
    """
    packed = packing.make_pack(run, out, replayed=replay)
    if output.as_json:
        render.print_json(packed.to_dict())
    else:
        render.out(markdown.to_markdown(packed).rstrip("\n"))
    raise typer.Exit(0 if packed.sound else DAMAGED)
