"""F14: fuzz one reader with bytes that atheris mutates, guided by the code they reach.

    python -m tests.faults.fuzzing READER CORPUS [libFuzzer options]

A reader may refuse an input (with our own errors about user input); any other exception ends the
fuzzer with the input that caused it. CORPUS is a folder with initial inputs.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

TOKEN = "the-token"
Reader = Callable[[bytes], object]


def in_file(name: str, read: Callable[[Path], object]) -> Reader:
    """Turn a reader of paths into one of bytes."""
    path = Path(tempfile.mkdtemp()) / name

    def reads(data: bytes) -> object:
        path.write_bytes(data)
        return read(path)

    return reads


def in_text(read: Callable[[str], object]) -> Reader:
    """Turn a reader of text into one of bytes."""
    return lambda data: read(data.decode("utf-8", "replace"))


def arc() -> Reader:
    from weft.searches.arc.data import load

    return in_file("task.json", load)


def arc_archive() -> Reader:
    from weft.searches.arc.data import load

    return in_file("tasks.zip", load)


ARC_FILES = ("x_challenges.json", "x_solutions.json", "training/a.json", "more/deep/b.json")
"""File names of a folder: a pair of the ARC Prize, a split, tasks at any depth."""
BETWEEN = b"\n%%\n"
"""Separates the files of one input."""


def arc_folder() -> Reader:
    from weft.searches.arc.data import load

    place = Path(tempfile.mkdtemp())

    def reads(data: bytes) -> object:
        shutil.rmtree(place)
        place.mkdir()
        for name, content in zip(ARC_FILES, data.split(BETWEEN), strict=False):
            if content:
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                (place / name).write_bytes(content)
        return load(place)

    return reads


def bank() -> Reader:
    from weft.searches.arc.bank import Bank

    return in_file("bank.json", Bank.read)


def checkpoint() -> Reader:
    from weft.ledger.checkpoint import parse_checkpoint

    return in_text(parse_checkpoint)


def config() -> Reader:
    from weft.searches.tree.configfile import read_config

    return in_file("tree.toml", lambda path: read_config(path, {}).to_config(dry_run=False))


def draws() -> Reader:
    from weft.searches.prng.history import read_history

    return lambda data: read_history(data, "draws")


def forms() -> Reader:
    """Draws of any form: the first byte chooses one, or leaves the reader to detect it."""
    from weft.searches.prng.guessing import guess_file
    from weft.searches.prng.intake import AUTO, RAW, READERS, read_draws, with_range

    names = [AUTO, *READERS, *RAW]

    def reads(data: bytes) -> object:
        guess_file(data[1:], "draws", None)
        form = names[data[0] % len(names)] if data else AUTO
        return with_range(read_draws(data[1:], "draws", form))

    return reads


def idea() -> Reader:
    from weft.searches.tree.ideas import read_folder

    return in_file("idea.md", lambda path: read_folder(path.parent, has_command=True))


def jobs(name: str) -> Reader:
    from weft.searches.jobs.jobfile import read_jobs

    return in_file(name, lambda path: read_jobs(path, 60.0))


def job_result() -> Reader:
    from weft.searches.jobs.jsonresult import Malformed, check_json, last_json

    def reads(path: Path) -> object:
        with contextlib.suppress(Malformed):
            check_json(path, 0, path.stat().st_size, "result.json")
        try:
            return last_json(path, scalars=True)
        except Malformed:
            return None

    return in_file("result.json", reads)


def note() -> Reader:
    """A signed head, or a file that should be a key."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from weft.signing import check_signed_note, load_public_key

    key = Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key()

    def reads(data: bytes) -> object:
        if data[:5] == b"-----":
            return load_key(data)
        return check_signed_note(data.decode("utf-8", "replace"), key)

    load_key = in_file("key.pem", load_public_key)
    return reads


def nodes(name: str) -> Reader:
    from weft.cluster.nodesfile import read_nodes

    return in_file(name, lambda path: read_nodes(path, anywhere=True))


def program() -> Reader:
    from weft.searches.arc.program import parse

    return in_text(parse)


def record() -> Reader:
    from weft.ledger.records import parse

    return parse


def run_file() -> Reader:
    from weft.storage.folder import RunFolder

    return in_file("run.toml", lambda path: RunFolder(path.parent).read_run_file())


def asked_over_http() -> Reader:
    """The live page: the bytes are a path, a query and a header, one per line."""
    from weft.inspect.serve.app import new_app
    from weft.inspect.serve.guard import Gate
    from weft.inspect.serve.rundirectory import RunDirectory
    from weft.inspect.serve.views import Views
    from weft.storage.disk import Disk
    from weft.storage.heads import HeadsList

    folder = Path(tempfile.mkdtemp())
    views = Views(HeadsList(folder / "heads", Disk()))
    app: Any = new_app(RunDirectory(folder), views, Gate(4242, TOKEN), lambda: True)

    def asks(data: bytes) -> None:
        path, query, header = (*data.split(b"\n", 2), b"", b"")[:3]
        headers = [(b"host", b"127.0.0.1:4242"), (b"cookie", b"weft-4242=" + TOKEN.encode())]
        name, _, value = header.partition(b":")
        headers += [(name.lower(), value)] if name else []
        scope = {
            "type": "http", "method": "GET", "path": "/" + path.decode("utf-8", "replace"),
            "query_string": query, "raw_path": b"/" + path, "root_path": "", "scheme": "http",
            "http_version": "1.1", "headers": headers, "server": ("127.0.0.1", 4242),
            "client": ("127.0.0.1", 1),
        }  # fmt: skip
        assert run_in_a_loop(_answer(app, scope)) in (200, 303, 400, 401, 403, 404)

    return asks


def run_in_a_loop(answer: Coroutine[Any, Any, int]) -> int:
    """Wait for an answer; the browser of other tests may run an event loop in this thread."""
    if asyncio._get_running_loop() is None:
        return asyncio.run(answer)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, answer).result()


READERS: dict[str, Callable[[], Reader]] = {
    "arc": arc, "arc-folder": arc_folder, "arc-zip": arc_archive, "bank": bank,
    "checkpoint": checkpoint, "config": config, "draws": draws, "forms": forms,
    "http": asked_over_http, "idea": idea, "job-result": job_result,
    "jobs": lambda: jobs("jobs.json"), "jobs-lines": lambda: jobs("jobs.jsonl"),
    "jobs-toml": lambda: jobs("jobs.toml"), "nodes": lambda: nodes("nodes.toml"),
    "nodes-classic": lambda: nodes("nodes.json"), "note": note, "program": program,
    "record": record, "run-file": run_file,
}  # fmt: skip
"""Every reader of foreign input; each imports only what it needs."""


async def _answer(app: Any, scope: dict[str, Any]) -> int:
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        statuses.append(message.get("status", 0))

    await app(scope, receive, send)
    return statuses[0] if statuses else 200


def main() -> None:
    """Feed the named reader."""
    import atheris

    with atheris.instrument_imports(include=["weft"]):
        from weft.errors import Damaged, InputError

        read = READERS[sys.argv[1]]()

        def feed(data: bytes) -> None:
            with contextlib.suppress(Damaged, InputError):  # refused, which is allowed
                read(data)

        for path in sorted(Path(sys.argv[2]).iterdir()):
            feed(path.read_bytes())  # modules imported at first use are instrumented too

    atheris.Setup([sys.argv[0], *sys.argv[2:]], feed)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
