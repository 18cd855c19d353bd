"""A region of three towns that nobody has seen, made from a fixed seed: all that the map shows."""
