"""Ways to write actions: each grammar reads one of them into Arena's own, and evaluates nothing."""
