"""Rules of our own invention, from which `tools/make_concept_puzzles.py` generates puzzles."""
