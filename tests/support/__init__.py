"""What tests of several areas share; import it as `from tests.support.<module> import ...`."""
