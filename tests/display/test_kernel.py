"""A real kernel, driven as a notebook drives it.

Progress is one output that is updated in place and empty at the end; an interrupt is a line.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.manager import KernelManager

LIMIT_S = 90


class Notebook:
    """A kernel in the script's folder, and the messages that its cells send."""

    def __init__(self, place: Path, environment: dict[str, str]) -> None:
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel(
            cwd=str(place), env={**environment, "IPYTHONDIR": str(place / "ipython")}
        )
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=LIMIT_S)

    def messages(self, code: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Run a cell; yield its messages until it is idle."""
        request = self.client.execute(code)
        while True:
            message = self.client.get_iopub_msg(timeout=LIMIT_S)
            if message["parent_header"].get("msg_id") != request:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                return
            if kind not in ("status", "execute_input"):
                yield kind, content

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture
def notebook(place: Path, environment: dict[str, str]) -> Iterator[Notebook]:
    notebook = Notebook(place, environment)
    yield notebook
    notebook.close()


def test_kernel_shows_progress_and_an_interrupt_is_one_line(
    notebook: Notebook, place: Path
) -> None:
    run = "import weft, napping; {}weft.run(napping.naps(8), out='run', workers=2).answer"
    displayed: list[dict[str, str]] = []
    errors: list[dict[str, Any]] = []
    for kind, content in notebook.messages(run.format("")):
        if kind == "error":
            errors.append(content)
            continue
        assert kind in ("display_data", "update_display_data")
        displayed.append(content["data"])
        if "5/8 naps" in content["data"]["text/plain"]:
            notebook.manager.interrupt_kernel()
    assert '<progress value="5" max="8"' in "".join(data["text/html"] for data in displayed)
    assert displayed[-1] == {"text/plain": "", "text/html": ""}
    [error] = errors
    assert error["ename"] == "Interrupted"
    [line] = error["traceback"]
    assert line == "weft: interrupted after 5 tasks; no completed task is lost; weft resume run"
    (place / "hold").unlink()
    sent = list(notebook.messages(run.format("")))
    assert sent[-1][1]["data"]["text/plain"] == "8"


def test_run_in_a_script_does_not_import_ipython(place: Path, environment: dict[str, str]) -> None:
    (place / "hold").unlink()
    code = (
        "import sys, napping; napping.main(3, 'run', '');"
        "print([name for name in sys.modules if 'IPython' in name or name == 'rich'])"
    )
    words = [sys.executable, "-c", code]
    result = subprocess.run(words, cwd=place, env=environment, capture_output=True, text=True)
    assert result.stdout.splitlines()[-1] == "[]", result.stderr
