"""The coordinator: drives a search's generator, its rounds and lanes, and records everything.

machine   pure transitions: state + event → state + commands
dispatch  what waits and what runs, and which task starts where next
journal   carries the commands out on the manifest, recalls what is recorded already
loop      the thin loop: dispatch, commit, poll, apply
"""
