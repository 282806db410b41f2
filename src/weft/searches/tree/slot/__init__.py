"""What `weft tree` does on a slot: git work, ideas applied to files, the seal of the scorer.

It is a package of its own because a search only decides and may start no process; only what runs
in a worker, around a stage of an eval, calls it.
"""
