"""Mutation testing of the core: change its code and check whether a test fails (row F22)."""
