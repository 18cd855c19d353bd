"""Commands on tasks and schemas."""
