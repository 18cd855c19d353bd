"""Writes the forum's members, threads and comments from vocabularies and a fixed seed."""
