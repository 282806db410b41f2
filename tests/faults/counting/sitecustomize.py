"""Loaded by every Python process of a campaign; in workers it notes each task execution.

One line per execution, appended in one write, before the task's body runs. The coordinator
runs unchanged.
"""

import json
import os
import sys

if "weft.worker" in sys.orig_argv and "WEFT_FAULTS_EXECUTIONS" in os.environ:
    from weft.worker import execute

    _run = execute.Executor.run

    def _noted(self, assignment, *rest):
        line = json.dumps([assignment.lane, assignment.round, assignment.index, os.getpid()])
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        file = os.open(os.environ["WEFT_FAULTS_EXECUTIONS"], flags, 0o644)
        os.write(file, line.encode() + b"\n")
        os.close(file)
        return _run(self, assignment, *rest)

    execute.Executor.run = _noted
