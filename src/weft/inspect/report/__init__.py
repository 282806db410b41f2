"""One offline HTML file that shows a run; creating it only reads the run.

manifest, ledger ─► data ─► payload ─► page ─► report.html
hook: a search's own pages ──┘
"""
