"""Halves of published task sets, which lie beside the repository where somebody put them there."""

from __future__ import annotations

from pathlib import Path

import pytest

WEBARENA = "webarena-tasks.json"
MIND2WEB_LIVE = "mind2web-live-tasks.json"
AUTOWEBBENCH = "autowebbench-en-in-domain.json"
_FOLDER = Path("shared") / "data"


def reference_half(name: str) -> Path:
    """Return the file of a half, in the folder `shared/data` beside a folder above; or skip."""
    for folder in Path(__file__).resolve().parents:
        path = folder / _FOLDER / name
        if path.is_file():
            return path
    pytest.skip(f"the published half {name} is not on this machine (shared/data)")
