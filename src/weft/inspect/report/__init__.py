"""One offline HTML file that shows a run; it is made by reading alone.

manifest, ledger ─► data ─► payload ─► page ─► report.html
hook: a search's own pages ──┘
"""
