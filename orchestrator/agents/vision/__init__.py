"""Looks at pictures with numbered boxes."""
