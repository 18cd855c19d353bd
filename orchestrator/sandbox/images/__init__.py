"""Images: what they are built from, how they are built or pulled, and how they are sealed."""
