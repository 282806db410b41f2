"""Views: normalise a task's colours or orientation example by example, and undo it on outputs."""
