"""The search for programs: budgets, reachability, value vectors, slices, the planner."""
