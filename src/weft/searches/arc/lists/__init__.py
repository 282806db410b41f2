"""Decision lists over cells: what a cell becomes, by its features and by other programs."""
