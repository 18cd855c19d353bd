"""How the oracle solves pages of MiniWoB++: by rules on what a page asks for and shows."""
