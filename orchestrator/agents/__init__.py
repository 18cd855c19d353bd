"""What is measured: agents, and the oracle, idle and random ones that measure the benchmark."""
