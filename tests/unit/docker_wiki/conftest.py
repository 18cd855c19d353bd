"""Makes the encyclopedia's generator importable: docker/ is no Python package."""

from __future__ import annotations

import sys
from pathlib import Path

DOCKER = Path(__file__).parents[3] / "docker"

# What tests compile must not end up beside the files that an image is built from.
sys.dont_write_bytecode = True
sys.path[:0] = [str(DOCKER / "wiki" / "articles"), str(DOCKER / "wiki-live")]
