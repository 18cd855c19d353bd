"""Commands that serve episodes to external clients."""
