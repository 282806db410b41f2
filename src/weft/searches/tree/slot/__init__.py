"""What `weft tree` does on a slot: git work, ideas applied to files, the seal of the scorer.

It stands beside `weft.searches.tree` because a search only decides and may start no process; only what
runs in a worker, around a stage of an eval, calls it.
"""
