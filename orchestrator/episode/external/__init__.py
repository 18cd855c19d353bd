"""Agents from elsewhere: an episode with a CDP endpoint, and a command that plays it."""
