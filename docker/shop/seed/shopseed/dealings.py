"""The words of groups, returns, searches, parcels and letters, apart from the vocabulary that other sites read."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "dealings"


def phrases(name: str) -> dict[str, Any]:
    """Return one of the lists, by the name of its file."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
