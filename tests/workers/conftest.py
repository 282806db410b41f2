"""Every test of workers gets a laboratory of its own."""

from __future__ import annotations

from tests.workers.lab import lab

__all__ = ["lab"]
