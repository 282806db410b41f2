"""Operators whose parameters are taken from the training pairs: the last step of a program."""
