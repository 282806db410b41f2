"""The coordinator: drives a search's generator, its rounds and lanes, and records everything.

machine   pure transitions: state + event → state + commands
dispatch  waiting and running tasks, and which task starts where next
journal   executes the commands on the manifest, recalls what is recorded already
loop      the thin loop: dispatch, commit, poll, apply
"""
