"""Commands that play, and what they show meanwhile."""
