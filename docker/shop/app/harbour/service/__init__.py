"""What visitors write to the shop."""
