"""Studies made by hand, and simulated ones whose truth is known."""
