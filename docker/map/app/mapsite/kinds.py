"""What a tag is called when one speaks of it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

_NAMES: Mapping[str, Mapping[str, str]] = tomllib.loads(
    (Path(__file__).parent / "kinds.toml").read_text(encoding="utf-8")
)
_SUFFIX = {"shop": " Shop", "office": " Office", "route": " Route"}
_ROADS = frozenset({"residential", "primary", "secondary", "tertiary", "trunk"})


def kind_of(key: str, value: str) -> str:
    """Return what a tag means, in words."""
    if key == "highway" and value in _ROADS:
        return f"{value.capitalize()} Road"
    words = value.replace("_", " ").title()
    return _NAMES.get(key, {}).get(value) or words + (
        "" if value == "yes" else _SUFFIX.get(key, "")
    )
