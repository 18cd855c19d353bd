"""A service on loopback, over episodes without engine and browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.worlds.worldless_service import Serving, serving_from


@pytest.fixture
def serving(tmp_path: Path) -> Serving:
    return serving_from(tmp_path)
