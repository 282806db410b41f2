"""GPUs are detected without calling CUDA, tested by a stand-in for NVIDIA's library."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.tools import require_tool
from weft.model.slots import CUDA_DEVICES
from weft.searches.prng import devices
from weft.searches.prng.kernels import cuda

STAND_IN = """
int nvmlInit_v2(void) { return INIT; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = GPUS; return COUNTED; }
int nvmlShutdown(void) { return 0; }
"""
UNKNOWN_ERROR = 999


def built(folder: Path, gpus: int, init: int = 0, counted: int = 0) -> str:
    """Build the stand-in, with its number of GPUs and the status of its calls; return its path."""
    library = folder / devices.NVML
    argv = [require_tool("gcc"), "-x", "c", "-shared", "-fPIC", "-o", str(library), "-"]
    defined = [f"-DINIT={init}", f"-DGPUS={gpus}", f"-DCOUNTED={counted}"]
    subprocess.run([*argv, *defined], input=STAND_IN, text=True, check=True)
    return str(library)


@pytest.mark.parametrize(
    ("gpus", "init", "counted", "reported"),
    [(0, 0, 0, 0), (2, 0, 0, 2), (2, UNKNOWN_ERROR, 0, 0), (2, 0, UNKNOWN_ERROR, 0)],
)
def test_driver_gpus_are_those_it_reports_without_an_error(
    tmp_path: Path, gpus: int, init: int, counted: int, reported: int
) -> None:
    assert devices.driver_gpus(built(tmp_path, gpus, init, counted)) == reported


def test_driver_that_is_not_installed_reports_none(tmp_path: Path) -> None:
    assert devices.driver_gpus(str(tmp_path / "none.so")) == 0


@pytest.mark.parametrize(("visible", "expected"), [(None, "True False"), ("", "False True")])
def test_command_asks_cupy_only_where_the_driver_cannot_answer(
    tmp_path: Path, visible: str | None, expected: str
) -> None:
    built(tmp_path, gpus=1)
    (tmp_path / "cupy.py").write_text("raise ImportError('its libraries are missing')")
    code = (
        "import sys; from weft.searches.prng.devices import has_gpu; usable = has_gpu();"
        "print(usable, 'numpy' in sys.modules)"
    )
    around = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path), "PYTHONPATH": str(tmp_path)}
    around.pop(CUDA_DEVICES, None)
    around |= {} if visible is None else {CUDA_DEVICES: visible}
    argv = [sys.executable, "-c", code]
    result = subprocess.run(argv, check=True, capture_output=True, text=True, env=around)
    assert result.stdout.strip() == expected


def test_no_gpu_is_used_without_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "find_spec", lambda _: None)
    monkeypatch.setattr(cuda, "is_available", lambda: pytest.fail("CuPy is not installed"))
    assert not devices.has_gpu()
