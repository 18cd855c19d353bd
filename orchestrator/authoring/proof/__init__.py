"""Proves a suite by playing it: solvable by its reference, and not without it."""
