"""Decision lists over cells: a cell's new colour by its features and other programs' outputs."""
