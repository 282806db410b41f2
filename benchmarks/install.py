"""Measure what `pip install weft` installs and costs, without extras, in a fresh environment.

python -m benchmarks install

Targets: ≤ 60 MB installed, `import weft` < 150 ms, `weft --help` < 250 ms. pip uses its configured
package index; seconds depend on that and on its cache.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from benchmarks.machine import describe

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "benchmarks"
STARTS = 21


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder))
    page = render(figures)
    (PAGES / "install.json").write_text(json.dumps(figures, indent=2) + "\n")
    (PAGES / "install.md").write_text(page)
    print(page)


def measure(folder: Path) -> dict[str, object]:
    machine = describe()
    wheel = build_wheel(folder / "dist")
    venv.create(folder / "environment", with_pip=True)
    [packages] = (folder / "environment").glob("lib/python3.*/site-packages")
    python = folder / "environment" / "bin" / "python"
    before_bytes, before = installed_bytes(packages), distributions(packages)
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    start_s = time.perf_counter()
    subprocess.run([*pip, wheel, "-c", ROOT / "constraints.txt"], check=True)
    seconds = time.perf_counter() - start_s
    added = sorted(distributions(packages) - before)
    return {
        "machine": machine,
        "wheel_mb": wheel.stat().st_size / 1e6,
        "installed_mb": (installed_bytes(packages) - before_bytes) / 1e6,
        "packages": added,
        "install_s": seconds,
        "import": start_ms([python, "-c", "import weft"]),
        "help": start_ms([python.with_name("weft"), "--help"]),
        "bare_python": start_ms([python, "-c", "pass"]),
    }


def build_wheel(out: Path) -> Path:
    argv = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", out, ROOT]
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    [wheel] = out.glob("weft-*.whl")
    return wheel


def installed_bytes(packages: Path) -> int:
    """Return the total size of all files, including bytecode."""
    return sum(path.stat().st_size for path in packages.rglob("*") if path.is_file())


def distributions(packages: Path) -> set[str]:
    return {path.name.partition("-")[0] for path in packages.glob("*.dist-info")}


def start_ms(argv: list[str | Path]) -> dict[str, float]:
    """Return the best of several warm starts, without the first: other load only slows them."""
    wall_ms, cpu_ms = [], []
    for _ in range(STARTS):
        start_s = time.perf_counter()
        started = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(started.pid, 0)
        assert status == 0, argv
        wall_ms.append(1000 * (time.perf_counter() - start_s))
        cpu_ms.append(1000 * (used.ru_utime + used.ru_stime))
    return {"wall_ms": min(wall_ms[1:]), "cpu_ms": min(cpu_ms[1:])}


def start_text(start: object) -> str:
    times: dict[str, float] = start  # type: ignore[assignment]
    return f"{times['wall_ms']:.0f} ({times['cpu_ms']:.0f} of CPU time)"


def render(figures: dict[str, object]) -> str:
    packages: list[str] = figures["packages"]  # type: ignore[assignment]
    rows = [
        ("installed, MB", f"{figures['installed_mb']:.0f}", "≤ 60"),
        ("of these the wheel of Weft, packed, MB", f"{figures['wheel_mb']:.1f}", ""),
        ("packages", str(len(packages)), ""),
        ("`pip install`, s", f"{figures['install_s']:.1f}", ""),
        ("`import weft`, ms", start_text(figures["import"]), "< 150"),
        ("`weft --help`, ms", start_text(figures["help"]), "< 250"),
        ("(python that does nothing, ms)", start_text(figures["bare_python"]), ""),
    ]
    lines = [
        "# A small install",
        "",
        f"`python -m benchmarks install` on {figures['machine']}:",
        "the wheel without extras, installed with pip into a fresh environment. Starts are the",
        f"best of {STARTS - 1}; on a busy machine compare their CPU times.",
        "",
        "| figure | measured | target |",
        "|---|---|---|",
        *(f"| {name} | {value} | {target} |" for name, value, target in rows),
        "",
        f"Installed: {', '.join(packages)}.",
    ]
    return "\n".join(lines) + "\n"
