"""Mistakes of a suite that can be seen without playing it."""
