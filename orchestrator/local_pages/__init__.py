"""Pages that Arena serves to one person in their own browser, on loopback."""
