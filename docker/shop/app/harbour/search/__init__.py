"""Search and its facets."""
