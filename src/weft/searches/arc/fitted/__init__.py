"""Operators whose parameters the training pairs determine: the last step of a program."""
