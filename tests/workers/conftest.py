"""Every test of workers gets its own lab."""

from __future__ import annotations

from tests.workers.lab import lab

__all__ = ["lab"]
