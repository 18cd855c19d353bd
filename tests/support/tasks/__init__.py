"""Tasks and suites, small or as published sets write them."""
