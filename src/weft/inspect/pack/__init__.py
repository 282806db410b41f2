"""`weft pack`: everything a colleague or an agent needs to go on with a run, in one text.

manifest, ledger, verify ─► facts ─► markdown, or to_dict for machines
"""
