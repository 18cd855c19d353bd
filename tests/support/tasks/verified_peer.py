"""An environment with webarena-verified, which pins another pydantic than Arena takes."""

from __future__ import annotations

import subprocess
import venv
from pathlib import Path

import pytest

WANTED = ("webarena-verified==1.2.3", "regex", "msgspec", "python-jsonpath")


def peer_python(folder: Path) -> Path:
    """Install it in a folder and return its Python; skip where it cannot be installed."""
    venv.create(folder, with_pip=True)
    made = subprocess.run(
        [folder / "bin" / "pip", "install", "--quiet", *WANTED],
        check=False,
        capture_output=True,
        text=True,
        timeout=500,
    )
    if made.returncode:
        pytest.skip(f"webarena-verified cannot be installed here: {made.stderr.strip()[-200:]}")
    return folder / "bin" / "python"
