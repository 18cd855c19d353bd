"""Makes the shop's seed importable: it lives in docker/, which is no Python package."""

from __future__ import annotations

import sys
from pathlib import Path

SEED = Path(__file__).parents[3] / "docker" / "shop" / "seed"

sys.path.insert(0, str(SEED))
