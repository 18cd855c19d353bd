"""What the shop sells, and who bought it."""
