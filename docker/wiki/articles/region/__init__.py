"""Merrowshire: the made-up county that most articles are about, grown from one fixed seed."""
