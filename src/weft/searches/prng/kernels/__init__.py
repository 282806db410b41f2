"""Compiled code of `weft prng`: sieves over many seeds or states.

Every kernel has a plain twin beside its attack, and a test that compares the two.
"""
