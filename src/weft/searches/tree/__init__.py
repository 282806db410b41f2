"""`weft tree`: beam search over the states of a repository.

    tree.toml ─► TreeConfig ─► search: rounds of stages ─► TreeHistory: nodes, evals, verdicts

`config` is the configuration and `configfile` reads it; `ideas` are what is tried and `propose`
has them made; `stages` describe tasks, `stageargs` and `results` are what they get and record,
`slot` works around their commands; `decide` and `rules` gate and rank; `search` yields the
rounds; `history` is what it decided, `load` rebuilds that from a run; `evals`, `summary` and
`report` show it, `export` writes its commits; `recordings` are what a new run takes over.
"""
