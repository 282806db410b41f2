"""The `weft` command line: assembles the commands and reports errors.

Every error is one line on stderr and an exit code; a traceback is shown only with -vv.
"""

from __future__ import annotations

import errno
import gc
import os
import re
import resource
import sys
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from weft.console import render
from weft.console.listing import ListingGroup, write_commands
from weft.errors import SHORTAGES, Interrupted, SearchInvalid, WeftError
from weft.lazy_imports import explain_missing, lazy_imports
from weft.product import Product, SkippedProduct, installed
from weft.version import __version__

with lazy_imports():
    from weft.cli import browse, inspect, nodes, runs, watch
    from weft.demo import cli as demo
    from weft.doctor import cli as doctor

BAD_PATH = 3
OUR_BUG = 70
TRY_AGAIN = 75
_NO_ROOM = "failed to map segment"
"""Part of the dynamic loader's message when there is no memory to map a library."""
INTERRUPTED = 130
HELP_OPTIONS = ["-h", "--help"]
PATH_ERRORS = (
    errno.EACCES, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOENT, errno.ENOTDIR,
    errno.EPERM,
)  # fmt: skip
"""Error numbers that mean that a wrong path was given."""
MAX_MESSAGE_CHARS = 500
"""Maximum length of a message that is not our own."""
_USAGE: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
"""The base of usage errors, which typer does not export."""
OWN = {
    "run": (runs, "Run a search in a new folder, or continue the run in it."),
    "resume": (runs, "Continue an interrupted run, with the options it was started with."),
    "status": (inspect, "Show the progress of a run: counts, slots, workers, events."),
    "watch": (watch, "Follow a run live: progress, slots, latest events."),
    "verify": (inspect, "Check that ledger, manifest and objects agree; print the head."),
    "replay": (
        runs,
        "Run every function task of a finished run again and compare the ledger byte for byte.",
    ),
    "diff": (inspect, "Show the first record where two runs differ, and why."),
    "prove": (inspect, "Print a proof that one record is in the ledger, or check one."),
    "explain": (inspect, "Show one task in full: attempts, errors, log."),
    "report": (
        inspect,
        "Write the run as one self-contained HTML file.",
    ),
    "serve": (inspect, "Show runs live in a browser: a list, a page for each run, comparisons."),
    "list": (
        browse,
        "List the runs in a folder, newest first: state, start, duration, tasks, answer, tags.",
    ),
    "export": (
        browse,
        "Write a run's results as CSV or Parquet: position, arguments, value, error, times.",
    ),
    "pack": (
        inspect,
        "Summarise a run in Markdown for whoever takes it over: a status pack.",
    ),
    "demo": (
        demo,
        "Run four small searches with one worker and with two, and compare.",
    ),
    "doctor": (
        doctor,
        "Check that this machine can run searches, and how to fix what is wrong.",
    ),
    "nodes": (nodes, "Check machines over SSH, and start or stop Ray on them for --backend ray."),
}
"""The engine's own commands: module and summary of each; a module is loaded on first use."""
_RENAMED = {"list": "list_runs"}
"""Function names of commands whose own names would shadow Python's."""


class _Stopped(Exception):  # noqa: N818 - a carrier, not an error
    """Carries `Interrupted` past typer, which gives every Ctrl-C an exit code and no message."""

    def __init__(self, reason: Interrupted) -> None:
        super().__init__(str(reason))
        self.reason = reason


class _Commands(TyperGroup):
    """All commands. Reports a Ctrl-C that a command does not report itself.

    A command is built from its signature only when it is requested: this takes longer than most
    commands run, and for the list of commands the summaries are enough.
    """

    @property
    def commands(self) -> Any:
        """Every command by name."""
        return {name: _command(name) for name in _summaries()}

    @commands.setter
    def commands(self, value: Any) -> None:
        """Ignore what the base class sets: commands come from the table and the products."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of the help."""
        del ctx  # they are the same in every context
        return list(_summaries())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Build the command of this name."""
        del ctx
        return _command(cmd_name) if cmd_name in _summaries() else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands by their summaries."""
        del ctx
        write_commands(formatter, {n: text for n, text in _summaries().items() if text})

    def invoke(self, ctx: Any) -> Any:
        """Run the requested command."""
        try:
            return super().invoke(ctx)
        except Interrupted as reason:
            raise _Stopped(reason) from reason
        except KeyboardInterrupt:
            raise _Stopped(Interrupted("interrupted")) from None


