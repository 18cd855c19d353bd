"""Locators: each is its schema, look, read back, words for absence, and lint rule in one file."""
