"""The finding of each witness of a run: every combination, for `weft verify` and the script.

Each row of the table gives the words for a ledger combined with a signature, an outside head and
a manifest, without and with `--public-key`; each word has an exit code. File modes and the
location of the folder are varied too and must not matter. docs/security.md has this as prose.
"""

from __future__ import annotations

import base64
import contextlib
import importlib.util
import io
import itertools
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.inspect.runs import (
    make_writable,
    put_checkpoint,
    put_ledger,
    read_checkpoint,
    read_lines,
    rewritten,
    unseal,
)
from tests.inspect.signed import MINE, OTHER, SignedRun, write_keys
from weft.errors import Damaged, Interrupted, RunRolledBack, SignatureMissing
from weft.inspect.verify import verify
from weft.ledger import merkle
from weft.ledger.checkpoint import Checkpoint
from weft.signing import key_hash, sign_checkpoint
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.heads import Head, HeadsList, RunLocation
from weft.testing.workload import mixed_steps

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "verify_ledger.py"
SHAPE = 36
FORGED = 1
"""The record that a forger changes: the first result."""

LEDGERS = ("finished", "interrupted", "cut", "forged", "forged-open")
"""As written; killed before its end; a finished one truncated at a line, with a matching
checkpoint; one with a changed result, chain and checkpoint rebuilt; the same without its answer."""
SIGNATURES = ("none", "valid", "older", "early", "other", "false", "garbage")
"""`valid` is over the last honest head, `older` over one after the forged record, `early` over one
before it; `other` is by another key over the ledger as it is, `false` the same under our name."""
HEADS = ("absent", "present", "ahead")
MANIFESTS = ("kept", "gone")

CODES = {"finished": 0, "interrupted": 130, "rolled-back": 3}
DAMAGED = 5
"""The exit code of every other word."""

# ledger, signature, head, manifest | weft verify without and with a key | the script likewise
TABLE = """
*            garbage      *              *     | damaged     damaged    | damaged   damaged
finished     *            ahead          *     | damaged     damaged    | damaged   damaged
finished     none         *              *     | finished    not-signed | finished  not-signed
finished     valid        *              *     | finished    finished   | finished  finished
finished     older,early  *              *     | finished    signed-to  | finished  signed-to
finished     other        *              *     | finished    not-signed | finished  not-signed
finished     false        *              *     | finished    damaged    | finished  damaged
interrupted  false        ahead          *     | rolled-back damaged    | damaged   damaged
interrupted  none,other   ahead          *     | rolled-back not-signed | damaged   damaged
interrupted  *            ahead          *     | rolled-back signed-to  | damaged   damaged
interrupted  false        *              *     | interrupted damaged    | unfinished damaged
interrupted  none,other   *              *     | interrupted not-signed | unfinished not-signed
interrupted  *            *              *     | interrupted signed-to  | unfinished signed-to
cut          valid        *              *     | damaged     damaged    | damaged   damaged
cut          false        present,ahead  *     | rolled-back damaged    | damaged   damaged
cut          none,other   present,ahead  *     | rolled-back not-signed | damaged   damaged
cut          older,early  present,ahead  *     | rolled-back signed-to  | damaged   damaged
cut          false        absent         kept  | damaged     damaged    | unfinished damaged
cut          none,other   absent         kept  | damaged     damaged    | unfinished not-signed
cut          older,early  absent         kept  | damaged     damaged    | unfinished signed-to
cut          false        absent         gone  | interrupted damaged    | unfinished damaged
cut          none,other   absent         gone  | interrupted not-signed | unfinished not-signed
cut          older,early  absent         gone  | interrupted signed-to  | unfinished signed-to
forged       valid,older  *              *     | damaged     damaged    | damaged   damaged
forged       *            present,ahead  *     | damaged     damaged    | damaged   damaged
forged       none,other   absent         kept  | damaged     damaged    | finished  not-signed
forged       early        absent         kept  | damaged     damaged    | finished  signed-to
forged       false        absent         kept  | damaged     damaged    | finished  damaged
forged       false        absent         gone  | finished    damaged    | finished  damaged
forged       none,other   absent         gone  | finished    not-signed | finished  not-signed
forged       early        absent         gone  | finished    signed-to  | finished  signed-to
forged-open  valid,older  *              *     | damaged     damaged    | damaged   damaged
forged-open  false        present,ahead  *     | rolled-back damaged    | damaged   damaged
forged-open  none,other   present,ahead  *     | rolled-back not-signed | damaged   damaged
forged-open  early        present,ahead  *     | rolled-back signed-to  | damaged   damaged
forged-open  none,other   absent         kept  | damaged     damaged    | unfinished not-signed
forged-open  early        absent         kept  | damaged     damaged    | unfinished signed-to
forged-open  false        absent         kept  | damaged     damaged    | unfinished damaged
forged-open  false        absent         gone  | interrupted damaged    | unfinished damaged
forged-open  none,other   absent         gone  | interrupted not-signed | unfinished not-signed
forged-open  early        absent         gone  | interrupted signed-to  | unfinished signed-to
"""


