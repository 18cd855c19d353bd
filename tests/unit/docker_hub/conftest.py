"""Makes the hub's own code importable: it lives in docker/, which is no Python package."""

from __future__ import annotations

import sys
from pathlib import Path

DOCKER = Path(__file__).parents[3] / "docker"

for folder in ("hub/app", "hub/seed", "forge/seed"):
    sys.path.insert(0, str(DOCKER / folder))
