"""Lazy modules: nothing is loaded before their first use, everything is there afterwards."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

from weft.lazy_imports import lazy_imports, lazy_module

BLOCK = """
import sys
from weft.lazy_imports import lazy_imports
with lazy_imports():
    from weft.console import nodeplan, steps as step_lines
    import wave
"""


def run_python(code: str) -> list[str]:
    """Run code in a new interpreter, since modules are loaded once; return its output lines."""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


IS_LOADED = "type(sys.modules['weft.console.nodeplan']).__name__"


def test_module_in_the_block_is_not_loaded_until_its_first_name_is_used() -> None:
    code = f"""{BLOCK}
print({IS_LOADED})
print(callable(nodeplan.spread))
print({IS_LOADED})
"""
    before, value, after = run_python(code)
    assert (before, after) == ("_WaitingModule", "module")
    assert value == "True"


def test_names_in_the_block_are_those_of_plain_imports() -> None:
    code = f"""{BLOCK}
import weft.console.steps
print(step_lines is weft.console.steps, nodeplan.__name__, "spread" in dir(nodeplan))
"""
    assert run_python(code) == ["True weft.console.nodeplan True"]


def test_only_modules_of_weft_wait_and_only_in_the_block() -> None:
    code = f"""{BLOCK}
import weft.console.groups, colorsys
names = ("wave", "colorsys", "weft.console", "weft.console.groups")
print([type(sys.modules[name]).__name__ for name in names])
"""
    assert run_python(code) == ["['module', 'module', 'module', 'module']"]


def test_missing_module_of_weft_is_refused_at_once() -> None:
    with pytest.raises(ImportError, match=r"weft\.nowhere"), lazy_imports():
        import weft.nowhere  # type: ignore[import-not-found]  # noqa: F401


def test_finders_are_as_before_when_an_import_in_the_block_fails() -> None:
    before = list(sys.meta_path)
    with pytest.raises(ImportError), lazy_imports():
        raise ImportError("as if")
    assert sys.meta_path == before


def test_module_of_an_extra_is_not_loaded_until_its_first_name_is_used() -> None:
    code = """
import sys
from weft.lazy_imports import lazy_module
wave = lazy_module("wave")
print("wave" in sys.modules)
print(wave.Error is sys.modules["wave"].Error)
"""
    assert run_python(code) == ["False", "True"]


def test_module_of_an_extra_that_is_missing_is_refused_at_its_first_use() -> None:
    module = lazy_module("weft_no_such_extra")
    assert isinstance(module, ModuleType)
    with pytest.raises(ImportError, match="weft_no_such_extra"):
        module.anything  # noqa: B018


def test_walking_over_all_modules_loads_none() -> None:
    """As inspect and hypothesis do; a module of a missing extra would raise an error."""
    code = f"""{BLOCK}
import inspect
for module in list(sys.modules.values()):
    hasattr(module, "__file__"), getattr(module, "__wrapped__", None), inspect.ismodule(module)
inspect.getmodule(inspect.currentframe())
print({IS_LOADED})
"""
    assert run_python(code) == ["_WaitingModule"]


def test_module_that_cannot_be_loaded_raises_at_each_use() -> None:
    code = """
import sys
from weft.lazy_imports import lazy_imports
sys.modules["rich"] = None
with lazy_imports():
    from weft.console import terminal
for _ in range(2):
    try:
        terminal.console
    except ImportError as error:
        print(type(error).__name__)
print(type(terminal).__name__)
"""
    assert run_python(code) == ["ModuleNotFoundError", "ModuleNotFoundError", "_WaitingModule"]


def test_two_threads_that_use_a_module_first_load_it_once() -> None:
    code = f"""{BLOCK}
import threading
results = []
barrier = threading.Barrier(8)
def use():
    barrier.wait()
    results.append(nodeplan.spread)
threads = [threading.Thread(target=use) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(len(results), len(set(map(id, results))))
"""
    assert run_python(code) == ["8 1"]
