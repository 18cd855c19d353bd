"""Returned goods."""
