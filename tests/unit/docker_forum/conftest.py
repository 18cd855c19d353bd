"""Makes the forum's application importable: it lives in docker/, which is no Python package."""

from __future__ import annotations

import sys
from pathlib import Path

APP = Path(__file__).parents[3] / "docker" / "forum" / "app"

sys.path.insert(0, str(APP))
