"""Action spaces: the ways to write actions, read into Arena's own; nothing is evaluated."""