@dataclass(frozen=True)
class Row:
    """One row of the table: the cases it covers, and the expected words."""

    matches: tuple[str, ...]
    verify: tuple[str, ...]
    script: tuple[str, ...]

    def covers(self, case: tuple[str, ...]) -> bool:
        pairs = zip(self.matches, case, strict=True)
        return all(match == "*" or value in match.split(",") for match, value in pairs)


def rows() -> list[Row]:
    cells = [[part.split() for part in line.split("|")] for line in TABLE.strip().splitlines()]
    return [Row(tuple(case), tuple(words), tuple(script)) for case, words, script in cells]


def expected(case: tuple[str, ...]) -> Row:
    """The first row that covers the case, reading the table from the top."""
    return next(row for row in rows() if row.covers(case))


# -- the runs --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Honest:
    """The signed run as it was written, and its keys."""

    signed: SignedRun
    lines: list[bytes]
    origin: str

    def head(self, size: int) -> Checkpoint:
        return head_of(self.origin, self.lines[:size])


def head_of(origin: str, lines: list[bytes]) -> Checkpoint:
    root = merkle.root([merkle.leaf_hash(line.rstrip(b"\n")) for line in lines])
    return Checkpoint(origin, len(lines), root)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Honest:
    signed = write_keys(tmp_path_factory.mktemp("honest"))
    weft.run(mixed_steps(SHAPE), out=signed.run, sign_key=signed.sign_key)
    return Honest(signed, read_lines(signed.run), read_checkpoint(signed.run).origin)


def build(honest: Honest, ledger: str, manifest: str, run: Path) -> list[bytes]:
    """Create a run folder with this ledger and manifest; return the ledger's lines."""
    shutil.copytree(honest.signed.run, run)
    lines = honest.lines
    if ledger == "interrupted":
        unseal(run)  # before its last checkpoint, so its manifest has no head of the whole run
    if ledger in ("interrupted", "cut"):
        lines = lines[:-5]
    if ledger.startswith("forged"):
        lines = rewritten(lines, FORGED, lambda body: body.update(value=10**6))
    if ledger == "forged-open":
        lines = lines[:-1]
    put_ledger(run, b"".join(lines))
    put_checkpoint(run, lines)
    if manifest == "gone":
        RunFolder(run).manifest.unlink()
    return lines


def put_signature(honest: Honest, kind: str, ledger: str, run: Path, lines: list[bytes]) -> None:
    path = RunFolder(run).signature
    path.unlink(missing_ok=True)
    present = head_of(honest.origin, lines).to_text()
    last = len(lines) if ledger == "interrupted" else len(honest.lines)
    sizes = {"valid": last, "older": len(honest.lines) - 8, "early": FORGED}
    if kind in sizes:
        text = honest.head(sizes[kind]).to_text()
        path.write_text(sign_checkpoint(text, honest.origin, MINE))
    elif kind == "other":
        path.write_text(sign_checkpoint(present, honest.origin, OTHER))
    elif kind == "false":
        path.write_text(false_note(present, honest.origin))
    elif kind == "garbage":
        path.write_bytes(b"garbage\xff\n")


def false_note(text: str, origin: str) -> str:
    """A note that names our key but was signed with another."""
    note = sign_checkpoint(text, origin, OTHER)
    body, mark, encoded = note.rpartition(" ")
    signed = base64.b64decode(encoded)
    forged = key_hash(origin, MINE.public_key()) + signed[4:]
    return f"{body}{mark}{base64.b64encode(forged).decode()}\n"


