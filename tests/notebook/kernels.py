"""A Jupyter kernel for tests: runs cells and returns their output; it can be killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

from tests.support.waiting import HANG_S


class Kernel:
    """A kernel that executes cells one by one."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self._manager, self._client = manager, client

    def run(self, cell: str) -> str:
        """Execute a cell; return its output and value, or the last line of its error."""
        output: list[str] = []

        def hook(message: dict[str, dict[str, Any]]) -> None:
            content = message["content"]
            if message["header"]["msg_type"] == "stream" and content["name"] == "stdout":
                output.append(content["text"])
            elif message["header"]["msg_type"] == "execute_result":
                output.append(content["data"]["text/plain"])
            elif message["header"]["msg_type"] == "error":
                output.append(f"{content['ename']}: {content['evalue']}\n")

        self._client.execute_interactive(cell, output_hook=hook, timeout=HANG_S, allow_stdin=False)
        return "".join(output).strip()

    def start(self, cell: str) -> None:
        """Start executing a cell without waiting for it."""
        self._client.execute(cell)

    def kill(self) -> None:
        """Kill the kernel, as a power failure would."""
        provisioner = self._manager.provisioner
        assert provisioner is not None
        pid = getattr(provisioner, "pid", None)
        assert isinstance(pid, int)
        os.kill(pid, signal.SIGKILL)


@contextmanager
def kernel(folder: Path) -> Iterator[Kernel]:
    """Run a kernel whose current folder is `folder`."""
    env = {**os.environ, "JUPYTER_PLATFORM_DIRS": "1", "IPYTHONDIR": str(folder / ".ipython")}
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(folder), env=env)
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=HANG_S)
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()
