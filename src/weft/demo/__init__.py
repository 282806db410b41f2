"""`weft demo`, the first minute with Weft: four small searches, each run twice."""
