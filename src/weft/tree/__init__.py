"""`weft tree`: beam search over the states of a repository.

    tree.toml ─► TreeConfig ─► search: rounds of stages ─► TreeHistory: nodes, evals, who was promoted and why

`config` is what is asked and `plotfile` reads it, `ideas` are what is tried and `propose` has them
made, `stages` describe commands and `slot` works around them, `decide` and `rules` gate and rank,
`search` puts rounds together, `history` is what came of it, `view` rebuilds it from a run, `evals`,
`summary` and `report` tell it.
"""
