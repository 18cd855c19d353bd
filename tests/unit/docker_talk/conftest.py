"""Makes the talk of the seeds importable: it lives in docker/, which is no Python package."""

from __future__ import annotations

import sys
from pathlib import Path

DOCKER = Path(__file__).parents[3] / "docker"

sys.path[:0] = [str(DOCKER / "talk"), str(DOCKER / "shop" / "seed")]
