"""Makes the seed and the post room importable: docker/ is no Python package."""

from __future__ import annotations

import sys
from pathlib import Path

OFFICE = Path(__file__).parents[3] / "docker" / "office"

sys.path[:0] = [str(OFFICE / "seed"), str(OFFICE / "postroom")]
