"""The hub's own words, and keys that follow from names."""

from __future__ import annotations

import hashlib
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
REPOSITORIES = Path("/srv/hub/state/repositories")


@cache
def words() -> dict[str, Any]:
    """Return the hub's hand-written words."""
    return tomllib.loads((HERE / "vocabulary" / "hub.toml").read_text(encoding="utf-8"))


@cache
def reviews() -> dict[str, Any]:
    """Return what pull requests and their reviews say."""
    return tomllib.loads((HERE / "vocabulary" / "reviews.toml").read_text(encoding="utf-8"))


def token(text: str, length: int) -> str:
    """Return letters and digits that follow from a text, where Pagure would draw some."""
    return hashlib.sha512(f"hub/{text}".encode()).hexdigest()[:length]
