"""Find a text again by mutation and selection: an example of an installed search."""
