"""The tests, one folder per area; `tests.support` holds the code they share."""
