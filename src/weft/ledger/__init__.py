"""The ledger's format as pure functions: record lines, hash chain, Merkle tree, checkpoint.

Knows bytes and hashes only: no files, no clock, no manifest. Data flow:
`records` (one line) -> `chain` (lines in order) -> `merkle` (the root) -> `checkpoint` (the head).
docs/ledger-format.md describes the format for independent readers.
"""
