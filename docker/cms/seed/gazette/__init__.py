"""What the newspaper is made of."""
