"""`weft arc`: program search for ARC-AGI puzzles, without neural parts, failing closed."""
