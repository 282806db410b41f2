"""F14: coverage-guided fuzzers, one per reader, each for a stated time.

They continue from what earlier runs found here (`build/fuzzing`) and from the stored corpus
(`tests/faults/corpus`); `make test` feeds that corpus to the readers.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.faults.corpus import FOUND, stored
from tests.faults.fuzzing import READERS
from tests.searches.tree.conftest import CONFIG
from tests.support.figures import print_figures
from tests.test_guide import ROOT
from weft.errors import Damaged, InputError
from weft.ledger.records import render
from weft.signing import sign_checkpoint

SEED = 20261115
FUZZED_S = 40
"""Fuzzing time per reader."""
TASK = {"train": [{"input": [[0, 1]], "output": [[1, 0]]}], "test": [{"input": [[2, 3]]}]}
JOB = {"job_id": "a", "argv": ["sh", "-c", "true"], "timeout_s": 5, "expected_output": "x.json"}
SIGNER = Ed25519PrivateKey.from_private_bytes(bytes(32))
HEAD = f"weft/loom:loom\n3\n{'A' * 43}=\n"
PUBLIC_KEY = SIGNER.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
DEALS = "AS KH 2D 3C 4C\n5C TS JD QH 9S\n8S 7S 6D 5D 4D\n2H 3H 4H 9C TC\nJS QS KS AH 2S\n"
TABLE = "id;value\n" + "".join(f"{n};{n * 37 % 101}\n" for n in range(6))
ROWS = "".join(f"{n} {n * 7 % 50} {n * 11 % 50}\n" for n in range(1, 7))
HEX = "\n".join(f"{number * 2654435761 % 2**32:08x}" for number in range(8))
BASE64 = "\n".join(["q83vEjRWeJA=", "ASNFZ4mrze8=", "/ty6mHZUMhA=", "EjRWeJCrze8=", "mHZUMhD+3Lo="])
UUIDS = "\n".join(f"{number:08x}-1234-4abc-8def-0123456789ab" for number in range(6))


def zipped(name: str) -> bytes:
    """An archive with one task."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(zipfile.ZipInfo(name), json.dumps(TASK))
    return archive.getvalue()


BEGINNINGS: dict[str, list[str | bytes]] = {
    "arc": [json.dumps(TASK), json.dumps({"007bbfb7": TASK})],
    "arc-folder": [
        f'{{"a": {json.dumps(TASK)}}}\n%%\n{{"a": [[[3, 2]]]}}',
        f"\n%%\n\n%%\n\n%%\n{json.dumps(TASK)}",
    ],
    "arc-zip": [zipped("a.json"), zipped("x/training/b.json")],
    "bank": ['{"schema_version":1,"concepts":[]}'],
    "checkpoint": [HEAD],
    "config": [CONFIG],
    "draws": ["draw,time,session\n1,,a\n2,,b\n", "[1,2,3]", '[{"draw":1,"session":"x"}]', "1\n2\n"],
    "http": ["run/x/tasks\norder=place&page=0\norigin: http://127.0.0.1:4242", "static/kit.js", ""],
    "idea": ["FILE: a\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n", "--- a/x\n+++ b/x\n"],
    "forms": [
        *(f"\0{text}" for text in (HEX, BASE64, UUIDS, DEALS, ROWS)),
        f"\1{TABLE}",
        b"\0" + gzip.compress(b"1\n2\n3\n", mtime=0),
    ],
    "job-result": ['progress 1\n{"a": 1.5}\n', "[1, 2]\n", '{\n "a": [true]\n}\n', "7"],
    "jobs-lines": [f"{json.dumps(JOB)}\n\n"],
    "jobs-toml": ['[[jobs]]\njob_id = "a"\nargv = ["true"]\ntimeout_s = 5\n'],
    "note": [sign_checkpoint(HEAD, "k", SIGNER), PUBLIC_KEY],
    "jobs": [json.dumps([JOB]), json.dumps({"jobs": [JOB]})],
    "nodes": ['[[nodes]]\nhostname = "a"\ngpu_count = 2\ncpu_count = 1\nmax_concurrent = 1\n'],
    "nodes-classic": ['{"nodes":[{"hostname":"a","gpu_count":2}]}'],
    "program": ["a = mirror_rows(I)\nreturn rotate_180(a)\n"],
    "record": [render(3, "0" * 64, "round", "1" * 64, '{"lane":"","round":0}').decode()],
    "run-file": [
        'schema_version = 1\nrun_id = "x"\nsearch = "a:b"\nsearch_path = ""\n'
        "[sources]\n[imports]\n[execution]\ntags = []\n"
    ],
}


def as_bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


@pytest.mark.slow
@pytest.mark.parametrize("reader", sorted(BEGINNINGS))
def test_reader_fed_with_anything_reads_or_refuses(reader: str, tmp_path: Path) -> None:
    corpus = FOUND / reader
    corpus.mkdir(parents=True, exist_ok=True)
    inputs = [*map(as_bytes, BEGINNINGS[reader]), *stored(reader)]
    for number, data in enumerate(inputs):
        (corpus / f"start-{number}").write_bytes(data)
    limits = [f"-max_total_time={FUZZED_S}", f"-seed={SEED}", "-max_len=4096", "-timeout=20"]
    words = [sys.executable, "-m", "tests.faults.fuzzing", reader, str(corpus), *limits]
    result = subprocess.run(
        [*words, "-rss_limit_mb=2048", f"-artifact_prefix={tmp_path}/"],
        cwd=ROOT, env={**os.environ, "TMPDIR": str(tmp_path)}, capture_output=True, text=True,
        errors="replace",
    )  # fmt: skip
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-2000:]
    ended = re.search(r"Done (\d+) runs", result.stderr)
    assert ended, result.stderr[-2000:]
    print_figures(f"F14 {reader}", inputs=int(ended[1]), fuzzed_seconds=FUZZED_S, seed=SEED,
                  readers=1, kept=len(list(corpus.iterdir())), violations=0)  # fmt: skip


@pytest.mark.slow
def test_fuzzer_finds_a_planted_crash(tmp_path: Path) -> None:
    """A reader that fails on one byte is found within a few thousand inputs."""
    planted = "import atheris\nwith atheris.instrument_imports(include=['weft']):\n"
    planted += "    import weft.searches.prng.history as h\nold = h.read_history\n"
    planted += "@atheris.instrument_func\n"
    planted += "def trips(data, where):\n    if data[:1] == b'[' and b'7' in data: return 1 // 0\n"
    planted += "    return old(data, where)\nh.read_history = trips\n"
    planted += "from tests.faults.fuzzing import main\nmain()\n"
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "one").write_text("[1,2]")
    words = ["draws", str(tmp_path / "corpus"), "-runs=200000", f"-artifact_prefix={tmp_path}/"]
    result = subprocess.run(
        [sys.executable, "-c", planted, *words], cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode != 0
    assert "ZeroDivisionError" in result.stdout + result.stderr


@pytest.mark.parametrize("reader", sorted(BEGINNINGS))
def test_reader_fed_with_the_corpus_reads_or_refuses(
    reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    read, inputs = READERS[reader](), stored(reader)
    assert inputs, "python -m tests.faults.corpus keeps what fuzzers found"
    for data in inputs:
        with contextlib.suppress(Damaged, InputError):  # refused, which is allowed
            read(data)


def test_every_reader_has_beginnings_that_it_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fuzzer makes little progress from an input that is refused at once."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert sorted(READERS) == sorted(BEGINNINGS)
    for reader, texts in BEGINNINGS.items():
        read = READERS[reader]()
        for text in texts:
            read(as_bytes(text))
