"""Commands on sites."""
