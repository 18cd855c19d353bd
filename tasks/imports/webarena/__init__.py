"""WebArena's 812 tasks, and those of its descendants that keep its form."""
