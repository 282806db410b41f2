"""Mutation testing of the core: change its code, see whether a test notices (row F22)."""
