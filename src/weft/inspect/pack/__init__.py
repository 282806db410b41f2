"""`weft pack`: everything needed to continue work on a run, in one text, for people and programs.

manifest, ledger, verify ─► facts ─► markdown, or to_dict for machines
"""
