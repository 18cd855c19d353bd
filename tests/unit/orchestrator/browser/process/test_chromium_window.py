from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.browser.process.chromium import has_display, open_window

# Writes down how it was called; ends when it is told to, or at once.
CHROMIUM = """#!/bin/sh
printf '%s\\n' "$@" > {folder}/called
{then}
"""


def chromium(folder: Path, then: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = folder / "chromium"
    program.write_text(CHROMIUM.format(folder=folder, then=then), encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("ARENA_CHROMIUM", str(program))
    return folder / "called"


async def test_a_window_has_a_profile_of_its_own_and_every_request_goes_through_the_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = chromium(tmp_path, "exit 0", monkeypatch)

    async with open_window("http://127.0.0.1:7", "http://home.arena.test/") as window:
        assert await window.wait() == 0
        words = called.read_text(encoding="utf-8").split()

    assert "--proxy-server=http://127.0.0.1:7" in words
    assert "--proxy-bypass-list=<-loopback>" in words
    assert words[-1] == "http://home.arena.test/"
    [profile] = [word.partition("=")[2] for word in words if word.startswith("--user-data-dir=")]
    assert not Path(profile).exists()  # noqa: ASYNC240  the window is closed


async def test_a_window_closes_with_its_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chromium(tmp_path, "exec sleep 600", monkeypatch)

    async with open_window("http://127.0.0.1:7", "http://home.arena.test/") as window:
        assert window.returncode is None

    assert window.returncode == -15


def test_a_window_needs_a_display() -> None:
    assert not has_display({})
    assert has_display({"DISPLAY": ":0"})
    assert has_display({"WAYLAND_DISPLAY": "wayland-0"})
