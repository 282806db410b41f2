"""Views: a task seen with colours renamed or grids turned, example by example, and back."""
