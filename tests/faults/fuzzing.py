"""F14: one reader, fed with bytes that atheris changes as it sees which code they reach.

    python -m tests.faults.fuzzing READER CORPUS [libFuzzer options]

A reader may refuse (our own errors of the user's kind); anything else it raises ends the fuzzer
with the input that did it. CORPUS is a folder with inputs to begin with.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

TOKEN = "the-token"


def in_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes], object]:
    """A reader of paths as one of bytes."""
    path = Path(tempfile.mkdtemp()) / name

    def reads(data: bytes) -> object:
        path.write_bytes(data)
        return read(path)

    return reads


def readers() -> dict[str, Callable[[bytes], object]]:
    """Everything that reads what others wrote."""
    from weft.cluster.nodesfile import read_nodes
    from weft.ledger.checkpoint import parse_checkpoint
    from weft.ledger.records import parse as parse_record
    from weft.searches.arc.bank import Bank
    from weft.searches.arc.data import load
    from weft.searches.arc.program import parse as parse_program
    from weft.searches.jobs.jobfile import read_jobs
    from weft.searches.prng.history import read_history
    from weft.searches.tree.configfile import read_config
    from weft.searches.tree.ideas import read_folder
    from weft.storage.folder import RunFolder

    def text(read: Callable[[str], object]) -> Callable[[bytes], object]:
        return lambda data: read(data.decode("utf-8", "replace"))

    return {
        "arc": in_file("task.json", load),
        "bank": in_file("bank.json", Bank.read),
        "checkpoint": text(parse_checkpoint),
        "config": in_file("tree.toml", lambda path: read_config(path, {}).to_config(dry_run=False)),
        "draws": lambda data: read_history(data, "draws"),
        "http": asked_over_http(),
        "idea": in_file("idea.md", lambda path: read_folder(path.parent, has_command=True)),
        "jobs": in_file("jobs.json", lambda path: read_jobs(path, 60.0)),
        "nodes": in_file("nodes.toml", lambda path: read_nodes(path, anywhere=True)),
        "nodes-classic": in_file("nodes.json", lambda path: read_nodes(path, anywhere=True)),
        "program": text(parse_program),
        "record": parse_record,
        "run-file": in_file("run.toml", lambda path: RunFolder(path.parent).read_run_file()),
    }


def asked_over_http() -> Callable[[bytes], object]:
    """The live page: bytes are a path, a query and a header, a line each."""
    from weft.inspect.serve.app import new_app
    from weft.inspect.serve.guard import Gate
    from weft.inspect.serve.rundirectory import RunDirectory
    from weft.inspect.serve.views import Views
    from weft.storage.disk import Disk
    from weft.storage.heads import HeadsList

    shelf = Path(tempfile.mkdtemp())
    views = Views(HeadsList(shelf / "heads", Disk()))
    app: Any = new_app(RunDirectory(shelf), views, Gate(4242, TOKEN), lambda: True)

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
        assert asyncio.run(_answer(app, scope)) in (200, 303, 400, 401, 403, 404)

    return asks


async def _answer(app: Any, scope: dict[str, Any]) -> int:
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        statuses.append(message.get("status", 0))

    await app(scope, receive, send)
    return statuses[0] if statuses else 200


def main() -> None:
    """Feed the reader that was named."""
    import atheris

    with atheris.instrument_imports(include=["weft"]):
        from weft.errors import Damaged, InputError

        read = readers()[sys.argv[1]]

    def feed(data: bytes) -> None:
        try:
            read(data)
        except (Damaged, InputError):
            return  # refused, as it may

    atheris.Setup([sys.argv[0], *sys.argv[2:]], feed)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
