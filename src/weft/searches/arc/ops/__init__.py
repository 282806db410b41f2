"""The operators of the grid language: their names, definitions, costs and effects."""
