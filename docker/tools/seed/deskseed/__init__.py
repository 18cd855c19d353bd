"""Fills the scratchpad from notes/*.toml."""
