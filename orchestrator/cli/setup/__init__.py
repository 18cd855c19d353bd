"""Commands that set a machine up."""
