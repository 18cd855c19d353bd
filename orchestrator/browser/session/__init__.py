"""One episode's browser session."""