class ProductGroup(ListingGroup):
    """The commands of an installed search, imported when one of them is requested."""

    def __init__(self, product: Product) -> None:
        self._product = product
        super().__init__(
            name=product.name, help=product.summary, no_args_is_help=True, rich_markup_mode=None
        )

    @property
    def commands(self) -> Any:
        """The commands by name; empty for an app that is a single command."""
        return getattr(_command_of(self._product), "commands", {})

    @commands.setter
    def commands(self, value: Any) -> None:
        """Ignore what the base class sets: commands come from the product."""

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """Parse the arguments; an app that is a single command parses them itself."""
        if not set(HELP_OPTIONS) & set(args):
            self._product.check_extra()
        command = _command_of(self._product)
        if hasattr(command, "commands"):
            return super().make_context(info_name, args, parent, **extra)
        return command.make_context(info_name, args, parent, **extra)


class SkippedCommand(TyperCommand):
    """Stands in for a product that cannot be used; invoking it reports the reason."""

    def __init__(self, skipped: SkippedProduct) -> None:
        self._error = skipped.error
        super().__init__(name=skipped.name, hidden=True, rich_markup_mode=None)

    def make_context(self, *args: Any, **extra: Any) -> Any:  # noqa: ARG002 - none is read
        """Raise the product's error."""
        raise self._error


@cache
def _command_of(product: Product) -> Any:
    app = product.part(product.app)
    if not isinstance(app, typer.Typer):
        raise SearchInvalid(
            f"product {product.name}: {product.app} is a {type(app).__name__}, not a typer.Typer"
        )
    return get_command(app)


app = typer.Typer(
    name="weft",
    cls=_Commands,
    help="Large parallel searches that always give the same answer, with proof.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": HELP_OPTIONS, "max_content_width": 100},
)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"weft {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Large parallel searches that always give the same answer, with proof."""


