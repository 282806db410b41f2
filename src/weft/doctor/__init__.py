"""Is this machine fit to run searches? One function per check, each names the next step.

`examine` runs all of them; a check tests one thing, returns a `CheckResult` and leaves no files.
"""
