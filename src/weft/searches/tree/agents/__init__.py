"""Agents that call a model over HTTP: `python -m weft.searches.tree.agents STAGE`.

    tree.toml ─► command ─► __main__ ─► endpoint ─► any OpenAI-compatible or Anthropic-style server
                               │            wire: the two formats of requests, answers and streams
                               └─► edits: search-replace blocks or a diff, applied to files

Standard library only. `weft tree init` writes a config that uses them, and its `agent.toml`.
"""
