"""How programs are found: budgets, reachability, value vectors, slices, the planner."""
