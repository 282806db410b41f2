"""The first minute with Weft: four small searches, each run twice."""
