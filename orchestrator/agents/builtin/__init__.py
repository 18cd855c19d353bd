"""The agents that come with Arena."""
