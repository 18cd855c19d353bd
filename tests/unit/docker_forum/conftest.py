"""Makes the forum's application and seed importable: they live in docker/, which is no package."""

from __future__ import annotations

import sys
from pathlib import Path

DOCKER = Path(__file__).parents[3] / "docker"

sys.path[:0] = [str(DOCKER / name) for name in ("forum/app", "forum/seed", "shop/seed", "talk")]
