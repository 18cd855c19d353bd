"""What agents are asked: task schema, loader, linter, and suites as YAML."""
