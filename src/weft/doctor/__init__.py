"""Is this machine fit to run searches? One function per check, each says what to do next.

`examine` makes all of them; a check looks at one thing, returns a `Check` and leaves nothing.
"""
