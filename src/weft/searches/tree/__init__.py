"""`weft tree`: beam search over the states of a repository.

    tree.toml ─► TreeConfig ─► search: rounds of stages ─► TreeHistory: nodes, evals, verdicts

`config` is the configuration, read by `configfile`. `ideas` are the changes to try, `propose`
generates more. `stages` describes tasks, `stageargs` and `results` their arguments and results;
`slot` prepares and collects their commands. `decide` and `rules` gate and rank, `search` yields
the rounds, `history` holds its decisions, and `load` rebuilds them from a run. `evals`, `summary`
and `report` show a run, `export` writes its commits, `recordings` are reused by a new run.
"""
