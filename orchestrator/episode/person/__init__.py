"""People who play episodes: their clock, their actions, and who asks them."""
