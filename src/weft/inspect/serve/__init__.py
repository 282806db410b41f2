"""`weft serve`: watch runs in a browser on this machine. Reads only; starts nothing.

    browser ─► guard (host, origin, token) ─► app ─┬─ rundirectory: which runs there are
                                                   ├─ runcache: what changed, overview
                                                   └─ rows, ledgerrows, parts, compare: the views

The views are those of `weft.inspect.report`, rendered again whenever the run's files change.
"""
