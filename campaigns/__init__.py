"""Fault campaigns as one Weft search: `python -m campaigns`, or `make chaos`."""
