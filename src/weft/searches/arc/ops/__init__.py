"""The operators of the grid language: what each is called, does, costs and can change."""
