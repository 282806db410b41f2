"""What `weft tree` executes on a slot: git work and the user's commands, as a program of its own.

It stands beside `weft.tree` because a search only decides and may start no process; this program
is itself started as a command, under the supervisor and its limits.
"""
