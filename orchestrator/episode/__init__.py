"""One episode: one agent, one task, one world, from the start pages to located evidence."""
