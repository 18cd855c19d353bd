"""Writes the firm's data through Tryton's own models, in a moment that stands still."""
