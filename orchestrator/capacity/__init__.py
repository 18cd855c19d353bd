"""How many replicas fit: what each costs in memory, and what the machine can spare."""
