"""The worker process: `python -m weft.worker`, one task at a time over a socket."""