def main(argv: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    words = sys.argv[1:] if argv is None else argv
    _open_streams()
    code = _exit_code(words)
    if argv is None:
        gc.freeze()  # the process ends: freeing numba's objects would take as long as loading it
    sys.exit(code)


def _open_streams() -> None:
    """Open the null device for each standard stream that the shell closed (`weft … >&-`).

    In this order each gets the lowest free descriptor, its own; a file of the run would get it
    otherwise.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115


@cache
def commands() -> Any:
    """Return the group of all commands."""
    return get_command(app)


def _summaries() -> dict[str, str]:
    """Return the summary of each command by name; empty for products that cannot be used."""
    summaries = {name: summary for name, (_, summary) in OWN.items()}
    for product in installed().products:
        if product.app:
            summaries.setdefault(product.name, product.summary)
    for skipped in installed().skipped:
        summaries.setdefault(skipped.name, "")
    return summaries


def _command(name: str) -> Any:
    if name in OWN:
        return _own_command(name)
    for product in installed().products:
        if product.name == name and product.app:
            return ProductGroup(product)
    return SkippedCommand(next(skipped for skipped in installed().skipped if skipped.name == name))


@cache
def _own_command(name: str) -> Any:
    module, _ = OWN[name]
    if hasattr(module, "app"):
        return get_group(module.app)
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    single.command(name)(getattr(module, _RENAMED.get(name, name)))
    return get_command(single)


def _unused_products() -> dict[str, str]:
    """Return the reasons why products, or their commands, are not used, by product name."""
    reasons = {skipped.name: str(skipped.error) for skipped in installed().skipped}
    for product in installed().products:
        if product.app and product.name in OWN:
            reasons[product.name] = (
                f"the command of product {product.name!r} ({product.app}) is skipped:"
                f" weft {product.name} is a command of Weft itself; ask its authors to rename it"
            )
    return reasons


def _report_unused_products(words: list[str]) -> None:
    """Report products that are not used, except a requested one, which raises its error instead."""
    if {"-q", "--quiet"} & set(words):
        return
    usable = set(OWN) | {product.name for product in installed().products}
    for name, reason in sorted(_unused_products().items()):
        if words[:1] != [name] or name in usable:
            render.message(f"weft: {reason}")


def _exit_code(words: list[str]) -> int:
    tracebacks = sum(len(w) - 1 for w in words if re.fullmatch("-v+", w)) >= 2
    try:
        _report_unused_products(words)
        code = commands()(words, prog_name="weft", standalone_mode=False)
        sys.stdout.flush()
    except (WeftError, _Stopped) as error:
        if tracebacks:
            _print_traceback()
        reason = error.reason if isinstance(error, _Stopped) else error
        render.error(reason)
        return reason.exit_code
    except _USAGE as error:
        return _show_usage(error)
    except BrokenPipeError:
        # The reader is gone; without this the interpreter complains when it flushes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (KeyboardInterrupt, typer.Abort):
        render.message("weft: interrupted")
        return INTERRUPTED
    except OSError as error:
        if tracebacks:
            _print_traceback()
        where = f"{str(error.filename)[:200]}: " if error.filename is not None else ""
        advice = f"; {SHORTAGES[error.errno]}" if error.errno in SHORTAGES else ""
        render.message(f"weft: {where}{error.strerror or error}{advice}")
        return BAD_PATH if error.errno in PATH_ERRORS else TRY_AGAIN
    except Exception as error:
        if tracebacks:
            _print_traceback()
        return _show_unexpected(error)
    return code if isinstance(code, int) else 0


def _show_unexpected(error: Exception) -> int:
    """Report an unexpected error: a missing package of an extra, too little memory, or our bug."""
    if isinstance(error, ModuleNotFoundError):
        refusal = explain_missing(error, "this command")
        if refusal is not None:
            render.error(refusal)
            return refusal.exit_code
    if _is_shortage(error):
        render.message("weft: out of memory; free some, then the same command again")
        return TRY_AGAIN
    summary = f"{type(error).__name__}: {error}"[:MAX_MESSAGE_CHARS]
    render.message(f"weft: internal error, {summary}; run again with -vv and report it")
    return OUR_BUG


def _is_shortage(error: Exception) -> bool:
    """Whether an error means out of memory; the interpreter may lack the memory to report it."""
    if isinstance(error, SystemError):  # "error return without exception set"
        return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    return isinstance(error, MemoryError) or _NO_ROOM in str(error)


def _show_usage(error: Any) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.format_message(), file=sys.stderr)
        return int(error.exit_code)
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "weft"
    text = " ".join(_usage_text(error).split()).rstrip(".")
    if len(text) > MAX_MESSAGE_CHARS:  # it may quote a value of any length
        text = f"{text[: MAX_MESSAGE_CHARS // 2]} … {text[-MAX_MESSAGE_CHARS // 2 :]}"
    separator = "" if text.endswith("?") else ";"
    render.message(f"weft: {text}{separator} {where} --help")
    return int(error.exit_code)


def _usage_text(error: Any) -> str:
    """Return what is wrong with a command line; for an unknown option, suggest the most similar.

    A missing option is reported by its first name; the others are spellings of older programs.
    """
    if type(error).__name__ == "MissingParameter" and error.param.param_type_name == "option":
        error.param_hint = error.param.opts[:1]
    similar = getattr(error, "possibilities", None)
    if not similar or type(error).__name__ != "NoSuchOption":
        return str(error.format_message())
    closest = get_close_matches(error.option_name, sorted(similar), n=1, cutoff=0)[0]
    return f"{error.message}. Did you mean '{closest}'?"


def _print_traceback() -> None:
    import traceback  # noqa: PLC0415

    traceback.print_exc()


if __name__ == "__main__":
    main()
