"""The tests, one folder per area; `tests.support` holds what they share."""
