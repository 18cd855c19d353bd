"""WebArena's own evaluators over Arena's evidence (web-arena-x/webarena at f62e0b9, 2025-09-05)."""
