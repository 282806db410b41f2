"""`weft tree`: beam search over the states of a repository.

    tree.toml ─► Plot ─► search: rounds of stages ─► Story: nodes, evals, who was promoted and why

`plot` is what is asked and `plotfile` reads it, `ideas` are what is tried and `propose` has them
made, `stages` describe commands and `slot` works around them, `decide` and `rules` gate and rank,
`search` puts rounds together, `story` is what came of it, `view` rebuilds it from a run, `evals`,
`summary` and `report` tell it.
"""
