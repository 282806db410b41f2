"""What a run stores on disk: manifest, ledger file, objects, run.toml, heads list.

Durability order (each later item may lag an earlier one, never lead it):
objects fsynced → manifest COMMIT → ledger fdatasync → checkpoint → heads list.
"""
