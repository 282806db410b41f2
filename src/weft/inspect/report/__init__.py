"""One offline HTML file that shows a run: made from what the readers find, changing nothing.

manifest, ledger ─► data ─► payload ─► page ─► report.html
hook: a search's own pages ──┘
"""
