"""Code shared by tests of several areas: `from tests.support.<module> import ...`."""
