"""Loaded by every Python process of a campaign; in workers it records each task execution.

One line per execution, appended in one write before the task's body runs. The coordinator
runs unchanged; workers forked from it record theirs too.
"""

import json
import os
import sys


def _note_executions():
    from weft.worker import execute

    run_in = execute.Executor.run_in
    if run_in.__name__ == "noted":
        return

    def noted(self, around, ticket, *rest):
        block = around.assignment
        index = block.index + ticket - block.ticket
        line = json.dumps([block.lane, block.round, index, os.getpid()])
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        file = os.open(os.environ["WEFT_FAULTS_EXECUTIONS"], flags, 0o644)
        os.write(file, line.encode() + b"\n")
        os.close(file)
        return run_in(self, around, ticket, *rest)

    execute.Executor.run_in = noted


if "WEFT_FAULTS_EXECUTIONS" in os.environ:
    if "weft.worker" in sys.orig_argv:
        _note_executions()
    else:
        os.register_at_fork(after_in_child=_note_executions)

if "weft.worker" in sys.orig_argv and "WEFT_FAULTS_LIE" in os.environ:
    import liar  # noqa: F401 - beside this file
