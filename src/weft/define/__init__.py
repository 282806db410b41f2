"""How users declare tasks and searches: `@weft.task`, `@weft.search`, `weft.command`.

    names ◄─ functions ◄─ tasks, commands, searches

A task is known by the name it declares, or by its import path `module:function`; calling it in
a search only describes the call.
"""

from weft.define.commands import Reference, command, hook, is_literal, reference
from weft.define.names import described, import_name
from weft.define.searches import INPUTS, search
from weft.define.tasks import SEED, Task, declared_types, task

__all__ = [
    "INPUTS", "SEED", "Reference", "Task", "command", "declared_types", "described", "hook",
    "import_name", "is_literal", "reference", "search", "task",
]  # fmt: skip
