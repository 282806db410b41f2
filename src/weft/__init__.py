"""Large parallel searches that always give the same answer, with proof."""
