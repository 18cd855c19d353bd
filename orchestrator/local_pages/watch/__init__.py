"""A run or a study as it is played, on a local page."""
