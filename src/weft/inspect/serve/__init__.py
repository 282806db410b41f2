"""`weft serve`: runs as they go on, in a browser on this machine. Reads only; starts nothing.

    browser ─► guard (host, origin, token) ─► app ─┬─ directory: which runs there are
                                                   ├─ looks: what changed, overview
                                                   └─ rows, ledgerrows, parts, compare: the views

The views are those of `weft.inspect.report`, filled again whenever the run's files change.
"""
