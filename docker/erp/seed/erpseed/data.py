"""What is written, read from the TOML beside this package, and how many records at once are."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from proteus import Model
from proteus.config import get_config

_FOLDER = Path(__file__).resolve().parent.parent / "data"


def read(name: str) -> dict[str, Any]:
    """Return the content of a file of data."""
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def create(model: str, records: list[dict[str, Any]]) -> list[Any]:
    """Write records as they are, without asking what a form would fill in: in one transaction."""
    kind = Model.get(model)
    written = kind._proxy.create(records, get_config().context)  # noqa: SLF001 - proteus has no other
    return [kind(each) for each in written]
