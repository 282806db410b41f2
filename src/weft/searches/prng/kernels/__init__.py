"""Compiled code of `weft prng`: sieves over many seeds or states.

Every kernel has a slow reference beside its attack, and a test that compares the two.
"""
