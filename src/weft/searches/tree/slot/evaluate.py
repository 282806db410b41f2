"""Call an OpenEvolve evaluator: `python evaluate.py evaluator.py program.py`.

The evaluator needs no change: its `evaluate(program_path)` returns metrics or an EvaluationResult.
Without OpenEvolve, a stand-in for that class is enough to import the evaluator. Cascades
(`evaluate_stage1` …), with which OpenEvolve saves time, are not called.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any


@dataclass
class EvaluationResult:
    """What an evaluator may return instead of a dict of metrics."""

    metrics: dict[str, Any]
    artifacts: dict[str, Any] = field(default_factory=dict)


def main(evaluator: str, program: str) -> int:
    """Evaluate a program and write its result to the result file."""
    sys.path[0] = str(Path(evaluator).resolve().parent)  # as if the evaluator were the script
    if importlib.util.find_spec("openevolve") is None:
        _stand_in()
    returned = _load(Path(evaluator)).evaluate(str(Path(program).resolve()))
    result = asyncio.run(returned) if inspect.iscoroutine(returned) else returned
    metrics = getattr(result, "metrics", result)
    artifacts = getattr(result, "artifacts", None) or {}
    body = {
        "metrics": {str(name): _plain(value) for name, value in metrics.items()},
        "artifacts": {str(name): _text(value) for name, value in artifacts.items()},
    }
    where = os.environ["WEFT_RESULT_FILE"]  # noqa: TID251 - set by the slot
    Path(where).write_text(json.dumps(body), "utf-8")
    return 0


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("evaluator", path.resolve())
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["evaluator"] = module
    spec.loader.exec_module(module)
    return module


def _stand_in() -> None:
    package, module = ModuleType("openevolve"), ModuleType("openevolve.evaluation_result")
    module.EvaluationResult = EvaluationResult  # type: ignore[attr-defined]
    package.evaluation_result = module  # type: ignore[attr-defined]
    sys.modules |= {"openevolve": package, "openevolve.evaluation_result": module}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return float(value) if hasattr(value, "__float__") else str(value)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
