"""Decision lists over cells: what a cell becomes, told by its features and by other programs."""
