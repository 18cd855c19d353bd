"""Training data from episodes: pairs, preferences, rewards, and where each record comes from."""
