"""Rows to write to a manifest, and queries to read them."""

from __future__ import annotations

from weft.storage.rows import BlockOrigin, ValueBlock

GENESIS = '{"search":"m:s"}'


def queue(manifest, row, count):
    manifest.queue([(row.first + i, f"k{i}", "m:f", "{}", 1.0) for i in range(count)])


def digest_of(manifest, index, state, value, error):
    return manifest.digests.of(state, f"k{index}", "m:f", "{}", value, error)


def states(manifest):
    return [state for (state,) in manifest.query("SELECT state FROM tasks ORDER BY id")]


def block_of(function, first, rows):
    """A block of completed tasks; each row is key, args, value."""
    origin = BlockOrigin(function, 1, 1.0, None, None, None, None)
    return ValueBlock(origin, first, *zip(*rows, strict=True), 1.0, [1] * len(rows))
