"""Read-only views of a run: verify, diff, prove, explain, status.

They never change a run folder. Each opens what it needs through `access`, which turns every
trouble with files and SQLite into one line of ours; none knows how a run is carried out.
"""
