"""Commands on finished runs and studies."""
