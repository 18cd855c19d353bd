"""Halves of published task sets, which lie beside the repository where somebody put them there."""

from __future__ import annotations

from pathlib import Path

import pytest

WEBARENA = "webarena-tasks.json"
MIND2WEB_LIVE = "mind2web-live-tasks.json"
AUTOWEBBENCH = "autowebbench-en-in-domain.json"
_FOLDER = Path("shared") / "data"


def find_half(name: str) -> Path | None:
    """Return the file of a half, in the folder `shared/data` beside a folder above, if it is."""
    places = (folder / _FOLDER / name for folder in Path(__file__).resolve().parents)
    return next((path for path in places if path.is_file()), None)


def reference_half(name: str) -> Path:
    """Return the file of a half; the test is skipped where it is not here."""
    path = find_half(name)
    if path is None:
        pytest.skip(f"the published half {name} is not on this machine (shared/data)")
    return path
