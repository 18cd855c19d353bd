"""Makes the plain parts of the map's pages importable: docker/ is no Python package."""

from __future__ import annotations

import sys
from pathlib import Path

APP = Path(__file__).parents[3] / "docker" / "map" / "app"

sys.path.insert(0, str(APP))
