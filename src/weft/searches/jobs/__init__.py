"""`weft jobs`: a list of scripts, run on the GPU and CPU slots of nodes, as a search.

    jobs file ─► Job ─► search: one round of commands ─► results: bytes of the run, by hash

`job` is what is asked, `jobfile` reads it, `plan` says beforehand where it runs, `search` decides,
`results` works on the slot, `view` and `report` show how it went.
"""
