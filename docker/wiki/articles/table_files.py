"""Read the tables that articles are made with: YAML in tables/."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent / "tables"


def table(name: str) -> dict[str, Any]:
    """Return the tables of one file, by name."""
    found: dict[str, Any] = yaml.safe_load((HERE / f"{name}.yaml").read_text(encoding="utf-8"))
    return found
