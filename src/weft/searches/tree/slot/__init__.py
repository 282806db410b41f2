"""The work of `weft tree` on a slot: git, applying ideas to files, the seal of the scorer.

This is a separate package because a search only makes decisions and may not start processes; only
hooks, which run in a worker around a stage of an eval, call it.
"""
