"""Every test of workers gets a laboratory of its own; its runs fork their workers."""

from __future__ import annotations

from tests.support.quickruns import quick_runs, started_workers, worker_server
from tests.workers.lab import lab

__all__ = ["lab", "quick_runs", "started_workers", "worker_server"]
