"""Makes the encyclopedia's generator importable: docker/ is no Python package."""

from __future__ import annotations

import sys
from pathlib import Path

DOCKER = Path(__file__).parents[3] / "docker"

sys.path[:0] = [str(DOCKER / "wiki" / "articles"), str(DOCKER / "wiki-live")]
