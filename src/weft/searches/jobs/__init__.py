"""`weft jobs`: a list of scripts, run on the GPU and CPU slots of nodes, as a search.

    jobs file ─► Job ─► search: one round of commands ─► results: bytes of the run, by hash

`job` describes one job, `jobfile` reads the file, `plan` predicts where jobs run, `search` makes
the decisions, `results` works on the slot, `view` and `report` show a run.
"""
