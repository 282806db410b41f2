"""Decision tables over objects: what happens to each, by its measures."""
