"""Loaded by every Python process of a test: workers on the slot of GPU 0 are sick.

WEFT_TRIAL_SICK says how: they die while starting (`start-kill`, `start-exit`), or are killed,
as if from outside, whenever a task begins (`task-kill`).
"""

import os
import signal
import sys

how = os.environ.get("WEFT_TRIAL_SICK")
if how and "weft.worker" in sys.orig_argv and os.environ.get("CUDA_VISIBLE_DEVICES") == "0":
    if how == "start-kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "start-exit":
        os._exit(1)
    from weft.worker import execute

    execute.Executor.run_in = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
