"""A screen that nobody sees, for windows of tests."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest


@pytest.fixture
def display(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A screen that nobody sees; it ends with the test."""
    screen = shutil.which("Xvfb")
    if screen is None:
        pytest.skip("no Xvfb here")
    told, tells = os.pipe()
    process = subprocess.Popen(
        [screen, "-displayfd", str(tells), "-screen", "0", "1400x900x24", "-nolisten", "tcp"],
        pass_fds=(tells,),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(tells)
    try:
        with os.fdopen(told) as number:
            monkeypatch.setenv("DISPLAY", f":{number.readline().strip()}")
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        yield
    finally:
        process.kill()
        process.wait()
