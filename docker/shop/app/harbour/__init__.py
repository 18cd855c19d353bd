"""Harbour & Pine: what the shop adds to Oscar."""
