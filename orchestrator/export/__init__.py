"""Runs written for other programs, one module a format."""
