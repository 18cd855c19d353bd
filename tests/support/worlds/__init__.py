"""Worlds without engine and browser, and what pages look like in them."""
