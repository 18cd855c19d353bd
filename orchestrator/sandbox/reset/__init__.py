"""Back to golden: fingerprints of a replica's state, the ladder of resets, and their receipts."""
