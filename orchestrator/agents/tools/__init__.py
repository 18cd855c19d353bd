"""Calls functions on what the accessibility tree shows."""
