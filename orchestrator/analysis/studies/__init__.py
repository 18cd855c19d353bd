"""Studies: agents × worlds × suites × repeats, registered before they are played."""
