"""The attack of a forger who keeps an old signature is found by verify and on resume."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.inspect.runs import (
    NO_HEADS,
    copy_of,
    make_writable,
    put_checkpoint,
    put_ledger,
    read_lines,
    rewritten,
)
from tests.inspect.signed import SignedRun, signed_loom
from weft.errors import LedgerDamaged
from weft.inspect.verify import verify
from weft.storage.folder import RunFolder


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> SignedRun:
    return signed_loom(tmp_path_factory.mktemp("signed"))


def forge(run: Path) -> None:
    """Change a result, drop the answer line, rechain, rewrite the checkpoint."""
    lines = rewritten(read_lines(run), 2, lambda body: body["value"].update(height=0))[:-1]
    _replace(run, lines)


def cut(run: Path) -> None:
    """Drop the last records at a record boundary, and rewrite the checkpoint."""
    _replace(run, read_lines(run)[:4])


def _replace(run: Path, lines: list[bytes]) -> None:
    put_ledger(run, b"".join(lines))
    put_checkpoint(run, lines, sealed=False)
    make_writable(run)
    RunFolder(run).manifest.unlink()


@pytest.mark.parametrize("attack", [forge, cut])
def test_forged_or_cut_ledger_with_the_old_signature_is_damaged(
    signed: SignedRun, tmp_path: Path, attack: Callable[[Path], None]
) -> None:
    run = copy_of(signed.run, tmp_path / "run")
    assert verify(run, NO_HEADS, public_key=signed.public_key).status == "finished"
    attack(run)
    for key in (signed.public_key, None):
        with pytest.raises(LedgerDamaged, match=r"checkpoint\.sig"):
            verify(run, NO_HEADS, public_key=key)
