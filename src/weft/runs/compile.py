"""Runs the compilers of a search's kernels before its workers start, several at a time."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from weft.cluster import host
from weft.errors import WorldError


def compile_all(commands: Sequence[Sequence[str]]) -> None:
    """Run compilers, as many at a time as there are cores; none outlives an interruption."""
    started: list[subprocess.Popen[str]] = []
    with ThreadPoolExecutor(host.cpu_count()) as pool:
        try:
            for _ in pool.map(lambda argv: _compile(argv, started), commands):
                pass
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in started:
                process.kill()
            raise


def _compile(argv: Sequence[str], started: list[subprocess.Popen[str]]) -> None:
    """Compile one part in a separate process: numba compiles one thing at a time."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        argv, stdout=pipe, stderr=pipe, text=True, env=host.worker_environment()
    ) as process:
        started.append(process)
        _, errors = process.communicate()
    if process.returncode:
        last = (errors.strip().splitlines() or ["no message"])[-1]
        raise WorldError(f"the kernels cannot be compiled: {last[:300]}", hint="weft doctor")
