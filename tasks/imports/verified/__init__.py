"""WebArena-Verified's tasks: typed answers, and requests of the browser."""
