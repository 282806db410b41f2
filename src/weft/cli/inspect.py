"""Commands that only read a run: status, verify, diff, prove, explain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from weft.console import options, render, views
from weft.errors import FileInvalid, Interrupted, UsageError

DIFFERENT = 1


def status(
    run: options.RunArgument,
    events: Annotated[bool, typer.Option("--events", help="List every event.")] = False,
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,  # noqa: ARG001 - main looks for -vv
) -> None:
    """Show the progress of a run: counts, slots, workers, events."""
    from weft.inspect.products import summary_lines  # noqa: PLC0415
    from weft.inspect.status import status as read  # noqa: PLC0415 - slow to import

    found = read(run, events=events)
    lines = summary_lines(run, found.search)
    if as_json:
        render.print_json({**found.to_dict(), **({"summary": lines} if lines else {})})
    else:
        views.show_status(found, lines)


def verify(
    run: options.RunArgument,
    against: Annotated[
        Path | None,
        typer.Option(metavar="CHECKPOINT", help="An earlier checkpoint that it must extend."),
    ] = None,
    public_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Ed25519 public key (PEM) that must have signed it."),
    ] = None,
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,  # noqa: ARG001
) -> None:
    """Check that ledger, manifest and objects agree; print the head.

    Exit code 0 when the run is finished and all agrees, 130 when all agrees and the run is not
    finished (status interrupted), 5 when anything is damaged. With --public-key, 0 only when that
    key has signed the whole finished ledger; otherwise 5, "not signed" or "signed to 40 of 57".
    """
    from weft.inspect.verify import verify as check  # noqa: PLC0415 - slow to import
    from weft.runs.run import real_place  # noqa: PLC0415

    verdict = check(run, real_place().heads, against=against, public_key=public_key)
    if as_json:
        render.print_json(verdict.to_dict())
    else:
        views.show_verdict(verdict)
    raise typer.Exit(0 if verdict.status == "finished" else Interrupted.exit_code)


def diff(
    a: Annotated[Path, typer.Argument(metavar="RUN_A", help="A run's folder.")],
    b: Annotated[Path, typer.Argument(metavar="RUN_B", help="Another run's folder.")],
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,  # noqa: ARG001
) -> None:
    """Show the first record in which two runs differ, and why.

    Exit code 0 when the ledgers are equal, 1 when they differ.
    """
    from weft.inspect.diff import diff as compare  # noqa: PLC0415 - slow to import

    found = compare(a, b)
    if as_json:
        difference = None if found is None else found.to_dict()
        render.print_json({"equal": found is None, "difference": difference})
    else:
        views.show_difference(found, (str(a), str(b)))
    raise typer.Exit(0 if found is None else DIFFERENT)


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
        Path | None, typer.Option(metavar="FILE", help="Check a proof; needs no run.")
    ] = None,
    consistency: Annotated[
        int | None,
        typer.Option(metavar="OLD_SIZE", help="Prove that the first records are still the same."),
    ] = None,
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,  # noqa: ARG001
) -> None:
    """Print a proof that one record is in the ledger, or check one."""
    from weft.inspect import prove as proofs  # noqa: PLC0415 - slow to import

    if check is not None:
        if run is not None or key is not None or consistency is not None:
            raise UsageError("--check FILE stands alone", hint="weft prove --check FILE")
        _show_checked(check, as_json=as_json)
    elif run is not None and consistency is not None and key is None:
        render.print_json(proofs.prove_consistency(run, consistency).to_dict())
    elif run is not None and key is not None and consistency is None:
        render.print_json(proofs.prove(run, key).to_dict())
    else:
        raise UsageError(
            "what should be proved?",
            hint="weft prove RUN KEY, weft prove RUN --consistency OLD_SIZE"
            " or weft prove --check FILE",
        )


def explain(
    run: options.RunArgument,
    key: options.KeyArgument,
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,  # noqa: ARG001
) -> None:
    """Show one task's life: attempts, errors, log."""
    from weft.inspect.explain import explain as tell  # noqa: PLC0415 - slow to import

    life = tell(run, key)
    if as_json:
        render.print_json(life.to_dict())
    else:
        views.show_life(life)


def _show_checked(path: Path, *, as_json: bool) -> None:
    from weft.inspect import prove as proofs  # noqa: PLC0415 - slow to import

    raw = _read_proof(path)
    if "old_size" in raw:
        proofs.check_consistency_proof(proofs.ConsistencyProof.from_dict(raw))
    else:
        proofs.check_proof(proofs.Proof.from_dict(raw))
    shown = {name: value for name, value in raw.items() if name not in ("schema_version", "path")}
    if as_json:
        render.print_json({"holds": True, **shown})
    else:
        render.out(f"holds   for head {raw['size']} {raw['root']}")
        render.out(
            f"record  {raw['line']}"
            if "line" in raw
            else f"after   {raw['old_size']} {raw['old_root']}"
        )


def _read_proof(path: Path) -> dict[str, Any]:
    from weft.model.strictjson import loads  # noqa: PLC0415

    value = loads(options.read_file(path, "--check"), where=str(path))
    if not isinstance(value, dict):
        raise FileInvalid(f"{path}: not a proof (a JSON object)")
    return value
