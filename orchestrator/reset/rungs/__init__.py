"""The ways back to golden, one a module."""
