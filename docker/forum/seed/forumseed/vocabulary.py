"""The hand-written words of this folder's TOML files."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "vocabulary"
Lists = dict[str, list[str]]


def load(name: str) -> dict[str, Any]:
    """Return one file: forums, threads or talk."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
