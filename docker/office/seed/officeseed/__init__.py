"""Mails, calendars and address books of eight people, from a fixed seed and fixed days."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

WORDS = Path(__file__).parents[1] / "words"


def words(name: str) -> dict[str, Any]:
    """Return a file of words."""
    return tomllib.loads((WORDS / f"{name}.toml").read_text(encoding="utf-8"))
