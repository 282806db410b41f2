"""The coordinator process of a campaign: `python driver.py FILE:SEARCH ARGS OUT WORKERS BACKEND`,
or `python driver.py --command OUT WORDS` for a command of weft that runs into OUT.

Prints the outcome as JSON; an error is one line on stderr and the exit code of its kind.
Hooks, by environment variable, all off by default:
    WEFT_FAULTS_CHECKPOINT_S   checkpoint more often than once a second, to reach more states
    WEFT_FAULTS_MARKS          file in which to mark each returned commit, to read traces by
    WEFT_FAULTS_NO_SYNC        nothing is synced to disk: campaigns must notice
    WEFT_FAULTS_HALF_WRITES    every write of ours takes half of its data
    WEFT_FAULTS_SIGNAL         file to wait for before the run, so that several begin at once
    WEFT_FAULTS_LIMIT          a resource and its limit, such as NOFILE=20, also for the workers
    WEFT_FAULTS_FILE_LIMIT     largest file in bytes: a real short write, then an error
    WEFT_FAULTS_MODULES        file to which the names of all modules loaded at the end go
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
from pathlib import Path


def main() -> int:
    if sys.argv[1] == "--command":
        return run_command(*sys.argv[2:])
    spec, args, out, workers, backend = sys.argv[1:]
    file, _, name = spec.rpartition(":")
    sys.path.insert(0, str(Path(file).parent))

    import weft

    install_hooks()
    wait_for_signal()
    search = getattr(importlib.import_module(Path(file).stem), name)
    try:
        call = search(**json.loads(args))
        run = weft.run(call, out=out, workers=int(workers), backend=backend, quiet=True)
    except (weft.WeftError, weft.Interrupted) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return error.exit_code
    text = json.dumps(run.to_dict()) + "\n"
    os.writev(1, [text.encode()])  # a call that no campaign makes fail
    list_modules()
    return 0


def run_command(out: str, *words: str) -> int:
    """Run a command of weft; hide what it prints, and print its head as JSON."""
    from weft.worker.environment import use_one_thread

    use_one_thread()  # as the command does, before anything loads NumPy
    from weft.main import _exit_code

    wait_for_signal()
    install_hooks()
    stdout, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    code = _exit_code(list(words))
    if code == 0:
        print_head(out, stdout)
    list_modules()
    return code


def print_head(out: str, stdout: int) -> None:
    """Print the head of the run from a child process, which no campaign traces, so no read fails.

    If no child process can be started, print it from this process: then reads do not fail.
    """
    import weft

    try:
        pid = os.fork()
    except OSError:
        pid = None
    if not pid:
        os.writev(stdout, [json.dumps({"head": weft.load(out).head}).encode()])
    if pid == 0:
        os._exit(0)
    if pid:
        os.waitpid(pid, 0)


def install_hooks() -> None:
    from weft.storage import ledgerwriter

    hook = os.environ.get
    if seconds := hook("WEFT_FAULTS_CHECKPOINT_S"):
        ledgerwriter.CHECKPOINT_EVERY_S = float(seconds)
    if hook("WEFT_FAULTS_NO_SYNC"):
        _never_sync()
    if marks := hook("WEFT_FAULTS_MARKS"):
        _mark_commits(marks)
    if hook("WEFT_FAULTS_HALF_WRITES"):
        write = os.write
        os.write = lambda fd, data: write(fd, data[: (len(data) + 1) // 2])
    if limit := hook("WEFT_FAULTS_FILE_LIMIT"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    if limit := hook("WEFT_FAULTS_LIMIT"):
        kind, _, count = limit.partition("=")
        resource.setrlimit(getattr(resource, f"RLIMIT_{kind}"), (int(count), int(count)))


def list_modules() -> None:
    if modules := os.environ.get("WEFT_FAULTS_MODULES"):
        Path(modules).write_text(json.dumps(list(sys.modules)), "utf-8")


def wait_for_signal() -> None:
    import weft.runs.run  # noqa: F401 - slow, and not what should be raced

    signal = os.environ.get("WEFT_FAULTS_SIGNAL")
    end_s = time.monotonic() + 600
    while signal and not Path(signal).exists():
        if time.monotonic() > end_s:
            raise TimeoutError(signal)


def _mark_commits(path: str) -> None:
    from weft.storage.disk import Disk

    commit = Disk.commit
    marks = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def commit_and_mark(self, connection):
        commit(self, connection)
        os.write(marks, b"committed\n")

    Disk.commit = commit_and_mark


def _never_sync() -> None:
    import sqlite3

    os.fsync = os.fdatasync = lambda fd: None
    connect = sqlite3.connect

    def connect_carelessly(*args, **kwargs):
        return connect(*args, factory=Careless, **kwargs)

    class Careless(sqlite3.Connection):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            super().execute("PRAGMA synchronous=OFF")

        def execute(self, sql, *rest):
            sql = sql.replace("synchronous=FULL", "synchronous=OFF")
            return super().execute(sql, *rest)

    sqlite3.connect = connect_carelessly


if __name__ == "__main__":
    sys.exit(main())
