"""Published task sets, imported as suites."""
