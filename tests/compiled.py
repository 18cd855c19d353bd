"""Where compiled tests are kept: imported before anything else, so that Hypothesis is kept too.

pytest rewrites the asserts of tests and of its plug-ins, which is dear, so each is rewritten once.
It is never kept beside the files that images are built from; processes that tests start keep
theirs here too.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.pycache_prefix = os.environ.setdefault(
    "PYTHONPYCACHEPREFIX", str(Path(__file__).parents[1] / ".pytest_cache" / "compiled")
)
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
