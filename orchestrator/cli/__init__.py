"""The `arena` command: parses, calls, prints. Nothing else prints."""
