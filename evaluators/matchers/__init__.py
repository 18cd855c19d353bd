"""Matchers: each is its schema, how it compares, its lint rule, its words, in one file."""