def outside_head(honest: Honest, kind: str, ledger: str, size: int) -> list[tuple[int, bytes]]:
    """The head noted outside while the run was honest; `ahead` covers more than the ledger has."""
    if kind == "absent":
        return []
    if kind == "ahead" and ledger != "interrupted":
        return [(len(honest.lines) + 3, bytes(32))]
    last = size if (ledger, kind) == ("interrupted", "present") else len(honest.lines)
    return [(last, honest.head(last).root)]


def heads_list(folder: Path, run: Path, heads: list[tuple[int, bytes]]) -> HeadsList:
    listed = HeadsList(folder, Disk())
    for size, root in heads:
        home = RunLocation("here", str(run), 0, 0)
        listed.note(RunFolder(run).read_run_file().run_id, Head(size, root.hex(), 0, home))
    return listed


# -- the questions ---------------------------------------------------------------------------


def ask(run: Path, heads: HeadsList, key: Path | None) -> tuple[str, int]:
    """The word and exit code of `weft verify`."""
    try:
        word = verify(run, heads, public_key=key).status
    except SignatureMissing as error:
        return "-".join(error.message.split()[:2]).rstrip(":"), error.exit_code
    except RunRolledBack as error:
        return "rolled-back", error.exit_code
    except Damaged as error:
        return "damaged", error.exit_code
    return word, {"finished": 0, "interrupted": Interrupted.exit_code}[word]


def load_script() -> Any:
    spec = importlib.util.spec_from_file_location("verify_ledger", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ask_script(script: Any, run: Path, heads: list[tuple[int, bytes]], key: Path | None) -> str:
    words = [text for size, root in heads for text in (str(size), root.hex())]
    output, code = io.StringIO(), 0
    with contextlib.redirect_stdout(output):
        try:
            script.main([str(run), *words, *(["--public-key", str(key)] if key else [])])
        except SystemExit as ended:
            output.write(str(ended.code))
            code = 1
    text = output.getvalue()
    assert code == text.startswith("damaged: ")
    if code:
        starts = {"damaged: not signed": "not-signed", "damaged: signed to": "signed-to"}
        return next((word for start, word in starts.items() if text.startswith(start)), "damaged")
    assert (key is not None) == text.endswith(", signed\n")
    return text.split()[2].rstrip(",")


def variants(run: Path, copy: Path) -> Iterator[Path]:
    """The folder and a copy of it, each first read-only like a finished run, then writable."""
    shutil.copytree(run, copy)
    for path in (run, copy):
        yield path
        make_writable(path)
        yield path


@pytest.mark.parametrize("manifest", MANIFESTS)
@pytest.mark.parametrize("ledger", LEDGERS)
def test_every_witness_finds_what_it_can(
    honest: Honest, tmp_path: Path, ledger: str, manifest: str
) -> None:
    run, script = tmp_path / "run", load_script()
    lines = build(honest, ledger, manifest, run)
    keys = (None, honest.signed.public_key)
    for place, (signature, head) in itertools.product(
        variants(run, tmp_path / "copy"), itertools.product(SIGNATURES, HEADS)
    ):
        case = (ledger, signature, head, manifest)
        put_signature(honest, signature, ledger, place, lines)
        outside = outside_head(honest, head, ledger, len(lines))
        shutil.rmtree(tmp_path / "heads", ignore_errors=True)
        heads = heads_list(tmp_path / "heads", place, outside)
        row = expected(case)
        words = [(word, CODES.get(word, DAMAGED)) for word in row.verify]
        assert [ask(place, heads, key) for key in keys] == words, case
        if place == run:
            assert tuple(ask_script(script, place, outside, key) for key in keys) == row.script, (
                case
            )


def test_every_row_of_the_table_is_needed() -> None:
    cases = list(itertools.product(LEDGERS, SIGNATURES, HEADS, MANIFESTS))
    assert {expected(case) for case in cases} == set(rows())


def test_only_a_whole_signature_of_a_finished_ledger_gives_zero() -> None:
    for case in itertools.product(LEDGERS, SIGNATURES, HEADS, MANIFESTS):
        good = case[:2] == ("finished", "valid") and case[2] != "ahead"
        assert (expected(case).verify[1] == "finished") == good
        assert (expected(case).script[1] == "finished") == good
