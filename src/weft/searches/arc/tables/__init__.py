"""Decision tables over objects: what becomes of each, by what it measures."""
