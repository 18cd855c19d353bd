"""Runs: episodes started together, in one world or both, resumable at any moment."""
