"""What a run leaves on disk: its lock, its ledger, and the evidence of every attempt."""
