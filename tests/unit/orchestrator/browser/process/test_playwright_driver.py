from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from arena_core.errors import BrowserError
from orchestrator.browser.process.playwright_driver import (
    Profile,
    remove_dead_profiles,
    running_driver,
)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def profile(temporary: Path, name: str, *, empty: bool = False) -> Path:
    folder = temporary / f"playwright_chromiumdev_profile-{name}"
    folder.mkdir()
    if not empty:
        (folder / "Local State").touch()
    return folder


async def test_the_profile_of_a_browser_whose_driver_died_while_it_started_is_removed(
    temporary: Path,
) -> None:
    """Nobody could ask that browser where its profile is."""
    made = Profile()
    left = profile(temporary, "left")
    await made.remove()
    assert not left.exists()


def test_other_profiles_stay(temporary: Path) -> None:
    """Of a browser that runs, of one about to start, of an earlier program; and other folders."""
    old = profile(temporary, "old")
    os.utime(old, (1, 1))
    began = time.time() - 1
    used, empty = profile(temporary, "used"), profile(temporary, "new", empty=True)
    (temporary / "mine").mkdir()
    (temporary / "mine" / "file").touch()
    (temporary / "playwright_chromiumdev_profile-link").symlink_to(temporary / "mine")
    words = (sys.executable, "-c", "input()", f"--user-data-dir={used}")
    with subprocess.Popen(words, stdin=subprocess.PIPE) as browser:
        assert sorted(remove_dead_profiles(began)) == sorted([used, empty])
        browser.communicate(b"\n")
    assert remove_dead_profiles(began) == (empty,)
    assert not used.exists()
    assert old.exists()
    assert (temporary / "mine" / "file").exists()


async def test_a_driver_that_dies_while_it_starts_is_a_fault_of_the_browser(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else the attempt would count as a bug of Arena's, and not be made again."""
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", "/bin/false")
    with pytest.raises(BrowserError, match="driver died while it started"):
        async with running_driver():
            pass
