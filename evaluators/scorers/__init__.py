"""Compatible scorers: an episode scored as a benchmark's published code would score it."""
