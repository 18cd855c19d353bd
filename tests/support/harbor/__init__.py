"""Harbor's own runner, in an environment of its own."""
